// QEMU's devices in and out: some 13 KB, through descriptors, because the jailed QEMU can open no
// file of ours. Loop thread only. The process must outlive the call.
#pragma once

#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "vm/qemu/qemu_process.h"

namespace cellblock::vm {

// The state in a sealed memfd, as load_device_state() takes it.
Result<Fd> device_state_file(std::string_view state);

// Of a guest that was stopped.
boost::asio::awaitable<Result<std::string>> save_device_state(QemuProcess& process);
// Into a QEMU that waits for it (QemuStart::restore); the guest is paused then. `state` stays the
// caller's.
boost::asio::awaitable<Result<void>> load_device_state(QemuProcess& process, int state);

}  // namespace cellblock::vm
