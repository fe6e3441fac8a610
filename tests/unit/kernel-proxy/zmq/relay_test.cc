// The relay between real ZeroMQ clients and a gateway that this file plays: what it is sent is
// kept, what it is told to say is said.
#include "kernel-proxy/zmq/relay.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <deque>

#include "base/fd.h"
#include "kernel-proxy/v1_codec.h"
#include "tests/unit/kernel-proxy/zmq/texts.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using namespace cellblock::kernel_proxy::zmq_door;

namespace {

std::string header(const std::string& msg_id, const std::string& msg_type) {
    return R"({"msg_id":")" + msg_id + R"(","msg_type":")" + msg_type +
           R"(","session":"s","unknown":1.50})";
}

Texts frames_of(const std::string& msg_id, const std::string& msg_type,
                const std::string& content = "{}", const std::string& parent = "{}") {
    return {header(msg_id, msg_type), parent, "{}", content};
}

class PlayedGateway final : public Upstream {
  public:
    struct Sent {
        std::string channel;
        Texts frames;
    };
    std::deque<Sent> sent;

    int descriptor() const override { return event_.get(); }
    std::uint64_t connection() const override { return connection_; }
    bool wants_to_write() const override { return false; }
    Deadline next_check() const override { return Deadline::max(); }
    std::size_t waiting_bytes() const override { return 0; }
    Result<void> flush() override { return {}; }

    Result<void> send(std::span<const ByteView> parts) override {
        Bytes whole;
        for (const ByteView part : parts) whole.insert(whole.end(), part.begin(), part.end());
        const auto message = decode_v1_message(whole);
        REQUIRE(message);
        Sent one{std::string(message->channel), {}};
        for (const ByteView frame : message->frames) one.frames.emplace_back(as_text(frame));
        sent.push_back(std::move(one));
        return {};
    }
    Result<std::optional<Bytes>> receive() override {
        if (!said_.empty()) {
            Bytes message = std::move(said_.front());
            said_.pop_front();
            return std::optional<Bytes>(std::move(message));
        }
        std::uint64_t count = 0;
        (void)!::read(event_.get(), &count, sizeof(count));
        if (end_) return fail(*end_);
        return std::optional<Bytes>();
    }

    void say(const std::string& channel, const Texts& frames) {
        const auto views = views_of(frames);
        Bytes message = encode_v1_head(channel, views);
        for (const ByteView view : views) message.insert(message.end(), view.begin(), view.end());
        said_.push_back(std::move(message));
        wake();
    }
    void say_raw(std::string_view bytes) {
        said_.push_back(to_bytes(bytes));
        wake();
    }
    // All that it said.
    bool was_heard() const { return said_.empty(); }
    // Another gateway takes over.
    void renew() {
        ++connection_;
        wake();
    }
    void end(Error error) {
        end_ = std::move(error);
        wake();
    }

  private:
    void wake() {
        const std::uint64_t one = 1;
        REQUIRE(::write(event_.get(), &one, sizeof(one)) == sizeof(one));
    }
    Fd event_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
    std::uint64_t connection_ = 1;
    std::deque<Bytes> said_;
    std::optional<Error> end_;
};

bool mentions(const Texts& parts, const std::string& text) {
    for (const std::string& part : parts) {
        if (part.find(text) != std::string::npos) return true;
    }
    return false;
}

// A door on free ports, with the steps of a test run inside its loop.
struct Setting {
    PlayedGateway gateway;
    std::unique_ptr<Server> server;
    Signer signer = Signer::create("hmac-sha256", "key").value();
    zmq::context_t context{1};
    int interrupts = 0;
    std::vector<std::function<bool()>> steps;  // true: go on to the next
    std::size_t step = 0;

    Setting() {
        ConnectionFile file;
        file.key = "key";
        server = Server::bind(std::move(file)).value();
    }

    zmq::socket_t client(zmq::socket_type type, int port, const std::string& id = "client") {
        zmq::socket_t socket(context, type);
        socket.set(zmq::sockopt::linger, 0);
        if (type == zmq::socket_type::sub) {
            socket.set(zmq::sockopt::subscribe, "");
        } else {
            socket.set(zmq::sockopt::routing_id, id);
        }
        socket.connect(server->connection().endpoint(port));
        return socket;
    }

