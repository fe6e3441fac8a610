#include "vm/qemu/qmp.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <filesystem>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include "base/fd.h"
#include "base/ids.h"
#include "tests/unit/vm/run_loop.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace asio = boost::asio;
using Socket = asio::local::stream_protocol::socket;
using namespace std::chrono_literals;

namespace {

constexpr const char* greeting = R"({"QMP": {"version": {}, "capabilities": []}})"
                                 "\r\n";

// A server whose every reply is scripted. "%id%" in a reply becomes the command's id; after the
// last one it says nothing more, or hangs up.
class FakeQmp {
  public:
    enum class AtEnd { stay, hang_up };

    FakeQmp(asio::io_context& loop, std::string hello, std::vector<std::string> replies,
            AtEnd at_end)
        : path_(std::filesystem::temp_directory_path() / ("qmp-" + new_short_id())),
          acceptor_(loop, asio::local::stream_protocol::endpoint(path_.string())),
          socket_(loop),
          replies_(std::move(replies)),
          hello_(std::move(hello)),
          at_end_(at_end) {
        asio::co_spawn(loop, serve(), [](std::exception_ptr) {});
    }
    ~FakeQmp() { std::filesystem::remove(path_); }
    const std::filesystem::path& path() const { return path_; }
    const std::vector<Json>& commands() const { return commands_; }
    int received_fd() const { return received_.get(); }

  private:
    asio::awaitable<void> serve() {
        co_await acceptor_.async_accept(socket_, asio::use_awaitable);
        co_await asio::async_write(socket_, asio::buffer(hello_), asio::use_awaitable);
        std::string buffer;
        for (const std::string& reply : replies_) {
            while (buffer.find('\n') == std::string::npos) {
                co_await socket_.async_wait(Socket::wait_read, asio::use_awaitable);
                if (!receive(buffer)) co_return;
            }
            const Json command = Json::parse(buffer.substr(0, buffer.find('\n')));
            buffer.erase(0, buffer.find('\n') + 1);
            commands_.push_back(command);
            std::string text = reply;
            const std::size_t at = text.find("%id%");
            if (at != std::string::npos) text.replace(at, 4, command["id"].dump());
            if (!text.empty()) {
                co_await asio::async_write(socket_, asio::buffer(text), asio::use_awaitable);
            }
        }
        if (at_end_ == AtEnd::hang_up) socket_.close();
    }

    bool receive(std::string& buffer) {
        std::array<char, 4096> chunk;
        iovec vector{chunk.data(), chunk.size()};
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const ssize_t n = ::recvmsg(socket_.native_handle(), &message, MSG_CMSG_CLOEXEC);
        if (n <= 0) return false;
        if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
            received_ = Fd(fd);
        }
        buffer.append(chunk.data(), static_cast<std::size_t>(n));
        return true;
    }

    std::filesystem::path path_;
    asio::local::stream_protocol::acceptor acceptor_;
    Socket socket_;
    std::vector<std::string> replies_;
    std::string hello_;
    AtEnd at_end_;
    std::vector<Json> commands_;
    Fd received_;
};

const std::string ok = "{\"return\": {}, \"id\": %id%}\r\n";

Deadline soon(std::chrono::milliseconds time = 2000ms) {
    return std::chrono::steady_clock::now() + time;
}

using Client = std::unique_ptr<QmpClient>;

Result<Client> connect(asio::io_context& loop, const FakeQmp& server,
                       QmpClient::EventHandler on_event = {}) {
    return run_on(loop, QmpClient::connect(server.path(), std::move(on_event), soon()));
}

Result<Json> ask(asio::io_context& loop, QmpClient& client,
                 std::chrono::milliseconds time = 2000ms) {
    return run_on(loop, client.execute("query-status", Json::object(), time));
}

}  // namespace

TEST_CASE("greets, negotiates, executes, and matches the reply by its id") {
    asio::io_context loop;
    FakeQmp server(loop, greeting,
                   {ok,
                    "{\"return\": {\"x\": 1}, \"id\": 999}\n"
                    "{\"return\": {\"status\": \"paused\"}, \"id\": %id%}\n"},
                   FakeQmp::AtEnd::stay);
    auto client = connect(loop, server);
    REQUIRE(client.has_value());
    const auto status = ask(loop, **client);
    REQUIRE(status.has_value());
    CHECK((*status)["status"] == "paused");
    CHECK(server.commands()[0]["execute"] == "qmp_capabilities");
}

TEST_CASE("QEMU's refusal is an error with its words, and the connection goes on") {
    asio::io_context loop;
    FakeQmp server(
        loop, greeting,
        {ok,
         "{\"error\": {\"class\": \"GenericError\", \"desc\": \"no such thing\"}, \"id\": "
         "%id%}\n",
         ok},
        FakeQmp::AtEnd::stay);
    auto client = connect(loop, server);
    REQUIRE(client.has_value());
    const auto refused = ask(loop, **client);
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().cause.find("no such thing") != std::string::npos);
    CHECK(refused.error().cause.find("query-status") != std::string::npos);
    CHECK(ask(loop, **client).has_value());
}

