// What a client gets that comes back to another gateway: each message once, in order, wherever the
// first gateway ended.
#include <doctest/doctest.h>

#include <boost/asio/io_context.hpp>

#include "base/spawn.h"
#include "kernel-proxy/channels.h"
#include "tests/unit/kernel-proxy/messages.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
namespace asio = boost::asio;

namespace {

struct Said {
    Channel channel;
    std::string type;
    std::string request;
    std::string content;
};

// Two cells: of the first the reply overtakes `idle`, of the second it does not.
const std::vector<Said> conversation = {
    {Channel::iopub, "status", "r1", R"({"execution_state":"busy"})"},
    {Channel::iopub, "execute_input", "r1", "{}"},
    {Channel::iopub, "stream", "r1", R"({"name":"stdout","text":"x"})"},
    {Channel::shell, "execute_reply", "r1", R"({"status":"ok"})"},
    {Channel::iopub, "status", "r1", R"({"execution_state":"idle"})"},
    {Channel::iopub, "status", "r2", R"({"execution_state":"busy"})"},
    {Channel::iopub, "stream", "r2", R"({"name":"stdout","text":"y"})"},
    {Channel::iopub, "status", "r2", R"({"execution_state":"idle"})"},
    {Channel::shell, "execute_reply", "r2", R"({"status":"ok"})"},
};

// A gateway's side of the kernel.
struct Host {
    asio::io_context& loop;
    std::shared_ptr<Channels> channels;
    std::unique_ptr<Attachment> attachment;
    std::vector<std::string> heard;
    std::uint64_t received = 0;
    int noted = 0;

    explicit Host(asio::io_context& loop_) : loop(loop_) {
        Channels::KernelSide side;
        side.send = [](const ClientMessage&) -> asio::awaitable<Result<void>> {
            co_return Result<void>();
        };
        side.asked = [this] { ++noted; };
        channels = std::make_shared<Channels>(loop.get_executor(), std::move(side));
    }
    ~Host() {
        attachment.reset();
        channels->close("the test is over");
        finish();
    }

    void finish() {
        loop.restart();
        loop.poll();
    }
    void attach() {
        auto task = [](Host& host) -> asio::awaitable<void> {
            auto attached = co_await host.channels->attach("tab", [] {});
            REQUIRE(attached.has_value());
            host.attachment = std::move(*attached);
        };
        spawn_logged(loop.get_executor(), task(*this), "attach", nullptr);
        finish();
        REQUIRE(attachment);
    }
    void ask(const std::string& id) {
        const Json message = {{"header", {{"msg_id", id}, {"msg_type", "execute_request"}}},
                              {"channel", "shell"},
                              {"content", {{"code", "1"}}}};
        auto decoded =
            decode_client_message(ClientProtocol::legacy, to_bytes(message.dump())).value();
        auto task = [](Attachment& to, ClientMessage asked) -> asio::awaitable<void> {
            REQUIRE((co_await to.send(asked)).has_value());
        };
        spawn_logged(loop.get_executor(), task(*attachment, std::move(*decoded)), "ask", nullptr);
        finish();
    }
    void take(const Said& said) {
        ++received;
        const std::string id = "m" + std::to_string(received);
        const Json header = {{"msg_type", said.type}, {"msg_id", id}};
        const Json parent = {{"msg_id", said.request}};
        auto message = std::make_shared<const KernelMessage>(
            testing::make_message(said.channel, header.dump(), parent.dump(), said.content));
        const auto routing = read_routing(*message).value();
        channels->take(std::move(message), routing, received);
    }
    // At most `count` messages, as "type request"; confirmed.
    void read(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            auto delivery = attachment->next();
            if (!delivery) return;
            const auto routing = read_routing(*delivery->message).value();
            const Json content = read_content(*delivery->message).value();
            heard.push_back(routing.msg_type + " " + routing.parent_msg_id + " " +
                            content.value("execution_state", ""));
            attachment->confirm(delivery->position);
        }
    }
};

std::vector<std::string> whole() {
    asio::io_context loop;
    Host host(loop);
    host.attach();
    host.ask("r1");
    host.ask("r2");
    for (const Said& said : conversation) host.take(said);
    host.read(100);
    return host.heard;
}

}  // namespace

TEST_CASE("a client that comes back to another gateway gets the rest, once and in order") {
    const auto expected = whole();
    REQUIRE(expected.size() == conversation.size());
    for (std::size_t received = 0; received <= conversation.size(); ++received) {
        for (std::size_t read = 0; read <= received; ++read) {
            CAPTURE(received);
            CAPTURE(read);
            asio::io_context loop;
            Host first(loop);
            first.attach();
            first.ask("r1");
            first.ask("r2");
            CHECK(first.noted == 2);
            for (std::size_t i = 0; i < received; ++i) first.take(conversation[i]);
            first.read(read);
            const std::uint64_t settled = first.channels->settled_through(first.received);
            const ChannelsImage image = first.channels->image(settled);

            Host second(loop);
            second.channels->restore(image);
            second.received = image.base;
            // The guest says it again while the client is on its way.
            for (std::size_t i = image.base; i < conversation.size(); ++i) {
                if (i == (image.base + conversation.size()) / 2) second.attach();
                second.take(conversation[i]);
            }
            if (!second.attachment) second.attach();
            second.read(100);
            auto all = first.heard;
            all.insert(all.end(), second.heard.begin(), second.heard.end());
            CHECK(all == expected);
        }
    }
}

TEST_CASE("nothing is held back for clients that cannot come back") {
    asio::io_context loop;
    Host host(loop);
    host.received = 0;
    for (const Said& said : conversation) host.take(said);
    CHECK(host.channels->settled_through(9) == 9);
    CHECK(host.channels->image(9).sessions.empty());
}