    void send(zmq::socket_t& socket, const Texts& frames) {
        Texts parts = wire_head({}, views_of(frames), signer);
        parts.insert(parts.end(), frames.begin(), frames.end());
        send_parts(socket, parts);
    }
    static void send_parts(zmq::socket_t& socket, const Texts& parts) {
        for (std::size_t i = 0; i < parts.size(); ++i) {
            socket.send(zmq::buffer(parts[i]),
                        i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
        }
    }
    // The parts of the next message; empty when there is none yet.
    static Texts receive(zmq::socket_t& socket) {
        Texts parts;
        zmq::message_t part;
        while (socket.recv(part, zmq::recv_flags::dontwait)) {
            parts.emplace_back(part.data<char>(), part.size());
            if (!part.more()) break;
        }
        return parts;
    }

    // Takes the next message. What was published between its subscription and its welcome (the
    // kernel's "starting") it may hear before.
    static bool is_welcomed(zmq::socket_t& subscriber) {
        return mentions(receive(subscriber), "iopub_welcome");
    }

    // Runs until the steps are through, or something else ends the relay.
    End run() {
        KernelCalls calls;
        calls.interrupt = [this]() -> Result<void> {
            ++interrupts;
            return {};
        };
        Relay relay(*server, gateway, "k", std::move(calls));
        const Deadline give_up = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        Watch watch;
        const Fd never(::eventfd(0, EFD_CLOEXEC));
        watch.descriptor = [&never] { return never.get(); };
        watch.events = []() -> short { return ZMQ_POLLIN; };
        Deadline due = Deadline::min();
        watch.deadline = [&due] { return due; };
        watch.ready = [&] {
            due = std::chrono::steady_clock::now() + tick;
            while (step < steps.size() && steps[step]()) ++step;
            if (step == steps.size() && !leave_end_to_relay) relay.end(EndReason::asked, "done");
            if (std::chrono::steady_clock::now() > give_up) relay.end(EndReason::asked, "late");
        };
        due = std::chrono::steady_clock::now();
        server->watch(std::move(watch));
        return relay.run();
    }
    bool leave_end_to_relay = false;
    static constexpr std::chrono::milliseconds tick{1};
};

Texts json_frames(const Texts& parts) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (parts[i] == "<IDS|MSG>") {
            return {parts.begin() + static_cast<std::ptrdiff_t>(i) + 2, parts.end()};
        }
    }
    return {};
}

}  // namespace

TEST_CASE("requests reach the gateway byte for byte, and replies the client that asked") {
    Setting setting;
    auto one =
        setting.client(zmq::socket_type::dealer, setting.server->connection().shell_port, "one");
    auto two =
        setting.client(zmq::socket_type::dealer, setting.server->connection().shell_port, "two");
    Texts asked = frames_of("m1", "execute_request", "{\"code\" : \"1\"}");
    asked.push_back(std::string("\x00\xff", 2));
    const Texts reply = frames_of("r1", "execute_reply", "{ }", header("m1", "execute_request"));
    Texts got;
    setting.send(one, asked);
    setting.steps = {
        [&] {
            if (setting.gateway.sent.empty()) return false;
            CHECK(setting.gateway.sent.front().channel == "shell");
            CHECK(setting.gateway.sent.front().frames == asked);
            setting.gateway.say("shell", reply);
            return true;
        },
        [&] {
            got = Setting::receive(one);
            return !got.empty();
        },
    };
    CHECK(setting.run().text == "done");
    CHECK(json_frames(got) == reply);
    REQUIRE(got.size() > 2);
    CHECK(got[1] == setting.signer.sign(views_of(reply)));
    CHECK(Setting::receive(two).empty());
}

