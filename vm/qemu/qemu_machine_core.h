// The state of a QemuMachine and the coroutines that share it. Internal to vm/qemu: the Machine is
// its face (qemu_machine.cc), qemu_start.cc begins it, qemu_capture.cc copies it.
//
// supervise() waits for the process and is the only one that frees it; everything else that ends a
// machine sets the reason and kills. The first reason wins. Loop thread only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "vm/link/link.h"
#include "vm/qemu/qemu_machine.h"

namespace cellblock::vm {

struct QemuMachine::Core {
    boost::asio::any_io_executor executor;
    WorkerPool& workers;
    std::string id;
    MachineInfo info;
    GuestHardware hardware;
    std::shared_ptr<const Fd> ram;  // the template's; null: an adopted one's, out of reach
    // Null once ended. Shared, because a monitor command may be under way then.
    std::shared_ptr<QemuProcess> process;
    std::shared_ptr<link::Link> link;  // streams may be open after the end; null: detached
    boost::asio::steady_timer ended;   // cancelled when the process is gone
    boost::asio::steady_timer clock_timer;
    std::optional<ExitInfo> exit;  // the reason, as soon as one is known
    bool gone = false;
    bool claim_started = false;
    bool capturing = false;
    ClaimReply reply;
    std::vector<ExitHandler> handlers;
    StreamHandler on_stream;
    std::vector<link::StreamPtr> early_streams;  // opened by the guest before on_stream was set

    // Without a link: a new one.
    Core(boost::asio::any_io_executor executor_, WorkerPool& workers_, std::string id_,
         std::shared_ptr<link::Link> link_);

    void set_reason(ExitReason reason, std::string text);
    void accept(link::StreamPtr stream);
    Result<void> check_alive() const;
    std::shared_ptr<link::Link> detach_link();

    using Self = std::shared_ptr<Core>;
    static void handle_event(const std::weak_ptr<Core>& weak, const QmpEvent& event);
    static boost::asio::awaitable<void> end(Self core, ExitReason reason, std::string text);
    static boost::asio::awaitable<void> supervise(Self core);
    static boost::asio::awaitable<void> serve_link(Self core);
    static boost::asio::awaitable<Result<void>> settle_clock(Self core);
    static boost::asio::awaitable<void> correct_clock(Self core);
    static boost::asio::awaitable<Result<Json>> ask_claim(Self core, ClaimRequest request);
    static boost::asio::awaitable<void> kill(Self core, std::string reason);
    // A monitor command; the process may end, and be freed, between any two of them.
    static boost::asio::awaitable<Result<Json>> command(Self core, std::string name,
                                                        Json arguments = Json::object());
    // qemu_start.cc
    static boost::asio::awaitable<Result<void>> restore(Self core, CloneSource source,
                                                        MachineStatePointer state);
    // qemu_adopt.cc
    static boost::asio::awaitable<Result<void>> take_over(Self core);
    // qemu_capture.cc
    static boost::asio::awaitable<Result<MachineStatePointer>> capture(
        Self core, AfterCapture after, std::function<void()> while_stopped);
};

// For co_spawn: these coroutines answer through the machine's state.
void log_machine_failure(std::exception_ptr error);

}  // namespace cellblock::vm
