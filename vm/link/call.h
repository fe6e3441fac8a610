// Calls over a guest link: one JSON message each way on a `call` stream.
//
//   request  {"method": "kernel.start", "params": {...}}, END
//   reply    {"result": {...}}, or {"error": {"code": "not_found", "message": "...", "advice":
//   "..."}}
//
// The host calls, the guest's agent serves.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"
#include "vm/link/link.h"
#include "vm/link/stream.h"

namespace cellblock::vm::link {

// The reply's "result", always an object. Errors: the peer's own (its code, cause and advice);
// `timeout`, which covers everything including a missing connection; guest_protocol for a reply
// that is not as above; what closed the link. `link` must outlive only the start of the call.
boost::asio::awaitable<Result<Json>> call(Link& link, std::string method, Json params,
                                          std::chrono::milliseconds timeout);

// Serves `call` streams. Loop thread only; running calls keep the handlers alive, not this object.
class CallServer {
  public:
    // A coroutine from "params" (an object) to "result" (an object). The function object is kept
    // until the last call has ended, so a lambda with captures may be a coroutine here.
    using Handler = std::function<boost::asio::awaitable<Result<Json>>(Json params)>;

    explicit CallServer(boost::asio::any_io_executor executor);

    // Before the first serve(); a second handler for one method replaces the first.
    void add(std::string method, Handler handler);
    // Spawns the call's coroutine: reads the request, runs the handler, replies. A handler that
    // throws is answered with `internal`. When the caller goes away (RESET) the handler still runs
    // to its end.
    void serve(StreamPtr stream);

  private:
    boost::asio::any_io_executor executor_;
    std::shared_ptr<std::map<std::string, Handler>> handlers_;
};

}  // namespace cellblock::vm::link
