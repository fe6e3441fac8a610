// A guest's agent with a scripted kernel, at the far end of a real link over a socket pair.
//
// It answers kernel.start, kernel.restart, kernel.signal and kernel.stop, and runs "cells" whose
// code is a tiny language, so that each test says what the kernel does:
//   "print X"   a stream message, ok          "raise"      an error message and an error reply
//   "hang"      nothing until interrupted     "ignore"     nothing, not even when interrupted
//   "die"       the process ends (an event)   "lose-reply" idle without a reply
#pragma once

#include <sys/socket.h>

#include <map>
#include <string>

#include <boost/asio/io_context.hpp>

#include "base/ids.h"
#include "base/spawn.h"
#include "kernel-proxy/guest_events.h"
#include "kernel-proxy/kernel.h"
#include "vm/link/call.h"
#include "vm/link/link.h"

namespace cellblock::kernel_proxy::testing {

namespace asio = boost::asio;
using vm::link::Link;
using vm::link::StreamPtr;

class FakeGuest {
  public:
    explicit FakeGuest(asio::io_context& loop)
        : executor_(loop.get_executor()),
          host(executor_, vm::link::Role::host, vm::link::LinkOptions()),
          guest_(executor_, vm::link::Role::guest, vm::link::LinkOptions()),
          calls_(executor_) {
        serve_calls();
        guest_.on_stream([this](StreamPtr stream) { on_stream(std::move(stream)); });
        std::array<int, 2> ends{};
        ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data());
        spawn_logged(executor_, run(host, Fd(ends[0])), "host_link", nullptr);
        spawn_logged(executor_, run(guest_, Fd(ends[1])), "guest_link", nullptr);
    }
    ~FakeGuest() {
        const Error over(ErrorCode::cancelled, "the test is over");
        guest_.close(over);
        host.close(over);
    }

  private:
    asio::any_io_executor executor_;

  public:
    Link host;
    int interrupts = 0;
    int interrupts_missed = 0;  // so many of the first are without effect
    int restarts = 0;
    bool refuse_restart = false;
    std::vector<std::uint64_t> acknowledged;
    std::vector<std::int64_t> attached_after;  // what each kernel stream asked for
    std::uint64_t said = 0;                    // messages on the present kernel stream
    void cut_kernel_stream() {
        kernel_->reset(Error(ErrorCode::connection_lost, "cut by the test"));
    }
    std::function<void(const KernelDeath&)> on_death;

  private:
    static asio::awaitable<void> run(Link& link, Fd fd) { co_await link.run(std::move(fd)); }

    static asio::awaitable<Result<Json>> answer(Result<Json> value) { co_return value; }

    void serve_calls() {
        const auto started = [this](const Json&) { return answer(Json{{"pid", ++pid_}}); };
        calls_.add("kernel.start", started);
        calls_.add("kernel.restart", [this](const Json&) {
            ++restarts;
            hanging_.reset();
            if (refuse_restart)
                return answer(fail(ErrorCode::unavailable, "no memory for a process"));
            return answer(Json{{"pid", ++pid_}});
        });
        calls_.add("kernel.signal", [this](const Json&) {
            ++interrupts;
            if (hanging_ && hanging_->interruptible && interrupts > interrupts_missed) {
                spawn_logged(executor_, end_interrupted(), "interrupted", nullptr);
            }
            return answer(Json::object());
        });
        calls_.add("kernel.acknowledge", [this](const Json& params) {
            acknowledged.push_back(params.at("position").get<std::uint64_t>());
            return answer(Json::object());
        });
        calls_.add("kernel.stop", [](const Json&) { return answer(Json::object()); });
    }

    void on_stream(StreamPtr stream) {
        if (stream->kind() == vm::link::StreamKind::call) {
            calls_.serve(std::move(stream));
        } else if (stream->kind() == vm::link::StreamKind::kernel) {
            kernel_ = stream;
            attached_after.push_back(Json::parse(stream->params()).value("after", -99));
            spawn_logged(executor_, serve_kernel(std::move(stream)), "fake_kernel", nullptr);
        }
    }

    asio::awaitable<void> serve_kernel(StreamPtr stream) {
        while (true) {
            auto message = co_await vm::link::read_kernel_message(*stream);
            if (!message || !*message) co_return;
            const Json header = Json::parse(as_text((*message)->header()));
            const Json content = Json::parse(as_text((*message)->content()));
            co_await execute(header, content.at("code").get<std::string>());
        }
    }

    struct Hanging {
        Json parent;
        bool interruptible = true;
    };

    asio::awaitable<void> execute(Json parent, std::string code) {
        co_await publish("status", parent, Json{{"execution_state", "busy"}});
        co_await publish("execute_input", parent, Json{{"execution_count", ++count_}});
        if (code == "hang" || code == "ignore") {
            hanging_ = Hanging{parent, code == "hang"};
            co_return;
        }
        if (code == "die") {
            KernelDeath death;
            death.pid = pid_;
            death.how = "signal 11 (Segmentation fault)";
            on_death(death);
            co_return;
        }
        if (code == "raise") {
            co_await end(parent,
                         Json{{"status", "error"}, {"ename", "ValueError"}, {"evalue", "no"}});
            co_return;
        }
        if (code.starts_with("print ")) {
            co_await publish("stream", parent, Json{{"name", "stdout"}, {"text", code.substr(6)}});
        }
        if (code == "lose-reply") {
            co_await publish("status", parent, Json{{"execution_state", "idle"}});
            co_return;
        }
        co_await end(parent, Json{{"status", "ok"}});
    }

    asio::awaitable<void> end_interrupted() {
        const Json parent = hanging_->parent;
        hanging_.reset();
        const Json error = {{"status", "error"},
                            {"traceback", {"line 1"}},
                            {"ename", "KeyboardInterrupt"},
                            {"evalue", ""}};
        co_await publish("error", parent, error);
        co_await end(parent, error);
    }

    asio::awaitable<void> end(Json parent, Json reply) {
        co_await send(Channel::shell, "execute_reply", parent, std::move(reply));
        co_await publish("status", parent, Json{{"execution_state", "idle"}});
    }

    asio::awaitable<void> publish(std::string type, Json parent, Json content) {
        co_await send(Channel::iopub, std::move(type), std::move(parent), std::move(content));
    }

    asio::awaitable<void> send(Channel channel, std::string type, Json parent, Json content) {
        const Json header = {{"msg_type", type}, {"msg_id", new_uuid()}};
        const std::array<std::string, 4> texts = {header.dump(), parent.dump(), "{}",
                                                  content.dump()};
        std::vector<ByteView> frames;
        for (const std::string& text : texts) frames.push_back(as_bytes(text));
        ++said;
        co_await vm::link::write_kernel_message(*kernel_, channel, frames);
    }

    Link guest_;
    vm::link::CallServer calls_;
    StreamPtr kernel_;
    std::optional<Hanging> hanging_;
    std::int64_t pid_ = 100;
    int count_ = 0;
};

}  // namespace cellblock::kernel_proxy::testing
