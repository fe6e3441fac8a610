#include "vm/qemu/device_state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/files.h"
#include "base/limits.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

constexpr int fd_set = 7;  // set 1 is the root image's

// Longer than for other commands: many machines may be starting at once.
asio::awaitable<Result<Json>> ask(QemuProcess& process, std::string command, Json arguments) {
    co_return co_await process.qmp().execute(std::move(command), std::move(arguments),
                                             limits::qemu_start_timeout);
}

std::string path_of(const Fd& fd) {
    return "/proc/self/fd/" + std::to_string(fd.get());
}

Result<Fd> make_memfd() {
    Fd fd(::memfd_create("cellblock-devices", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!fd) return fail(error_from_errno(errno, "make a memfd"));
    return fd;
}

}  // namespace

Result<Fd> device_state_file(std::string_view state) {
    CB_TRY_ASSIGN(fd, make_memfd());
    CB_TRY(write_all(fd.get(), state));
    constexpr int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (::fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
        return fail(error_from_errno(errno, "seal a device state"));
    }
    return fd;
}

asio::awaitable<Result<std::string>> save_device_state(QemuProcess& process) {
    CB_CO_TRY_ASSIGN(memory, make_memfd());
    // QEMU matches a set's descriptor by its access mode, so it must be write-only.
    CB_CO_TRY_ASSIGN(write_only, open_file(path_of(memory), O_WRONLY));
    Json set = {{"fdset-id", fd_set}};
    CB_CO_TRY(co_await process.qmp().execute_with_fd("add-fd", set, write_only.get(),
                                                     limits::qemu_start_timeout));
    Json target = {{"filename", "/dev/fdset/" + std::to_string(fd_set)}, {"live", false}};
    auto saved = co_await ask(process, "xen-save-devices-state", std::move(target));
    // Or the next save would find this descriptor first.
    CB_CO_TRY(co_await ask(process, "remove-fd", std::move(set)));
    if (!saved) co_return fail(saved.error().in("saving the guest's devices"));
    CB_CO_TRY_ASSIGN(state, read_file(path_of(memory), limits::qemu_file_max_bytes));
    if (state.empty()) co_return fail(ErrorCode::io, "QEMU saved an empty device state");
    co_return std::move(state);
}

asio::awaitable<Result<void>> load_device_state(QemuProcess& process, int state) {
    // A file description of its own: the offset is QEMU's.
    CB_CO_TRY_ASSIGN(input, open_file("/proc/self/fd/" + std::to_string(state), O_RDONLY));
    Json name = {{"fdname", "state"}};
    CB_CO_TRY(co_await process.qmp().execute_with_fd("getfd", std::move(name), input.get(),
                                                     limits::qemu_start_timeout));
    Json uri = {{"uri", "fd:state"}};
    CB_CO_TRY(co_await ask(process, "migrate-incoming", std::move(uri)));
    const Deadline deadline = std::chrono::steady_clock::now() + limits::qemu_start_timeout;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    while (true) {
        CB_CO_TRY_ASSIGN(status, co_await ask(process, "query-status", Json::object()));
        const auto text = optional_string(status, "status");
        const std::string now = text ? text->value_or("") : "";
        if (now == "paused" || now == "prelaunch") co_return Result<void>();
        if (now != "inmigrate") {
            co_return fail(ErrorCode::io, "QEMU is " + now + " after loading the device state");
        }
        if (std::chrono::steady_clock::now() > deadline) {
            co_return fail(ErrorCode::timeout, "QEMU did not load the device state in time");
        }
        timer.expires_after(std::chrono::milliseconds(1));
        co_await timer.async_wait(as_tuple_awaitable);
    }
}

}  // namespace cellblock::vm
