// How a QemuMachine begins: a clone of its template, or of another machine's state.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/ids.h"
#include "base/log.h"
#include "vm/qemu/device_state.h"
#include "vm/qemu/guest_memory.h"
#include "vm/qemu/qemu_machine_core.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

// Worker. Before the guest runs: no translated code knows the old pages.
Result<void> write_memory(pid_t pid, int ram, const MachineState& state) {
    CB_TRY_ASSIGN(memory, GuestMemory::open(pid, ram, state.ram_bytes));
    return memory.write(state.runs, state.pages.bytes());
}

QemuLaunch launch_of(const std::shared_ptr<QemuHost>& host, const CloneSource& source,
                     const std::filesystem::path& run_root, const std::string& id) {
    QemuLaunch launch;
    launch.host = host;
    launch.run_root = run_root;
    launch.id = id;
    launch.template_key = source.template_key;
    launch.hardware = source.hardware;
    launch.start = QemuStart::restore;
    launch.ram = source.ram->get();
    launch.root = source.root->get();
    return launch;
}

MachineInfo info_of(const CloneSource& source, pid_t pid, Deadline begin) {
    MachineInfo info;
    info.driver = "qemu";
    info.accelerator = source.hardware.accelerator;
    info.tier = source.hardware.accelerator == AcceleratorKind::kvm ? IsolationTier::hardware
                                                                    : IsolationTier::reduced;
    info.pid = pid;
    info.template_key = source.template_key;
    info.started_at = begin;
    return info;
}

Result<void> check_fits(const RestoreRequest& request, const CloneSource& source) {
    if (!request.state) return {};
    if (request.state->template_key != source.template_key ||
        request.state->ram_bytes != source.hardware.ram_bytes) {
        return fail(ErrorCode::conflict, "the state belongs to another template",
                    "make it anew in a sandbox of this version");
    }
    return {};
}

}  // namespace

asio::awaitable<Result<void>> QemuMachine::Core::restore(Self core, CloneSource source,
                                                         MachineStatePointer state) {
    const auto process = core->process;
    Fd devices;
    if (state) {
        auto write = [pid = process->pid(), ram = source.ram, state] {
            return write_memory(pid, ram->get(), *state);
        };
        auto pending = core->workers.run(std::move(write));
        CB_CO_TRY(co_await std::move(pending));
        CB_CO_TRY_ASSIGN(file, device_state_file(state->devices));
        devices = std::move(file);
    }
    CB_CO_TRY(
        co_await load_device_state(*process, devices ? devices.get() : source.device_state->get()));
    CB_CO_TRY(core->check_alive());
    asio::co_spawn(core->executor, serve_link(core), log_machine_failure);
    CB_CO_TRY(co_await command(core, "cont"));
    const Deadline hello = std::chrono::steady_clock::now() + limits::machine_hello_timeout;
    co_return co_await core->link->wait_connected(hello);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> QemuMachine::start(std::shared_ptr<QemuHost> host,
                                                                     CloneSource source,
                                                                     std::filesystem::path run_root,
                                                                     WorkerPool& workers,
                                                                     RestoreRequest request) {
    CB_CO_TRY(check_fits(request, source));
    const auto executor = co_await asio::this_coro::executor;
    const Deadline begin = std::chrono::steady_clock::now();
    const bool keep_link = request.link != nullptr;
    auto core = std::make_shared<Core>(executor, workers, new_short_id(), std::move(request.link));
    core->hardware = source.hardware;
    core->ram = source.ram;
    auto on_event = [weak = std::weak_ptr<Core>(core)](const QmpEvent& event) {
        Core::handle_event(weak, event);
    };
    QmpClient::EventHandler handler(std::move(on_event));
    QemuLaunch launch = launch_of(host, source, run_root, core->id);
    CB_CO_TRY_ASSIGN(process, co_await QemuProcess::start(std::move(launch), std::move(handler)));
    core->process = std::move(process);
    core->info = info_of(source, core->process->pid(), begin);
    asio::co_spawn(executor, Core::supervise(core), log_machine_failure);
    std::unique_ptr<Machine> machine(new QemuMachine(core));  // from here on, dropping it kills
    core->link->on_stream([weak = std::weak_ptr<Core>(core)](link::StreamPtr stream) {
        const auto self = weak.lock();
        if (self) self->accept(std::move(stream));
    });

    auto restored = co_await Core::restore(core, std::move(source), request.state);
    if (restored && request.restored_as == RestoredAs::same) {
        core->claim_started = true;
        restored = co_await Core::settle_clock(core);
        asio::co_spawn(executor, Core::correct_clock(core), log_machine_failure);
    }
    if (!restored) {
        Error error =
            restored.error().in(request.state ? "restoring a machine" : "cloning a machine");
        if (core->exit) error.cause += "; " + core->exit->text;
        if (keep_link) core->detach_link();
        co_await Core::kill(core, error.text());
        co_return fail(std::move(error));
    }
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::steady_clock::now() - begin);
    log::debug(
        "machine_started",
        {{"id", core->id},
         {"ms", took.count()},
         {"copied_bytes", request.state ? request.state->pages.bytes().size() : std::size_t{0}}});
    co_return std::move(machine);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> QemuMachine::clone(std::shared_ptr<QemuHost> host,
                                                                     CloneSource source,
                                                                     std::filesystem::path run_root,
                                                                     WorkerPool& workers) {
    co_return co_await start(std::move(host), std::move(source), std::move(run_root), workers,
                             RestoreRequest());
}

asio::awaitable<Result<std::unique_ptr<Machine>>> QemuMachine::restore(
    std::shared_ptr<QemuHost> host, CloneSource source, std::filesystem::path run_root,
    WorkerPool& workers, RestoreRequest request) {
    co_return co_await start(std::move(host), std::move(source), std::move(run_root), workers,
                             std::move(request));
}

}  // namespace cellblock::vm