TEST_CASE("events arrive in order, also between a command and its reply") {
    asio::io_context loop;
    FakeQmp server(loop, greeting,
                   {ok,
                    "{\"event\": \"STOP\", \"timestamp\": {}}\n"
                    "{\"event\": \"SHUTDOWN\", \"data\": {\"guest\": true}}\n"
                    "{\"return\": {}, \"id\": %id%}\n"},
                   FakeQmp::AtEnd::stay);
    std::vector<std::string> names;
    auto remember = [&names](const QmpEvent& event) {
        names.push_back(event.name);
        CHECK(event.data.is_object());
    };
    auto client = connect(loop, server, remember);
    REQUIRE(client.has_value());
    REQUIRE(ask(loop, **client).has_value());
    CHECK(names == std::vector<std::string>{"STOP", "SHUTDOWN"});
}

TEST_CASE("a handler may close the client that calls it") {
    asio::io_context loop;
    FakeQmp server(loop, greeting, {ok, "{\"event\": \"SHUTDOWN\"}\n"}, FakeQmp::AtEnd::stay);
    Client held;
    auto close = [&held](const QmpEvent&) { held->close(); };
    auto client = connect(loop, server, close);
    REQUIRE(client.has_value());
    held = std::move(*client);
    const auto result = ask(loop, *held);
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::connection_lost);
}

TEST_CASE("what is no QMP ends the connection and everything that waits") {
    const std::string long_line(3 * 1024 * 1024, 'x');
    const std::string deep =
        "{\"return\": " + std::string(200, '[') + std::string(200, ']') + "}\n";
    for (const std::string& garbage :
         {std::string("hello\n"), std::string("[1]\n"), std::string("{\"id\": 1}\n"),
          std::string("{\"event\": 5}\n"), std::string("{\"return\": \"\xff\"}\n"), deep,
          long_line}) {
        asio::io_context loop;
        FakeQmp server(loop, greeting, {ok, garbage}, FakeQmp::AtEnd::stay);
        auto client = connect(loop, server);
        REQUIRE(client.has_value());
        const auto result = ask(loop, **client);
        REQUIRE_FALSE(result.has_value());
        CHECK(result.error().code == ErrorCode::guest_protocol);
        CHECK_FALSE((*client)->connected());
        CHECK(ask(loop, **client).error().code == ErrorCode::guest_protocol);
    }
}

TEST_CASE("an end of file in the middle of a reply is a lost connection") {
    asio::io_context loop;
    FakeQmp server(loop, greeting, {ok, "{\"return\": {\"status\""}, FakeQmp::AtEnd::hang_up);
    auto client = connect(loop, server);
    REQUIRE(client.has_value());
    CHECK(ask(loop, **client).error().code == ErrorCode::connection_lost);
}

TEST_CASE("a silent monitor costs its timeout, no more, and a late reply harms nobody") {
    asio::io_context loop;
    FakeQmp server(loop, greeting,
                   {ok, "", "{\"return\": {}, \"id\": 2}\n{\"return\": {}, \"id\": %id%}\n"},
                   FakeQmp::AtEnd::stay);
    auto client = connect(loop, server);
    REQUIRE(client.has_value());
    CHECK(ask(loop, **client, 30ms).error().code == ErrorCode::timeout);
    CHECK(ask(loop, **client).has_value());
}

TEST_CASE("no greeting: timeout; nobody there: connection lost") {
    asio::io_context loop;
    FakeQmp silent(loop, "", {}, FakeQmp::AtEnd::stay);
    const auto begin = std::chrono::steady_clock::now();
    const auto client = run_on(loop, QmpClient::connect(silent.path(), {}, soon(50ms)));
    CHECK(client.error().code == ErrorCode::timeout);
    CHECK(std::chrono::steady_clock::now() - begin < 5s);
    const auto nobody = run_on(loop, QmpClient::connect("/tmp/no-such-socket", {}, soon()));
    CHECK(nobody.error().code == ErrorCode::connection_lost);
}

TEST_CASE("a descriptor travels with its command") {
    asio::io_context loop;
    FakeQmp server(loop, greeting, {ok, ok}, FakeQmp::AtEnd::stay);
    auto client = connect(loop, server);
    REQUIRE(client.has_value());
    const Fd file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    Json arguments = {{"fdname", "state"}};
    const auto passed =
        run_on(loop, (*client)->execute_with_fd("getfd", std::move(arguments), file.get(), 2000ms));
    REQUIRE(passed.has_value());
    CHECK(server.commands()[1]["arguments"]["fdname"] == "state");
    struct stat sent;
    struct stat got;
    REQUIRE(::fstat(file.get(), &sent) == 0);
    REQUIRE(::fstat(server.received_fd(), &got) == 0);
    CHECK(sent.st_rdev == got.st_rdev);
}
