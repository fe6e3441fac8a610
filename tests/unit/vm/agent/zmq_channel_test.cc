#include "vm/agent/zmq_channel.h"

#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/limits.h"
#include "base/spawn.h"
#include "tests/unit/temporary_folder.h"
#include "vm/agent/jupyter_wire.h"

using namespace cellblock;
using namespace cellblock::vm::agent;
namespace asio = boost::asio;

namespace {

// A kernel's side of one socket, and our channel to it.
struct Pair {
    TemporaryFolder folder;
    zmq::context_t zmq{1};
    zmq::socket_t kernel;
    asio::io_context loop;
    std::shared_ptr<ZmqChannel> channel;
    std::size_t dropped_bytes = 0;
    int messages = 0;

    Pair(zmq::socket_type theirs, zmq::socket_type ours) : kernel(zmq, theirs) {
        const std::string endpoint = "ipc://" + (folder.path() / "k").string();
        kernel.set(zmq::sockopt::linger, 0);
        if (theirs == zmq::socket_type::xpub) kernel.set(zmq::sockopt::xpub_nodrop, 1);
        // A ROUTER drops at its mark instead of waiting.
        kernel.set(zmq::sockopt::sndhwm, theirs == zmq::socket_type::router ? 0 : 4);
        kernel.bind(endpoint);
        ZmqChannelOptions options;
        options.type = ours;
        options.endpoint = endpoint;
        options.routing_id = "test";
        options.inbox_max_bytes = 64 * 1024;
        options.receive_high_water_mark = 4;
        options.on_message = [this] { ++messages; };
        options.on_dropped = [this](std::size_t bytes) { dropped_bytes += bytes; };
        channel = ZmqChannel::open(zmq, loop.get_executor(), std::move(options)).value();
    }
    ~Pair() {
        channel->close();
        loop.restart();
        loop.run_for(std::chrono::milliseconds(200));
    }
    void run_until(const std::function<bool()>& done) {
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        loop.restart();
        while (!done() && std::chrono::steady_clock::now() < deadline) {
            loop.run_for(std::chrono::milliseconds(5));
        }
    }
};

}  // namespace

TEST_CASE("many messages go both ways in order, whatever edges the descriptor gives") {
    Pair pair(zmq::socket_type::router, zmq::socket_type::dealer);
    constexpr int count = 2000;
    spawn_logged(
        pair.loop.get_executor(),
        [](std::shared_ptr<ZmqChannel> channel) -> asio::awaitable<void> {
            for (int i = 0; i < count; ++i) {
                (void)co_await channel->send(
                    make_request("s", std::to_string(i), "echo", Json::object()));
            }
        }(pair.channel),
        "sender", nullptr);
    int echoed = 0;
    int received = 0;
    pair.run_until([&] {
        Multipart message;
        zmq::message_t part;
        while (pair.kernel.recv(part, zmq::recv_flags::dontwait)) {
            const bool more = part.more();
            message.push_back(std::move(part));
            if (more) continue;
            for (std::size_t i = 0; i < message.size(); ++i) {
                pair.kernel.send(message[i], i + 1 < message.size() ? zmq::send_flags::sndmore
                                                                    : zmq::send_flags::none);
            }
            message.clear();
            ++echoed;
        }
        while (const Multipart* answer = pair.channel->front()) {
            const auto header = header_index(*answer);
            REQUIRE(header);
            CHECK(text_of((*answer)[*header])
                      .find("\"msg_id\":\"" + std::to_string(received) + "\"") !=
                  std::string_view::npos);
            ++received;
            pair.channel->pop();
        }
        return received == count;
    });
    CHECK(echoed == count);
    CHECK(received == count);
}

TEST_CASE("a full inbox paces the kernel and loses nothing") {
    Pair pair(zmq::socket_type::xpub, zmq::socket_type::sub);
    zmq::message_t subscription;
    pair.run_until(
        [&] { return pair.kernel.recv(subscription, zmq::recv_flags::dontwait).has_value(); });
    const std::string chunk(32 * 1024, 'x');
    int sent = 0;
    // Nobody takes anything out: the kernel must be refused after a few dozen messages at most
    // (the inbox, two high-water marks and what the operating system's socket holds).
    int refused = 0;
    pair.run_until([&] {
        while (pair.kernel.send(zmq::buffer(chunk), zmq::send_flags::dontwait)) ++sent;
        return ++refused > 20;
    });
    CHECK(sent < 64);
    int received = 0;
    pair.run_until([&] {
        while (pair.channel->front()) {
            ++received;
            pair.channel->pop();
        }
        return received == sent;
    });
    CHECK(received == sent);
}

TEST_CASE("a message over the limit is dropped and told, and the next one arrives") {
    Pair pair(zmq::socket_type::router, zmq::socket_type::dealer);
    spawn_logged(
        pair.loop.get_executor(),
        [](std::shared_ptr<ZmqChannel> channel) -> asio::awaitable<void> {
            (void)co_await channel->send(make_request("s", "1", "hello", Json::object()));
        }(pair.channel),
        "sender", nullptr);
    zmq::message_t identity;
    pair.run_until([&] {
        zmq::message_t part;
        bool first = true;
        while (pair.kernel.recv(part, zmq::recv_flags::dontwait)) {
            if (first) identity = std::move(part);
            first = false;
        }
        return identity.size() > 0;
    });
    pair.kernel.set(zmq::sockopt::sndtimeo, 1000);
    const std::string half(limits::kernel_message_max_bytes / 2 + 1, 'x');
    pair.kernel.send(zmq::buffer("test", 4), zmq::send_flags::sndmore);
    pair.kernel.send(zmq::buffer(half), zmq::send_flags::sndmore);
    pair.kernel.send(zmq::buffer(half), zmq::send_flags::none);
    pair.kernel.send(zmq::buffer("test", 4), zmq::send_flags::sndmore);
    pair.kernel.send(zmq::buffer("small", 5), zmq::send_flags::none);
    pair.run_until([&] { return pair.messages == 1; });
    CHECK(pair.dropped_bytes == 2 * half.size());
    REQUIRE(pair.channel->front());
    CHECK(text_of(pair.channel->front()->at(0)) == "small");
}

TEST_CASE("a message without delimiter or with too few frames has no header") {
    Multipart message;
    CHECK_FALSE(header_index(message));
    message.emplace_back("topic", 5);
    CHECK_FALSE(header_index(message));
    message.emplace_back("<IDS|MSG>", 9);
    message.emplace_back("", 0);
    message.emplace_back("{}", 2);
    CHECK_FALSE(header_index(message));
    for (int i = 0; i < 3; ++i) message.emplace_back("{}", 2);
    CHECK(header_index(message) == 3u);
    CHECK_FALSE(answers_session(message, "abc"));
}
