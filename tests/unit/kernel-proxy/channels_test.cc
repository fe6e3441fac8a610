#include "kernel-proxy/channels.h"

#include <doctest/doctest.h>

#include "tests/unit/kernel-proxy/kernel_fixture.h"
#include "tests/unit/kernel-proxy/messages.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using testing::Fixture;
namespace asio = boost::asio;

namespace {

// A client of the fixture's kernel.
struct Client {
    Fixture& fixture;
    std::unique_ptr<Attachment> attachment;
    int wakes = 0;

    Client(Fixture& fixture_, std::string session) : fixture(fixture_) {
        bool done = false;
        spawn_logged(fixture.loop.get_executor(), attach(std::move(session), done), "attach",
                     nullptr);
        fixture.until([&] { return done; });
    }

    asio::awaitable<void> attach(std::string session, bool& done) {
        auto attached =
            co_await fixture.kernel->channels().attach(std::move(session), [this] { ++wakes; });
        REQUIRE(attached.has_value());
        attachment = std::move(*attached);
        done = true;
    }

    void send(std::string msg_id, std::string code, std::string channel = "shell") {
        const Json message = {{"header", {{"msg_id", msg_id}, {"msg_type", "execute_request"}}},
                              {"channel", channel},
                              {"content", {{"code", code}}}};
        bool done = false;
        spawn_logged(fixture.loop.get_executor(), send(message.dump(), done), "send", nullptr);
        fixture.until([&] { return done; });
    }

    asio::awaitable<void> send(std::string text, bool& done) {
        auto message = decode_client_message(ClientProtocol::legacy, to_bytes(text));
        const auto sent = co_await attachment->send(**message);
        REQUIRE(sent.has_value());
        done = true;
    }

    // "iopub status busy", "shell execute_reply", ...: what there is to take now.
    std::vector<std::string> take() {
        std::vector<std::string> heard;
        while (auto delivery = attachment->next()) {
            const auto routing = read_routing(*delivery->message);
            const Json content = read_content(*delivery->message).value();
            std::string line(vm::link::to_string(delivery->message->channel()));
            line += " " + routing->msg_type;
            for (const char* field : {"execution_state", "text"}) {
                if (content.contains(field)) line += " " + content[field].get<std::string>();
            }
            heard.push_back(line);
            positions.push_back(delivery->position);
        }
        return heard;
    }
    // ... once the last of it is `end`.
    std::vector<std::string> take_until(const std::string& end) {
        std::vector<std::string> heard;
        fixture.until([&] {
            for (std::string& line : take()) heard.push_back(std::move(line));
            return !heard.empty() && heard.back() == end;
        });
        return heard;
    }
    std::vector<Position> positions;  // of all that was taken
};

const std::vector<std::string> whole_cell = {"iopub status busy", "iopub execute_input",
                                             "iopub stream x", "iopub status idle",
                                             "shell execute_reply"};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a client gets outputs, then idle, then its reply") {
    Client client(*this, "");
    client.send("r1", "print x");
    CHECK(client.take_until("shell execute_reply") == whole_cell);
    CHECK(client.wakes > 0);
}

TEST_CASE_FIXTURE(Fixture, "outputs go to all clients, a reply to the one that asked") {
    Client asker(*this, "a");
    Client other(*this, "b");
    CHECK(kernel->channels().connections() == 2);
    asker.send("r1", "print x");
    CHECK(asker.take_until("shell execute_reply") == whole_cell);
    const std::vector<std::string> without_reply(whole_cell.begin(), whole_cell.end() - 1);
    CHECK(other.take() == without_reply);
}

TEST_CASE_FIXTURE(Fixture, "clients hear what executions show, and executions nothing of clients") {
    Client client(*this, "a");
    CHECK(run("print x").text == "x");
    CHECK(client.take_until("iopub status idle").size() == 4);
    client.send("r1", "print y");
    client.take_until("shell execute_reply");
    CHECK(run("print z").text == "z");
}

TEST_CASE_FIXTURE(Fixture, "an execution waits for a client's cell and is not begun before") {
    Client client(*this, "a");
    client.send("r1", "hang");
    client.take_until("iopub execute_input");
    const auto execution = submit("print x");
    loop.poll();
    CHECK(execution->state() == ExecutionState::queued);
    CHECK(kernel->execution_state() == "busy");
    bool done = false;
    spawn_logged(
        loop.get_executor(),
        [](Kernel& target, bool& over) -> asio::awaitable<void> {
            const auto sent = co_await target.interrupt();
            REQUIRE(sent.has_value());
            over = true;
        }(*kernel, done),
        "interrupt", nullptr);
    CHECK(finish(execution).text == "x");
    CHECK(done);
}

