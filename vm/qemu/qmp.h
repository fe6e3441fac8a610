// QEMU's monitor protocol (QMP): one JSON object a line over a Unix socket, commands out, replies
// and events in.
//
// QEMU is treated as possibly taken over by its guest: lines are bounded, parsing cannot throw,
// every command has a deadline, and nothing that QEMU sends chooses an allocation of ours. Owner:
// QemuProcess. Loop thread only. Events are delivered in order, between replies, from the reader's
// coroutine: a handler must not block.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

namespace cellblock::vm {

struct QmpEvent {
    std::string name;  // "STOP", "SHUTDOWN", ...
    Json data;         // an object, perhaps empty

    QmpEvent() = default;
};

class QmpClient {
  public:
    using EventHandler = std::function<void(const QmpEvent&)>;

    // Connects, reads the greeting and leaves negotiation mode.
    static boost::asio::awaitable<Result<std::unique_ptr<QmpClient>>> connect(
        std::filesystem::path socket_path, EventHandler on_event, Deadline deadline);
    ~QmpClient();
    QmpClient(const QmpClient&) = delete;
    QmpClient& operator=(const QmpClient&) = delete;

    // The reply's "return" value. QEMU's own refusals come back as `io`, a broken or silent monitor
    // as connection_lost or timeout.
    boost::asio::awaitable<Result<Json>> execute(std::string command, Json arguments,
                                                 std::chrono::milliseconds timeout);
    // The same with a descriptor attached (getfd, add-fd). `fd` stays the caller's.
    boost::asio::awaitable<Result<Json>> execute_with_fd(std::string command, Json arguments,
                                                         int fd, std::chrono::milliseconds timeout);
    bool connected() const;
    // Ends what waits with connection_lost.
    void close();

  private:
    struct State;
    explicit QmpClient(std::shared_ptr<State> state) : state_(std::move(state)) {}
    static boost::asio::awaitable<void> read_lines(std::shared_ptr<State> state);

    std::shared_ptr<State> state_;
};

}  // namespace cellblock::vm
