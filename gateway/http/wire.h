// A connection's bytes: one fixed receive buffer, whole writes, and one deadline that the server's
// sweep enforces (no timer per operation).
//
// Owner: Connection. Loop thread only; one reader and one writer at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "gateway/http/any_stream.h"

namespace cellblock::gateway::http {

class Wire {
  public:
    Wire(std::unique_ptr<AnyStream> stream, std::chrono::milliseconds write_timeout);

    // What was received and not yet consumed.
    std::string_view buffered() const {
        return std::string_view(buffer_.data() + begin_, end_ - begin_);
    }
    void consume(std::size_t size);
    bool full() const { return end_ - begin_ == buffer_.size(); }

    boost::asio::awaitable<Result<void>> handshake(Deadline deadline);
    // Receives more behind what is buffered. 0: the peer sends no more. Precondition: not full.
    boost::asio::awaitable<Result<std::size_t>> fill(Deadline deadline);
    // All of it, in order. Fails with `timeout` when the peer takes nothing for the write timeout.
    boost::asio::awaitable<Result<void>> write(ByteView first, ByteView second = {},
                                               ByteView third = {});
    // `parts` must stay valid until it is done.
    boost::asio::awaitable<Result<void>> write_parts(std::span<const ByteView> parts);
    // Ends our direction. TLS waits for the peer's goodbye until the deadline.
    boost::asio::awaitable<void> shutdown(Deadline deadline);
    // Both directions, at once.
    void close();
    // Whatever runs then, or begins later, fails with `timeout`.
    void end_by(Deadline deadline);

    // Called by the sweep: cancels what runs past its deadline.
    void enforce_deadline(Deadline now);
    ProbeResult probe(ByteView bytes);
    // The descriptor for poll(2); -1 when closed.
    int native_handle();
    AnyStream& stream() { return *stream_; }

    std::uint64_t bytes_received() const { return bytes_received_; }
    std::uint64_t bytes_sent() const { return bytes_sent_; }

  private:
    Error error_from(const boost::system::error_code& ec, std::string_view doing) const;

    std::unique_ptr<AnyStream> stream_;
    const std::chrono::milliseconds write_timeout_;
    std::vector<char> buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    Deadline read_deadline_ = Deadline::max();
    Deadline write_deadline_ = Deadline::max();
    Deadline end_by_ = Deadline::max();
    bool timed_out_ = false;
    bool broken_ = false;
    bool writing_ = false;
    std::uint64_t bytes_received_ = 0;
    std::uint64_t bytes_sent_ = 0;
};

}  // namespace cellblock::gateway::http
