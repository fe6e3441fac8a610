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
#include "vm/link/link.h"
#include "vm/qemu/claim.h"
#include "vm/qemu/guest_clock.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

constexpr auto as_tuple_awaitable = asio::as_tuple(asio::use_awaitable);

void log_failure(std::exception_ptr error) {
    if (error) log::error("machine_coroutine_failed");
}

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

}  // namespace

struct QemuMachine::Core {
    asio::any_io_executor executor;
    WorkerPool& workers;
    std::string id;
    MachineInfo info;
    GuestHardware hardware;
    std::unique_ptr<QemuProcess> process;  // null once ended
    std::unique_ptr<link::Link> link;      // lives as long as the core: streams may be open
    asio::steady_timer ended;              // cancelled when the process is gone
    asio::steady_timer clock_timer;
    std::optional<ExitInfo> exit;  // the reason, as soon as one is known
    bool gone = false;
    bool claim_started = false;
    ClaimReply reply;
    std::vector<ExitHandler> handlers;
    StreamHandler on_stream;
    std::vector<link::StreamPtr> early_streams;  // opened by the guest before on_stream was set

    Core(asio::any_io_executor executor_, WorkerPool& workers_, std::string id_)
        : executor(executor_),
          workers(workers_),
          id(std::move(id_)),
          link(std::make_unique<link::Link>(executor_, link::Role::host, link::LinkOptions())),
          ended(executor_, Deadline::max()),
          clock_timer(executor_) {}

    // The first reason wins.
    void set_reason(ExitReason reason, std::string text) {
        if (exit) return;
        exit.emplace();
        exit->reason = reason;
        exit->text = std::move(text);
    }

    // Dropping the pointer refuses the stream.
    void accept(link::StreamPtr stream) {
        if (on_stream) {
            on_stream(std::move(stream));
        } else if (early_streams.size() < limits::machine_early_streams_max) {
            early_streams.push_back(std::move(stream));
        }
    }

    static void handle_event(const std::weak_ptr<Core>& weak, const QmpEvent& event);
    static asio::awaitable<void> end(std::shared_ptr<Core> core, ExitReason reason,
                                     std::string text);
    static asio::awaitable<void> supervise(std::shared_ptr<Core> core);
    static asio::awaitable<void> serve_link(std::shared_ptr<Core> core);
    static asio::awaitable<void> correct_clock(std::shared_ptr<Core> core);
    static asio::awaitable<Result<Json>> ask_claim(std::shared_ptr<Core> core,
                                                   ClaimRequest request);
    static asio::awaitable<Result<void>> restore(std::shared_ptr<Core> core, int device_state);
    static asio::awaitable<void> kill(std::shared_ptr<Core> core, std::string reason);
    // A monitor command; the process may end, and be freed, between any two of them.
    static asio::awaitable<Result<Json>> command(std::shared_ptr<Core> core, std::string name,
                                                 Json arguments);
};

// SHUTDOWN: the guest reset itself, powered off or panicked (QEMU pauses then). STOP comes with our
// own `stop` too; an unasked one is looked into.
void QemuMachine::Core::handle_event(const std::weak_ptr<Core>& weak, const QmpEvent& event) {
    const auto core = weak.lock();
    if (!core || core->gone) return;
    if (event.name == "SHUTDOWN" || event.name == "GUEST_PANICKED") {
        asio::co_spawn(core->executor,
                       end(core, ExitReason::guest_shutdown, "the guest's system shut down"),
                       log_failure);
    } else if (event.name == "STOP" && core->info.accelerator == AcceleratorKind::kvm) {
        auto ask = [](std::shared_ptr<Core> self) -> asio::awaitable<void> {
            auto status = co_await command(self, "query-status", Json::object());
            if (status && status->value("status", "") == "internal-error") {
                co_await end(self, ExitReason::accelerator_error, "KVM could not run the guest");
            }
        };
        asio::co_spawn(core->executor, ask(core), log_failure);
    }
}

