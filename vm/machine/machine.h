// The driver interface: one microVM that holds one sandbox. Nothing above it knows which driver
// runs.
//
// Life: a driver starts a Machine (running, its link connected, nobody's yet); claim() makes it
// different from every other clone of its template and gives it to one sandbox; kill() or the guest
// itself ends it. The handshake fails closed: when claim() returns an error the machine is dead.
//
// Owner: the pool until it is taken, then the sandbox. Loop thread only. The destructor kills.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "vm/machine/machine_state.h"

namespace cellblock::vm::link {
class Link;
class Stream;
}  // namespace cellblock::vm::link

namespace cellblock::vm {

enum class AcceleratorKind { kvm, tcg };
std::string_view to_string(AcceleratorKind kind);

// hardware: the CPU's virtualization holds the guest. reduced: an emulator does, inside a jail.
enum class IsolationTier { hardware, reduced };
std::string_view to_string(IsolationTier tier);

struct MachineInfo {
    std::string driver;  // "qemu"
    AcceleratorKind accelerator = AcceleratorKind::tcg;
    IsolationTier tier = IsolationTier::reduced;
    pid_t pid = -1;
    std::string template_key;
    Deadline started_at;  // steady clock

    MachineInfo() = default;
};

// What makes a clone somebody's. Entropy, the wall clock and the machine id are added by the
// driver.
struct ClaimRequest {
    std::uint64_t memory_limit_bytes = 0;  // 0: the template's whole RAM
    std::map<std::string, std::string> environment;
    std::string hostname = "sandbox";
    std::string working_directory;  // empty: the user's home

    ClaimRequest() = default;
};

struct ClaimedKernel {
    std::string kernel_id;
    std::string name;
    std::int64_t pid = 0;

    ClaimedKernel() = default;
};

struct ClaimReply {
    std::int64_t clock_error_ns = 0;  // how far the guest's clock was off before it was stepped
    std::vector<ClaimedKernel> kernels;

    ClaimReply() = default;
};

enum class ExitReason {
    killed,             // we did it
    guest_shutdown,     // the guest powered off, rebooted or panicked
    accelerator_error,  // KVM gave up on the guest: start the next one without it
    guest_protocol,     // the guest broke the link's rules
    process_died,       // the VM's process ended by itself or by somebody else's hand
};
std::string_view to_string(ExitReason reason);

struct ExitInfo {
    ExitReason reason = ExitReason::killed;
    std::string text;          // one sentence
    std::string console_tail;  // the last kilobytes of the guest's console; guest text, untrusted

    ExitInfo() = default;
};

struct MemoryUsage {
    std::uint64_t private_bytes = 0;       // what this machine alone costs
    std::uint64_t proportional_bytes = 0;  // PSS: with its share of the template's pages
    std::uint64_t resident_bytes = 0;

    MemoryUsage() = default;
};

// What a captured guest does next.
enum class AfterCapture { go_on, stay_stopped };

class Machine {
  public:
    using ExitHandler = std::function<void(const ExitInfo&)>;
    using StreamHandler = std::function<void(std::shared_ptr<link::Stream>)>;

    virtual ~Machine() = default;

    virtual const std::string& id() const = 0;
    virtual const MachineInfo& info() const = 0;
    virtual link::Link& link() = 0;
    virtual bool alive() const = 0;
    // Streams that the guest opens, among them those it opened before there was a handler (the link
    // runs from the start, and the agent opens `events` at once). Use this, not link().on_stream().
    virtual void on_stream(StreamHandler handler) = 0;

    // What claim() will do, done once ahead in a machine that nobody waits for: an emulator is
    // several times faster at what it has translated before. The machine stays unclaimed.
    virtual boost::asio::awaitable<Result<void>> rehearse_claim() = 0;
    // Once. On any error the machine has been killed. Also starts the periodic clock correction.
    virtual boost::asio::awaitable<Result<void>> claim(ClaimRequest request) = 0;
    // What the guest confirmed; empty before claim().
    virtual const ClaimReply& claimed() const = 0;
    // A short question to the agent: shows that the guest answers.
    virtual boost::asio::awaitable<Result<void>> check(std::chrono::milliseconds timeout) = 0;

    // Stops the guest, calls `while_stopped` on the loop (for what must be of the same moment: see
    // link::LinkImage), copies what the guest has written, and lets it go on. On an error it goes
    // on as well. One at a time: `conflict` otherwise.
    virtual boost::asio::awaitable<Result<MachineStatePointer>> capture(
        AfterCapture after, std::function<void()> while_stopped) = 0;
    // After a capture that left the guest stopped.
    virtual boost::asio::awaitable<Result<void>> go_on() = 0;
    // The host's end of the link, for the machine that the state is restored into. This machine is
    // to be killed next: it has no link any more, and link() must not be called.
    virtual std::shared_ptr<link::Link> detach_link() = 0;

    // What a later process is to know that finds the machine (see LeftMachine); replaces the last
    // note. A machine without one is nobody's, and is ended when it is found.
    virtual Result<void> set_note(std::string_view note) = 0;

    // Ends it in bounded time and frees its process, folder and descriptors. Never fails halfway;
    // a second call waits for the first.
    virtual boost::asio::awaitable<void> kill(std::string reason) = 0;
    // Called once, on the loop, when the machine has ended; at once (posted) if it already has.
    virtual void on_exit(ExitHandler handler) = 0;

    virtual boost::asio::awaitable<Result<MemoryUsage>> memory_usage() = 0;
    // The last kilobytes of the guest's console. Guest text, untrusted.
    virtual boost::asio::awaitable<std::string> console_tail() = 0;
};

// How anything gets a machine: a driver bound to a template. The machine runs and is not claimed.
using MachineStarter = std::function<boost::asio::awaitable<Result<std::unique_ptr<Machine>>>()>;

// A machine that an earlier process left running, and what can be done with it.
struct FoundMachine {
    std::string id;
    std::string note;
    // Goes on with it. On an error it is gone.
    MachineStarter take_over;
    std::function<boost::asio::awaitable<void>(std::string why)> end;

    FoundMachine() = default;
};

// copy: one of several of its state, to be claimed. same: the only one, which goes on as what it
// was; its clock is right when it is handed out, and claim() is not called.
enum class RestoredAs { copy, same };

struct RestoreRequest {
    MachineStatePointer state;
    // The host's end that belongs to the state. Null: a new one, and the guest drops its streams.
    std::shared_ptr<link::Link> link;
    RestoredAs restored_as = RestoredAs::copy;

    RestoreRequest() = default;
};
// A driver bound to a template starts a machine from a state of one of its machines. After an
// error the link may be used again if it was never connected meanwhile.
using MachineRestorer =
    std::function<boost::asio::awaitable<Result<std::unique_ptr<Machine>>>(RestoreRequest)>;

}  // namespace cellblock::vm
