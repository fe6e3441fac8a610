// Limits of the ZeroMQ door, with their reasons: apart from base/limits.h as client_limits.h is.
#pragma once

#include "base/client_limits.h"

namespace cellblock::limits {

// --- kernel-proxy/zmq ----------------------------------------------------------------------------
// What a ROUTER puts before a message: one for each hop. Proxies of Jupyter add one at most.
inline constexpr std::size_t zmq_identities_max = 8;
// A connection file is half a kilobyte; clients add fields of their own.
inline constexpr std::size_t connection_file_max_bytes = 64 * KiB;
// What waits to be written to the gateway; past it clients wait in their sockets.
inline constexpr std::size_t zmq_upstream_waiting_max_bytes = 8 * MiB;
// A subscriber whose queue is full holds the others back this long; then it misses messages.
inline constexpr seconds zmq_subscriber_patience{1};
// An XPUB cannot say when it has room again: it is asked this often, while a message waits.
inline constexpr milliseconds zmq_retry_interval{5};
// The loop looks at its deadlines at least this often.
inline constexpr milliseconds zmq_poll_max{60'000};
// After the end, for replies on their way to a client that reads.
inline constexpr milliseconds zmq_linger{1000};
// Clients restart a kernel by a new process: after a shutdown that announced it, it has this long
// to take the kernel over; after a kill without a word, that long. Then the kernel is deleted.
inline constexpr seconds kernel_handover_timeout{30};
inline constexpr seconds kernel_orphan_grace{5};
// A kernel starts within 30 s under emulation without a warm pool; a call to it takes milliseconds.
inline constexpr seconds kernel_create_timeout{300};
inline constexpr seconds kernel_call_timeout{30};

}  // namespace cellblock::limits