// While QEMU still answers its console is read; then it is killed and supervise() does the rest.
asio::awaitable<void> QemuMachine::Core::end(std::shared_ptr<Core> core, ExitReason reason,
                                             std::string text) {
    if (core->exit) co_return;
    core->set_reason(reason, std::move(text));
    if (!core->process) co_return;
    std::string tail = co_await core->process->console_tail();
    core->exit->console_tail = std::move(tail);
    if (core->process) core->process->kill_now();
}

asio::awaitable<Result<Json>> QemuMachine::Core::command(std::shared_ptr<Core> core,
                                                         std::string name, Json arguments) {
    if (core->gone) co_return fail(ErrorCode::sandbox_gone, "the machine is gone");
    // Longer than usual: many machines may be starting at once.
    co_return co_await core->process->qmp().execute(std::move(name), std::move(arguments),
                                                    limits::qemu_start_timeout);
}

asio::awaitable<void> QemuMachine::Core::supervise(std::shared_ptr<Core> core) {
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
    core->link->close(
        Error(ErrorCode::sandbox_gone, "the sandbox's machine is gone: " + core->exit->text));
    core->process.reset();
    core->ended.cancel();
    log::info(
        "machine_ended",
        {{"id", core->id}, {"reason", to_string(core->exit->reason)}, {"text", core->exit->text}});
    const auto handlers = std::move(core->handlers);
    core->handlers.clear();
    for (const ExitHandler& handler : handlers) handler(*core->exit);
}

asio::awaitable<void> QemuMachine::Core::serve_link(std::shared_ptr<Core> core) {
    auto wait = std::chrono::milliseconds(10);
    while (!core->gone && !core->link->closed()) {
        auto connection = core->process->connect_port();
        if (connection) {
            auto ended = co_await core->link->run(std::move(*connection));
            if (core->gone) co_return;
            if (!ended && !core->link->closed()) {
                log::debug("link_lost", {{"id", core->id}, {"why", ended.error().text()}});
            }
        }
        if (core->link->closed()) break;
        co_await pause_for(wait);
        wait = std::min(wait * 2, std::chrono::milliseconds(1000));
    }
    if (core->gone || core->exit) co_return;
    const auto& why = core->link->error();
    co_await end(core, ExitReason::guest_protocol,
                 "the guest link was closed" + (why ? ": " + why->text() : std::string()));
}

asio::awaitable<void> QemuMachine::Core::correct_clock(std::shared_ptr<Core> core) {
    while (!core->gone) {
        core->clock_timer.expires_after(limits::machine_clock_interval);
        co_await core->clock_timer.async_wait(as_tuple_awaitable);
        if (core->gone) co_return;
        const auto settled = co_await settle_guest_clock(*core->link);
        if (!settled && !core->gone) {
            log::debug("clock_not_corrected", {{"id", core->id}, {"why", settled.error().text()}});
        }
    }
}

