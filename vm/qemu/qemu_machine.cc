#include "vm/qemu/qemu_machine.h"

#include <fcntl.h>

#include <optional>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"
#include "vm/link/call.h"
#include "vm/qemu/claim.h"
#include "vm/qemu/guest_clock.h"
#include "vm/qemu/qemu_machine_core.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

}  // namespace

void log_machine_failure(std::exception_ptr error) {
    if (error) log::error("machine_coroutine_failed");
}

QemuMachine::Core::Core(asio::any_io_executor executor_, WorkerPool& workers_, std::string id_,
                        std::shared_ptr<link::Link> link_)
    : executor(executor_),
      workers(workers_),
      id(std::move(id_)),
      link(std::move(link_)),
      ended(executor_, Deadline::max()),
      clock_timer(executor_) {
    if (!link) {
        link = std::make_shared<link::Link>(executor_, link::Role::host, link::LinkOptions());
    }
}

void QemuMachine::Core::set_reason(ExitReason reason, std::string text) {
    if (exit) return;
    exit.emplace();
    exit->reason = reason;
    exit->text = std::move(text);
}

// Dropping the pointer refuses the stream.
void QemuMachine::Core::accept(link::StreamPtr stream) {
    if (on_stream) {
        on_stream(std::move(stream));
    } else if (early_streams.size() < limits::machine_early_streams_max) {
        early_streams.push_back(std::move(stream));
    }
}

Result<void> QemuMachine::Core::check_alive() const {
    if (gone || exit) return fail(ErrorCode::sandbox_gone, "the machine is gone");
    return {};
}

std::shared_ptr<link::Link> QemuMachine::Core::detach_link() {
    if (!link) return nullptr;
    link->on_stream(nullptr);
    link->disconnect();
    return std::exchange(link, nullptr);
}

// SHUTDOWN: the guest reset itself, powered off or panicked (QEMU pauses then). STOP comes with our
// own `stop` too; an unasked one is looked into.
void QemuMachine::Core::handle_event(const std::weak_ptr<Core>& weak, const QmpEvent& event) {
    const auto core = weak.lock();
    if (!core || core->gone) return;
    if (event.name == "SHUTDOWN" || event.name == "GUEST_PANICKED") {
        asio::co_spawn(core->executor,
                       end(core, ExitReason::guest_shutdown, "the guest's system shut down"),
                       log_machine_failure);
    } else if (event.name == "STOP" && core->info.accelerator == AcceleratorKind::kvm) {
        auto ask = [](std::shared_ptr<Core> self) -> asio::awaitable<void> {
            auto status = co_await command(self, "query-status", Json::object());
            if (status && status->value("status", "") == "internal-error") {
                co_await end(self, ExitReason::accelerator_error, "KVM could not run the guest");
            }
        };
        asio::co_spawn(core->executor, ask(core), log_machine_failure);
    }
}

// While QEMU still answers its console is read; then it is killed and supervise() does the rest.
asio::awaitable<void> QemuMachine::Core::end(Self core, ExitReason reason, std::string text) {
    if (core->exit) co_return;
    core->set_reason(reason, std::move(text));
    if (!core->process) co_return;
    std::string tail = co_await core->process->console_tail();
    core->exit->console_tail = std::move(tail);
    if (core->process) core->process->kill_now();
}

asio::awaitable<Result<Json>> QemuMachine::Core::command(Self core, std::string name,
                                                         Json arguments) {
    if (core->gone) co_return fail(ErrorCode::sandbox_gone, "the machine is gone");
    const auto process = core->process;
    // Longer than usual: many machines may be starting at once.
    co_return co_await process->qmp().execute(std::move(name), std::move(arguments),
                                              limits::qemu_start_timeout);
}

asio::awaitable<void> QemuMachine::Core::supervise(Self core) {
    auto status = co_await core->process->wait();
    std::string text = "the machine's process ended";
    if (status) text += " with " + status->text();
    if (!core->exit) {
        const std::string said = core->process->log_tail();
        if (!said.empty()) text += "; it said: " + said;
        core->set_reason(ExitReason::process_died, text);
    }
    core->gone = true;
    core->clock_timer.cancel();
    if (core->link) {
        core->link->close(
            Error(ErrorCode::sandbox_gone, "the sandbox's machine is gone: " + core->exit->text));
    }
    core->process.reset();
    core->ended.cancel();
    log::info(
        "machine_ended",
        {{"id", core->id}, {"reason", to_string(core->exit->reason)}, {"text", core->exit->text}});
    const auto handlers = std::move(core->handlers);
    core->handlers.clear();
    for (const ExitHandler& handler : handlers) handler(*core->exit);
}

asio::awaitable<void> QemuMachine::Core::serve_link(Self core) {
    const auto link = core->link;
    auto wait = std::chrono::milliseconds(10);
    while (!core->gone && core->link && !link->closed()) {
        auto connection = core->process->connect_port();
        if (connection) {
            auto ended = co_await link->run(std::move(*connection));
            if (core->gone || !core->link) co_return;
            if (!ended && !link->closed()) {
                log::debug("link_lost", {{"id", core->id}, {"why", ended.error().text()}});
            }
        }
        if (link->closed()) break;
        co_await pause_for(wait);
        wait = std::min(wait * 2, std::chrono::milliseconds(1000));
    }
    if (core->gone || core->exit || !core->link) co_return;
    const auto& why = link->error();
    co_await end(core, ExitReason::guest_protocol,
                 "the guest link was closed" + (why ? ": " + why->text() : std::string()));
}

asio::awaitable<Result<void>> QemuMachine::Core::settle_clock(Self core) {
    CB_CO_TRY(core->check_alive());
    const auto link = core->link;  // the machine may give it away meanwhile
    if (!link) co_return fail(ErrorCode::sandbox_gone, "the machine has no link");
    co_return co_await settle_guest_clock(*link);
}

