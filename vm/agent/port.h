// The byte stream's guest end: one connection after the other, waited for without polling a
// descriptor that is always ready.
//
// Guest: the virtio-serial port, opened once and kept (opening it again throws away what waits in
// it). While no host is connected the port is readable for ever (EOF) and poll() says POLLHUP; the
// driver raises SIGIO when a host comes, which is what we wait for, with a slow look as a net.
// Rootless: a Unix socket that we listen on. Owner: Agent. Loop thread only.
#pragma once

#include <memory>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "vm/agent/options.h"

namespace cellblock::vm::agent {

class Port {
  public:
    virtual ~Port() = default;
    // The next connection: resumes when a host is there.
    virtual boost::asio::awaitable<Result<Fd>> next() = 0;
    // Ends a pending next() with an error.
    virtual void close() = 0;
};

Result<std::unique_ptr<Port>> open_port(boost::asio::any_io_executor executor,
                                        const Options& options);

}  // namespace cellblock::vm::agent
