// A running machine as a MachineState: the guest stands still for the time of one copy.
#include "base/log.h"
#include "vm/qemu/device_state.h"
#include "vm/qemu/guest_memory.h"
#include "vm/qemu/qemu_machine_core.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

struct CopiedMemory {
    std::vector<PageRun> runs;
    PageBuffer pages;

    CopiedMemory() = default;
};

// Worker.
Result<CopiedMemory> copy_memory(pid_t pid, int ram, std::uint64_t ram_bytes) {
    CopiedMemory copied;
    CB_TRY_ASSIGN(memory, GuestMemory::open(pid, ram, ram_bytes));
    CB_TRY_ASSIGN(runs, memory.private_pages());
    CB_TRY_ASSIGN(count, count_pages(runs, ram_bytes));
    CB_TRY_ASSIGN(pages, PageBuffer::allocate(count * guest_page_bytes));
    CB_TRY(memory.read(runs, pages.bytes()));
    copied.runs = std::move(runs);
    copied.pages = std::move(pages);
    return copied;
}

// One capture at a time.
class Capturing {
  public:
    explicit Capturing(bool& flag) : flag_(flag) { flag_ = true; }
    Capturing(const Capturing&) = delete;
    Capturing& operator=(const Capturing&) = delete;
    ~Capturing() { flag_ = false; }

  private:
    bool& flag_;
};

asio::awaitable<Result<MachineStatePointer>> copy_state(WorkerPool& workers,
                                                        std::shared_ptr<QemuProcess> process,
                                                        std::shared_ptr<const Fd> ram,
                                                        std::string template_key,
                                                        std::uint64_t ram_bytes) {
    auto state = std::make_shared<MachineState>();
    CB_CO_TRY_ASSIGN(devices, co_await save_device_state(*process));
    auto copy = [pid = process->pid(), ram, ram_bytes] {
        return copy_memory(pid, ram->get(), ram_bytes);
    };
    auto pending = workers.run(std::move(copy));
    CB_CO_TRY_ASSIGN(copied, co_await std::move(pending));
    state->template_key = std::move(template_key);
    state->ram_bytes = ram_bytes;
    state->runs = std::move(copied.runs);
    state->pages = std::move(copied.pages);
    state->devices = std::move(devices);
    co_return MachineStatePointer(std::move(state));
}

}  // namespace

asio::awaitable<Result<MachineStatePointer>> QemuMachine::Core::capture(
    Self core, AfterCapture after, std::function<void()> while_stopped) {
    CB_CO_TRY(core->check_alive());
    if (core->capturing) co_return fail(ErrorCode::conflict, "the sandbox is being copied already");
    if (!core->ram) {
        co_return fail(ErrorCode::not_supported, "the machine's memory cannot be read",
                       "the gateway needs CAP_SYS_PTRACE");
    }
    const Capturing capturing(core->capturing);
    const auto begin = std::chrono::steady_clock::now();
    Result<MachineStatePointer> state;
    auto stopped = co_await command(core, "stop");
    if (stopped && core->check_alive()) {
        while_stopped();
        state = co_await copy_state(core->workers, core->process, core->ram,
                                    core->info.template_key, core->hardware.ram_bytes);
    } else {
        state = fail(stopped ? core->check_alive().error() : stopped.error());
    }
    if (!state || after == AfterCapture::go_on) {
        auto gone_on = co_await command(core, "cont");
        if (!gone_on) {
            co_await end(core, ExitReason::process_died, "the guest could not go on");
            if (state) state = fail(gone_on.error());
        }
    }
    if (!state) co_return fail(state.error().in("copying a machine"));
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(
        std::chrono::steady_clock::now() - begin);
    log::debug("machine_captured", {{"id", core->id},
                                    {"us", took.count()},
                                    {"bytes", (*state)->pages.bytes().size()},
                                    {"runs", (*state)->runs.size()}});
    co_return state;
}

asio::awaitable<Result<MachineStatePointer>> QemuMachine::capture(
    AfterCapture after, std::function<void()> while_stopped) {
    co_return co_await Core::capture(core_, after, std::move(while_stopped));
}

asio::awaitable<Result<void>> QemuMachine::go_on() {
    CB_CO_TRY(co_await Core::command(core_, "cont"));
    co_return Result<void>();
}

}  // namespace cellblock::vm