TEST_CASE("questions go to the client whose cell asks, and its answer goes back") {
    Setting setting;
    const auto& ports = setting.server->connection();
    auto shell = setting.client(zmq::socket_type::dealer, ports.shell_port, "one");
    auto input = setting.client(zmq::socket_type::dealer, ports.stdin_port, "one");
    auto other = setting.client(zmq::socket_type::dealer, ports.stdin_port, "two");
    // Both are known to the door before it is asked to send.
    setting.send(input, frames_of("early", "input_reply"));
    setting.send(other, frames_of("early", "input_reply"));
    const Texts question =
        frames_of("q", "input_request", "{\"prompt\":\"?\"}", header("m1", "execute_request"));
    Texts got;
    setting.steps = {
        [&] { return setting.gateway.sent.size() == 2; },
        [&] {
            setting.send(shell, frames_of("m1", "execute_request"));
            return true;
        },
        [&] {
            if (setting.gateway.sent.size() < 3) return false;
            setting.gateway.say("stdin", question);
            return true;
        },
        [&] {
            got = Setting::receive(input);
            if (got.empty()) return false;
            setting.send(input, frames_of("a", "input_reply", "{\"value\":\"x\"}"));
            return true;
        },
        [&] { return setting.gateway.sent.size() == 4; },
    };
    CHECK(setting.run().text == "done");
    CHECK(json_frames(got) == question);
    CHECK(setting.gateway.sent.back().channel == "stdin");
    CHECK(Setting::receive(other).empty());
}

TEST_CASE("a subscriber is welcomed, then hears iopub with a topic and a signature") {
    Setting setting;
    auto iopub = setting.client(zmq::socket_type::sub, setting.server->connection().iopub_port);
    const Texts output = frames_of("o", "stream", "{\"name\":\"stdout\",\"text\":\"hi\"}");
    Texts got;
    setting.steps = {
        [&] {
            if (!Setting::is_welcomed(iopub)) return false;
            setting.gateway.say("iopub", output);
            return true;
        },
        [&] {
            got = Setting::receive(iopub);
            return !got.empty();
        },
    };
    CHECK(setting.run().text == "done");
    REQUIRE(got.size() == 7);
    CHECK(got[0] == "kernel.k.stream");
    CHECK(json_frames(got) == output);
}

TEST_CASE("an interrupt is the gateway's call, and is answered here") {
    Setting setting;
    auto control =
        setting.client(zmq::socket_type::dealer, setting.server->connection().control_port);
    setting.send(control, frames_of("i", "interrupt_request"));
    Texts got;
    setting.steps = {[&] {
        got = Setting::receive(control);
        return !got.empty();
    }};
    CHECK(setting.run().text == "done");
    CHECK(setting.interrupts == 1);
    CHECK(setting.gateway.sent.empty());
    CHECK(mentions(got, "interrupt_reply"));
    CHECK(mentions(got, "\"ok\""));
}

TEST_CASE("a shutdown is answered, then ends the relay, and says whether another process follows") {
    for (const bool restart : {false, true}) {
        Setting setting;
        setting.leave_end_to_relay = true;
        auto control =
            setting.client(zmq::socket_type::dealer, setting.server->connection().control_port);
        const std::string content = restart ? "{\"restart\":true}" : "{\"restart\":false}";
        setting.send(control, frames_of("s", "shutdown_request", content));
        CHECK(setting.run().reason == (restart ? EndReason::handed_over : EndReason::shut_down));
        control.set(zmq::sockopt::rcvtimeo, 5000);
        zmq::message_t first;
        REQUIRE(control.recv(first, zmq::recv_flags::none));
        CHECK(mentions(Setting::receive(control), "shutdown_reply"));
    }
}