TEST_CASE_FIXTURE(Fixture, "a session that comes back goes on where it had confirmed") {
    auto client = std::make_unique<Client>(*this, "tab");
    client->send("r1", "print x");
    REQUIRE(client->take_until("shell execute_reply") == whole_cell);
    client->attachment->confirm(client->positions[2]);
    client.reset();
    CHECK(run("print y").text == "y");
    Client back(*this, "tab");
    const std::vector<std::string> heard = back.take();
    REQUIRE(heard.size() == 6);
    CHECK(heard[0] == "iopub status idle");
    CHECK(heard[1] == "shell execute_reply");
    CHECK(heard[4] == "iopub stream y");
    Client stranger(*this, "another");
    CHECK(stranger.take().empty());
}

TEST_CASE_FIXTURE(Fixture, "a session without a name is forgotten when it goes") {
    {
        Client client(*this, "");
    }
    CHECK(kernel->channels().connections() == 0);
    run("print x");
    Client again(*this, "");
    CHECK(again.take().empty());
}

TEST_CASE_FIXTURE(Fixture, "a session that connects again takes over from its old connection") {
    Client old(*this, "tab");
    Client fresh(*this, "tab");  // waits until the old one lets go, or for the time that it gets
    REQUIRE(old.attachment->ended().has_value());
    CHECK(old.attachment->ended()->reason == EndReason::replaced);
    CHECK_FALSE(old.attachment->next().has_value());
    old.attachment.reset();
    fresh.send("r1", "print x");
    CHECK(fresh.take_until("shell execute_reply") == whole_cell);
}

TEST_CASE_FIXTURE(Fixture,
                  "what is asked while the kernel restarts is answered by the new process") {
    Client client(*this, "tab");
    client.send("m1", "die");
    client.take_until("iopub status restarting");
    client.send("m2", "print again");
    const auto heard = client.take_until("shell execute_reply");
    CHECK(std::count(heard.begin(), heard.end(), "iopub stream again") == 1);
}

TEST_CASE_FIXTURE(Fixture, "a restart that nobody asked for is told, and so is a death for good") {
    Client client(*this, "a");
    client.send("r1", "die");
    std::vector<std::string> heard;
    until([&] {
        for (std::string& line : client.take()) heard.push_back(std::move(line));
        return std::count(heard.begin(), heard.end(), "iopub status restarting") == 1;
    });
    until([&] { return kernel->state() == KernelState::idle; });
    client.send("r2", "print x");
    heard = client.take_until("shell execute_reply");
    CHECK(std::equal(whole_cell.rbegin(), whole_cell.rend(), heard.rbegin()));
    kernel->close(Outcome::sandbox_gone, Error(ErrorCode::sandbox_gone, "gone"));
    CHECK(client.take() == std::vector<std::string>{"iopub status dead"});
    REQUIRE(client.attachment->ended().has_value());
    CHECK(client.attachment->ended()->reason == EndReason::kernel_gone);
}

TEST_CASE_FIXTURE(Fixture, "a client that reads nothing is ended and does not hold the others") {
    Client slow(*this, "slow");
    Client good(*this, "good");
    const std::string text(1 << 20, 't');
    for (int i = 0; i < 12; ++i) {
        good.send("r" + std::to_string(i), "print " + text);
        good.take_until("shell execute_reply");
    }
    REQUIRE(slow.attachment->ended().has_value());
    CHECK(slow.attachment->ended()->reason == EndReason::too_slow);
    CHECK_FALSE(good.attachment->ended().has_value());
    slow.attachment.reset();
    // What it missed and is kept no more is told where it is missing.
    Client back(*this, "slow");
    const auto heard = back.take();
    const auto is_notice = [](const std::string& line) {
        return line.find("are missing here") != std::string::npos;
    };
    CHECK(std::count_if(heard.begin(), heard.end(), is_notice) >= 1);
    CHECK(heard.back() == "iopub status idle");
}

TEST_CASE("a question goes to its asker; when that is gone the kernel is interrupted") {
    asio::io_context loop;
    int interrupts = 0;
    Channels::KernelSide side;
    side.interrupt = [&interrupts] { ++interrupts; };
    const auto channels = std::make_shared<Channels>(loop.get_executor(), std::move(side));
    Routing routing;
    routing.msg_type = "input_request";
    routing.parent_msg_id = "nobody's";
    auto question = std::make_shared<const KernelMessage>(testing::make_message(
        Channel::stdin_, R"({"msg_type":"input_request","msg_id":"q"})", "{}", "{}"));
    channels->take(std::move(question), routing);
    loop.run();
    CHECK(interrupts == 1);
    channels->close("the test is over");
}