asio::awaitable<Result<void>> QemuMachine::Core::restore(std::shared_ptr<Core> core,
                                                         int device_state) {
    // A file description of its own: the offset is QEMU's.
    auto state = open_file("/proc/self/fd/" + std::to_string(device_state), O_RDONLY);
    if (!state) co_return fail(state.error());
    Json name = {{"fdname", "state"}};
    auto passed = co_await core->process->qmp().execute_with_fd(
        "getfd", std::move(name), state->get(), limits::qmp_command_timeout);
    if (!passed) co_return fail(passed.error());
    Json uri = {{"uri", "fd:state"}};
    auto incoming = co_await command(core, "migrate-incoming", std::move(uri));
    if (!incoming) co_return fail(incoming.error());
    const Deadline deadline = std::chrono::steady_clock::now() + limits::qemu_start_timeout;
    while (true) {
        auto status = co_await command(core, "query-status", Json::object());
        if (!status) co_return fail(status.error());
        const std::string now = status->is_object() ? status->value("status", "") : "";
        if (now == "paused" || now == "prelaunch") break;
        if (now != "inmigrate") {
            co_return fail(ErrorCode::io, "QEMU is " + now + " after loading the device state");
        }
        if (std::chrono::steady_clock::now() > deadline) {
            co_return fail(ErrorCode::timeout, "QEMU did not load the device state in time");
        }
        co_await pause_for(std::chrono::milliseconds(1));
    }
    asio::co_spawn(core->executor, serve_link(core), log_failure);
    auto resumed = co_await command(core, "cont", Json::object());
    if (!resumed) co_return fail(resumed.error());
    const Deadline hello = std::chrono::steady_clock::now() + limits::machine_hello_timeout;
    co_return co_await core->link->wait_connected(hello);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> QemuMachine::clone(std::shared_ptr<QemuHost> host,
                                                                     CloneSource source,
                                                                     std::filesystem::path run_root,
                                                                     WorkerPool& workers) {
    const auto executor = co_await asio::this_coro::executor;
    const Deadline begin = std::chrono::steady_clock::now();
    auto core = std::make_shared<Core>(executor, workers, new_short_id());
    QemuLaunch launch;
    launch.host = std::move(host);
    launch.run_root = std::move(run_root);
    launch.id = core->id;
    launch.template_key = source.template_key;
    launch.hardware = source.hardware;
    launch.start = QemuStart::restore;
    launch.ram = source.ram->get();
    launch.root = source.root->get();
    core->hardware = source.hardware;
    core->info.driver = "qemu";
    core->info.accelerator = source.hardware.accelerator;
    core->info.tier = source.hardware.accelerator == AcceleratorKind::kvm ? IsolationTier::hardware
                                                                          : IsolationTier::reduced;
    core->info.template_key = source.template_key;
    core->info.started_at = begin;
    auto on_event = [weak = std::weak_ptr<Core>(core)](const QmpEvent& event) {
        Core::handle_event(weak, event);
    };
    QmpClient::EventHandler handler(std::move(on_event));
    auto process = co_await QemuProcess::start(std::move(launch), std::move(handler));
    if (!process) co_return fail(process.error());
    core->process = std::move(*process);
    core->info.pid = core->process->pid();
    asio::co_spawn(executor, Core::supervise(core), log_failure);
    std::unique_ptr<Machine> machine(new QemuMachine(core));  // from here on, dropping it kills
    core->link->on_stream([weak = std::weak_ptr<Core>(core)](link::StreamPtr stream) {
        const auto self = weak.lock();
        if (self) self->accept(std::move(stream));
    });

    auto restored = co_await Core::restore(core, source.device_state->get());
    if (!restored) {
        Error error = restored.error().in("cloning a machine");
        if (core->exit) error.cause += "; " + core->exit->text;
        co_await Core::kill(core, error.text());
        co_return fail(std::move(error));
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    log::debug("machine_started", {{"id", core->id}, {"ms", took.count()}});
    co_return std::move(machine);
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

asio::awaitable<Result<Json>> QemuMachine::Core::ask_claim(std::shared_ptr<Core> core,
                                                           ClaimRequest request) {
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
        const auto settled = co_await settle_guest_clock(*core->link);
        if (!settled) result = fail(settled.error());
    }
    if (!result) {
        Error error = result.error().in("making a clone unlike the others");
        co_await Core::kill(core, error.text());  // fail closed
        co_return fail(std::move(error));
    }
    core->reply = claim_reply(*result);
    asio::co_spawn(core->executor, Core::correct_clock(core), log_failure);
    co_return Result<void>();
}

asio::awaitable<Result<void>> QemuMachine::check(std::chrono::milliseconds timeout) {
    const auto core = core_;
    if (core->gone || core->exit) co_return fail(ErrorCode::sandbox_gone, "the machine is gone");
    Json only_asks = {{"step_by_ns", 0}};
    auto answered = co_await link::call(*core->link, "clock", std::move(only_asks), timeout);
    if (!answered) co_return fail(answered.error().in("checking a machine"));
    co_return Result<void>();
}

asio::awaitable<void> QemuMachine::Core::kill(std::shared_ptr<Core> core, std::string reason) {
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