asio::awaitable<void> QemuMachine::Core::correct_clock(Self core) {
    while (!core->gone) {
        core->clock_timer.expires_after(limits::machine_clock_interval);
        co_await core->clock_timer.async_wait(as_tuple_awaitable);
        if (core->gone || !core->link) co_return;
        const auto settled = co_await settle_clock(core);
        if (!settled && !core->gone) {
            log::debug("clock_not_corrected", {{"id", core->id}, {"why", settled.error().text()}});
        }
    }
}

// The process must not outlive its owner; what is freed, supervise() frees, or the core's last
// reference when the loop has stopped.
QemuMachine::~QemuMachine() {
    core_->handlers.clear();
    core_->set_reason(ExitReason::killed, "its owner dropped it");
    if (core_->process) core_->process->kill_now();
}

const std::string& QemuMachine::id() const {
    return core_->id;
}
const MachineInfo& QemuMachine::info() const {
    return core_->info;
}
link::Link& QemuMachine::link() {
    return *core_->link;
}
bool QemuMachine::alive() const {
    return !core_->gone && !core_->exit;
}
void QemuMachine::on_stream(StreamHandler handler) {
    core_->on_stream = std::move(handler);
    const auto early = std::move(core_->early_streams);
    core_->early_streams.clear();
    for (const link::StreamPtr& stream : early) core_->on_stream(stream);
}
const ClaimReply& QemuMachine::claimed() const {
    return core_->reply;
}

asio::awaitable<Result<Json>> QemuMachine::Core::ask_claim(Self core, ClaimRequest request) {
    if (request.memory_limit_bytes == 0) request.memory_limit_bytes = core->hardware.ram_bytes;
    co_return co_await link::call(*core->link, "claim", claim_parameters(request),
                                  limits::machine_claim_timeout);
}

asio::awaitable<Result<void>> QemuMachine::rehearse_claim() {
    const auto core = core_;
    if (core->claim_started) co_return fail(ErrorCode::internal, "the machine is claimed already");
    ClaimRequest nobody;
    auto result = co_await Core::ask_claim(core, std::move(nobody));
    if (!result) co_return fail(result.error().in("rehearsing a claim"));
    co_return Result<void>();
}

asio::awaitable<Result<void>> QemuMachine::claim(ClaimRequest request) {
    const auto core = core_;
    if (core->claim_started) co_return fail(ErrorCode::internal, "a machine is claimed once");
    core->claim_started = true;
    auto result = co_await Core::ask_claim(core, std::move(request));
    if (result) {
        const auto settled = co_await Core::settle_clock(core);
        if (!settled) result = fail(settled.error());
    }
    if (!result) {
        Error error = result.error().in("making a clone unlike the others");
        co_await Core::kill(core, error.text());  // fail closed
        co_return fail(std::move(error));
    }
    core->reply = claim_reply(*result);
    asio::co_spawn(core->executor, Core::correct_clock(core), log_machine_failure);
    co_return Result<void>();
}

asio::awaitable<Result<void>> QemuMachine::check(std::chrono::milliseconds timeout) {
    const auto core = core_;
    CB_CO_TRY(core->check_alive());
    const auto link = core->link;
    if (!link) co_return fail(ErrorCode::sandbox_gone, "the machine has no link");
    Json only_asks = {{"step_by_ns", 0}};
    auto answered = co_await link::call(*link, "clock", std::move(only_asks), timeout);
    if (!answered) co_return fail(answered.error().in("checking a machine"));
    co_return Result<void>();
}

Result<void> QemuMachine::set_note(std::string_view note) {
    CB_TRY(core_->check_alive());
    return write_note(core_->process->folder().path(), note);
}

std::shared_ptr<link::Link> QemuMachine::detach_link() {
    return core_->detach_link();
}

asio::awaitable<void> QemuMachine::Core::kill(Self core, std::string reason) {
    core->set_reason(ExitReason::killed, std::move(reason));
    if (core->gone) co_return;
    core->process->kill_now();
    // `ended` may be waited for by several: each waits on a timer of its own, woken in steps.
    const Deadline deadline = std::chrono::steady_clock::now() + limits::machine_kill_timeout;
    while (!core->gone && std::chrono::steady_clock::now() < deadline) {
        asio::steady_timer timeout(core->executor, deadline);
        timeout.async_wait([core](boost::system::error_code error) {
            if (!error) core->ended.cancel();
        });
        co_await core->ended.async_wait(as_tuple_awaitable);
    }
    if (!core->gone)
        log::error("machine_not_killable", {{"id", core->id}, {"pid", core->info.pid}});
}

asio::awaitable<void> QemuMachine::kill(std::string reason) {
    co_await Core::kill(core_, std::move(reason));
}

void QemuMachine::on_exit(ExitHandler handler) {
    if (!core_->gone) {
        core_->handlers.push_back(std::move(handler));
        return;
    }
    asio::post(core_->executor,
               [core = core_, handler = std::move(handler)] { handler(*core->exit); });
}

asio::awaitable<Result<MemoryUsage>> QemuMachine::memory_usage() {
    if (core_->gone) co_return fail(ErrorCode::sandbox_gone, "the machine is gone");
    auto read = [pid = core_->info.pid] { return read_memory_usage(pid); };
    auto pending = core_->workers.run(std::move(read));
    co_return co_await std::move(pending);
}

asio::awaitable<std::string> QemuMachine::console_tail() {
    const auto core = core_;
    if (core->exit) co_return core->exit->console_tail;
    co_return co_await core->process->console_tail();
}

}  // namespace cellblock::vm
