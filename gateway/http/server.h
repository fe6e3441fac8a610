// The HTTP server: listeners, one coroutine per connection, one sweep for deadlines and vanished
// clients, graceful shutdown.
//
// Owner: the composition root. Loop thread only. The executor's loop must have run out of this
// server's coroutines (shutdown()) or be stopped before the worker pool and the registry go.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>

#include "gateway/http/server_core.h"

namespace cellblock::gateway::http {

// Whether a server could listen there now, and where that is: said before anything slow or
// exclusive is begun.
Result<boost::asio::ip::tcp::endpoint> check_listen(const boost::asio::any_io_executor& executor,
                                                    const std::string& address);

class Server {
  public:
    Server(boost::asio::any_io_executor executor, ServerOptions options, Router router,
           std::shared_ptr<const Guard> guard, metrics::Registry& registry, WorkerPool& workers);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;
    ~Server();

    // "127.0.0.1:8888", "[::1]:0", "localhost:8888". May be called for several addresses.
    Result<void> listen(const std::string& address);
    // Where it listens; port 0 is resolved.
    std::vector<boost::asio::ip::tcp::endpoint> endpoints() const;
    // Begins to accept.
    void start();
    // Stops accepting, lets answers finish for `grace`; then `last_words` may end what the open
    // answers wait for, so that they end with a reason; then cuts off. Resumes when no connection
    // is left.
    using LastWords = std::function<boost::asio::awaitable<void>()>;
    boost::asio::awaitable<void> shutdown(std::chrono::milliseconds grace,
                                          LastWords last_words = nullptr);
    std::size_t connections() const { return core_->connections.size(); }

  private:
    boost::asio::awaitable<bool> wait_until_empty(Deadline deadline);

    using Acceptor = boost::asio::ip::tcp::acceptor;

    static boost::asio::awaitable<void> accept_loop(std::shared_ptr<ServerCore> core,
                                                    std::shared_ptr<Acceptor> acceptor);
    static boost::asio::awaitable<void> sweep_loop(
        std::shared_ptr<ServerCore> core, std::shared_ptr<boost::asio::steady_timer> timer);
    static void admit(const std::shared_ptr<ServerCore>& core, TcpSocket socket,
                      const boost::asio::ip::tcp::endpoint& peer);

    boost::asio::any_io_executor executor_;
    std::shared_ptr<ServerCore> core_;
    std::vector<std::shared_ptr<Acceptor>> acceptors_;
    std::shared_ptr<boost::asio::steady_timer> sweep_timer_;
};

}  // namespace cellblock::gateway::http
