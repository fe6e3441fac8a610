// How a QemuMachine goes on that an earlier gateway started. Its QEMU listens on the same sockets,
// its guest runs, and its agent waits for a host: nothing of it depends on who asks.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/log.h"
#include "vm/link/call.h"
#include "vm/qemu/claim.h"
#include "vm/qemu/qemu_machine_core.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

MachineInfo info_of(const RunManifest& manifest) {
    MachineInfo info;
    info.driver = "qemu";
    const bool kvm = manifest.accelerator == to_string(AcceleratorKind::kvm);
    info.accelerator = kvm ? AcceleratorKind::kvm : AcceleratorKind::tcg;
    info.tier = kvm ? IsolationTier::hardware : IsolationTier::reduced;
    info.pid = manifest.pid;
    info.template_key = manifest.template_key;
    info.started_at = std::chrono::steady_clock::now();
    return info;
}

}  // namespace

// The earlier gateway may have gone while the guest stood still for a copy.
asio::awaitable<Result<void>> QemuMachine::Core::take_over(Self core) {
    CB_CO_TRY_ASSIGN(answer, co_await command(core, "query-status"));
    const auto status = optional_string(answer, "status");
    const std::string now = status ? status->value_or("") : "";
    if (now == "paused") {
        CB_CO_TRY(co_await command(core, "cont"));
    } else if (now != "running") {
        co_return fail(ErrorCode::sandbox_gone, "its QEMU is in the state \"" + now + "\"");
    }
    std::error_code error;
    if (!std::filesystem::exists(core->process->folder().path() / "port.sock", error)) {
        co_return fail(ErrorCode::not_found, "its run folder has no port.sock");
    }
    asio::co_spawn(core->executor, serve_link(core), log_machine_failure);
    const Deadline hello = std::chrono::steady_clock::now() + limits::machine_hello_timeout;
    CB_CO_TRY(co_await core->link->wait_connected(hello));
    Json nothing = Json::object();
    CB_CO_TRY_ASSIGN(kernels, co_await link::call(*core->link, "kernel.list", std::move(nothing),
                                                  limits::machine_claim_timeout));
    core->reply = claim_reply(kernels);
    co_return co_await settle_clock(core);
}

asio::awaitable<Result<std::unique_ptr<Machine>>> QemuMachine::adopt(std::shared_ptr<QemuHost> host,
                                                                     std::filesystem::path run_root,
                                                                     WorkerPool& workers,
                                                                     LeftMachine left) {
    const auto executor = co_await asio::this_coro::executor;
    auto core = std::make_shared<Core>(executor, workers, left.manifest.id, nullptr);
    core->hardware.ram_bytes = left.manifest.ram_bytes;
    core->info = info_of(left.manifest);
    core->hardware.accelerator = core->info.accelerator;
    core->claim_started = true;
    auto on_event = [weak = std::weak_ptr<Core>(core)](const QmpEvent& event) {
        Core::handle_event(weak, event);
    };
    QmpClient::EventHandler handler(std::move(on_event));
    auto process = co_await QemuProcess::adopt(host, run_root, left.manifest, std::move(handler));
    if (!process) {
        const std::string why = process.error().text();
        auto free = [run_root, id = left.manifest.id, why]() -> Result<void> {
            (void)free_left_machine(run_root, id, why);
            return {};
        };
        auto freed = workers.run(std::move(free));
        (void)co_await std::move(freed);
        co_return fail(process.error().in("taking over a machine"));
    }
    core->process = std::move(*process);
    auto ram = core->process->open_ram(left.manifest.ram_inode);
    if (ram) {
        core->ram = std::make_shared<const Fd>(std::move(*ram));
    } else {
        log::warning("adopted_ram_unreachable", {{"id", core->id}, {"error", ram.error().text()}});
    }
    asio::co_spawn(executor, Core::supervise(core), log_machine_failure);
    std::unique_ptr<Machine> machine(new QemuMachine(core));  // from here on, dropping it kills
    core->link->on_stream([weak = std::weak_ptr<Core>(core)](link::StreamPtr stream) {
        const auto self = weak.lock();
        if (self) self->accept(std::move(stream));
    });
    const auto taken = co_await Core::take_over(core);
    if (!taken) {
        Error error = taken.error().in("taking over a machine");
        co_await Core::kill(core, error.text());
        co_return fail(std::move(error));
    }
    asio::co_spawn(executor, Core::correct_clock(core), log_machine_failure);
    log::info("machine_adopted", {{"id", core->id}, {"pid", core->info.pid}});
    co_return std::move(machine);
}

}  // namespace cellblock::vm