TEST_CASE(
    "what is not signed, not whole or not JSON is dropped, and the next message goes through") {
    Setting setting;
    auto shell = setting.client(zmq::socket_type::dealer, setting.server->connection().shell_port);
    Setting::send_parts(shell, {"<IDS|MSG>", "short", "{}", "{}", "{}", "{}"});
    Setting::send_parts(shell, {"<IDS|MSG>", std::string(64, '0'), "{}", "{}", "{}", "{}"});
    for (std::size_t count = 0; count <= 7; ++count) {
        if (count > 0) Setting::send_parts(shell, Texts(count, "x"));
    }
    setting.send(shell, {std::string(50'000, '['), "{}", "{}", "{}"});
    setting.send(shell, {"{\"msg_id\":\"\xff\"}", "{}", "{}", "{}"});
    setting.send(shell, frames_of("good", "kernel_info_request"));
    setting.steps = {[&] { return !setting.gateway.sent.empty(); }};
    CHECK(setting.run().text == "done");
    REQUIRE(setting.gateway.sent.size() == 1);
    CHECK(mentions(setting.gateway.sent.front().frames, "good"));
}

TEST_CASE("nonsense from the gateway is dropped, and what follows is relayed") {
    Setting setting;
    auto iopub = setting.client(zmq::socket_type::sub, setting.server->connection().iopub_port);
    Texts got;
    setting.steps = {
        [&] { return Setting::is_welcomed(iopub); },
        [&] {
            setting.gateway.say_raw("nonsense");
            setting.gateway.say("nowhere", frames_of("x", "stream"));
            setting.gateway.say("iopub", {"[]", "{}", "{}", "{}"});
            setting.gateway.say("shell", frames_of("x", "execute_reply"));
            setting.gateway.say("iopub", frames_of("o", "stream"));
            return true;
        },
        [&] {
            got = Setting::receive(iopub);
            return !got.empty();
        },
    };
    CHECK(setting.run().text == "done");
    CHECK(json_frames(got) == frames_of("o", "stream"));
}

TEST_CASE("the end of the gateway or of the kernel ends the relay, and clients hear of it") {
    for (const auto& [code, reason] :
         {std::pair(ErrorCode::connection_lost, EndReason::gateway_gone),
          std::pair(ErrorCode::kernel_died, EndReason::kernel_gone)}) {
        Setting setting;
        setting.leave_end_to_relay = true;
        auto iopub = setting.client(zmq::socket_type::sub, setting.server->connection().iopub_port);
        const Error over(code, "over");
        setting.steps = {[&] {
            if (!Setting::is_welcomed(iopub)) return false;
            setting.gateway.end(over);
            return true;
        }};
        const End end = setting.run();
        CHECK(end.reason == reason);
        CHECK(end.text == "over");
        iopub.set(zmq::sockopt::rcvtimeo, 5000);
        // The kernel's first state may come before.
        bool told = false;
        for (zmq::message_t topic; !told && iopub.recv(topic, zmq::recv_flags::none);) {
            told = mentions(Setting::receive(iopub), "dead");
        }
        CHECK(told);
    }
}

TEST_CASE("another connection gets again what nothing came back of, in order, and nothing else") {
    Setting setting;
    auto shell = setting.client(zmq::socket_type::dealer, setting.server->connection().shell_port);
    for (const char* name : {"m1", "m2", "m3"}) setting.send(shell, frames_of(name, "request"));
    setting.steps = {
        [&] {
            if (setting.gateway.sent.size() < 3) return false;
            setting.gateway.say("iopub", frames_of("b", "status", "{}", header("m2", "request")));
            return true;
        },
        [&] {
            if (!setting.gateway.was_heard()) return false;
            setting.gateway.renew();
            return true;
        },
        [&] { return setting.gateway.sent.size() >= 5; },
    };
    CHECK(setting.run().text == "done");
    REQUIRE(setting.gateway.sent.size() == 5);
    CHECK(setting.gateway.sent[3].frames == frames_of("m1", "request"));
    CHECK(setting.gateway.sent[3].channel == "shell");
    CHECK(setting.gateway.sent[4].frames == frames_of("m3", "request"));
}

TEST_CASE("what a gateway says again reaches no client twice") {
    Setting setting;
    auto iopub = setting.client(zmq::socket_type::sub, setting.server->connection().iopub_port);
    std::vector<Texts> got;
    setting.steps = {
        [&] {
            if (!Setting::is_welcomed(iopub)) return false;
            for (const char* name : {"a", "b"}) setting.gateway.say("iopub", frames_of(name, "x"));
            setting.gateway.renew();
            for (const char* name : {"a", "b", "c"}) {
                setting.gateway.say("iopub", frames_of(name, "x"));
            }
            return true;
        },
        [&] {
            Texts next = Setting::receive(iopub);
            if (!next.empty()) got.push_back(json_frames(next));
            return got.size() == 3;
        },
    };
    CHECK(setting.run().text == "done");
    REQUIRE(got.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
        CHECK(got[i] == frames_of(std::string(1, static_cast<char>('a' + i)), "x"));
    }
}

TEST_CASE("heartbeats are echoed") {
    Setting setting;
    auto beat = setting.client(zmq::socket_type::req, setting.server->connection().hb_port);
    beat.send(zmq::buffer("ping", 4), zmq::send_flags::none);
    Texts got;
    setting.steps = {[&] {
        got = Setting::receive(beat);
        return !got.empty();
    }};
    CHECK(setting.run().text == "done");
    CHECK(got == Texts{"ping"});
}
