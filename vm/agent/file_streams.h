// The `file_read` and `file_write` streams: a file of any size in constant memory, the disk's work
// on worker threads, as the sandbox's user.
//
//   file_read   one JSON message, the file's stat or {"error":{"code","message","advice"}}; then
//   the
//               bytes, END. A read error in the middle is a RESET.
//   file_write  bytes until END, then one JSON message {"size"} back, END. An error is a RESET with
//               its code at once, since the host is writing; nothing of the file is left.
// Loop thread only.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/json.h"
#include "base/worker_pool.h"
#include "vm/agent/options.h"
#include "vm/link/stream.h"

namespace cellblock::vm::agent {

// The pool and the options must outlive the coroutines: the Agent owns all three.
boost::asio::awaitable<void> serve_file_read(link::StreamPtr stream, WorkerPool& pool,
                                             const Options& options);
boost::asio::awaitable<void> serve_file_write(link::StreamPtr stream, WorkerPool& pool,
                                              const Options& options);

// {"error":{...}} as calls and file streams say it.
Json error_reply(const Error& error);

}  // namespace cellblock::vm::agent
