#include "gateway/http/wire.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>

#include <boost/asio/error.hpp>

#include "base/awaitable.h"
#include "base/limits.h"

namespace cellblock::gateway::http {

namespace asio = boost::asio;

Wire::Wire(std::unique_ptr<AnyStream> stream, std::chrono::milliseconds write_timeout)
    : stream_(std::move(stream)),
      write_timeout_(write_timeout),
      buffer_(limits::http_head_max_bytes) {}

void Wire::consume(std::size_t size) {
    begin_ += std::min(size, end_ - begin_);
    if (begin_ == end_) begin_ = end_ = 0;
}

Error Wire::error_from(const boost::system::error_code& ec, std::string_view doing) const {
    if (timed_out_) return Error(ErrorCode::timeout, "the client was too slow");
    if (ec == asio::error::operation_aborted) {
        return Error(ErrorCode::cancelled, "the request was cancelled");
    }
    return Error(ErrorCode::connection_lost,
                 std::string(doing) + " the client failed: " + ec.message());
}

asio::awaitable<Result<void>> Wire::handshake(Deadline deadline) {
    read_deadline_ = deadline;
    const auto [ec] = co_await stream_->async_handshake(as_tuple_awaitable);
    read_deadline_ = Deadline::max();
    if (ec) stream_->refuse_handshake(ec);
    if (ec) co_return fail(error_from(ec, "the TLS handshake with"));
    co_return Result<void>();
}

asio::awaitable<Result<std::size_t>> Wire::fill(Deadline deadline) {
    if (begin_ > 0) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
        end_ -= begin_;
        begin_ = 0;
    }
    read_deadline_ = deadline;
    const asio::mutable_buffer room(buffer_.data() + end_, buffer_.size() - end_);
    const auto [ec, size] = co_await stream_->async_read_some(room, as_tuple_awaitable);
    read_deadline_ = Deadline::max();
    end_ += size;
    bytes_received_ += size;
    if (ec == asio::error::eof) co_return std::size_t{0};
    if (ec) {
        if (ec != asio::error::operation_aborted) broken_ = true;
        co_return fail(error_from(ec, "receiving from"));
    }
    co_return size;
}

asio::awaitable<Result<void>> Wire::write(ByteView first, ByteView second, ByteView third) {
    const std::array<ByteView, 3> parts = {first, second, third};
    co_return co_await write_parts(parts);
}

asio::awaitable<Result<void>> Wire::write_parts(std::span<const ByteView> parts) {
    if (broken_) co_return fail(ErrorCode::connection_lost, "the client is gone");
    writing_ = true;
    std::size_t part = 0;    // the first that is not all sent
    std::size_t offset = 0;  // what is sent of it
    while (true) {
        AnyStream::WriteBuffers buffers;
        std::size_t count = 0;
        for (std::size_t i = part; i < parts.size() && count < buffers.size(); ++i) {
            const ByteView rest = i == part ? parts[i].subspan(offset) : parts[i];
            if (!rest.empty()) buffers[count++] = asio::const_buffer(rest.data(), rest.size());
        }
        if (count == 0) break;
        write_deadline_ = std::chrono::steady_clock::now() + write_timeout_;
        const auto [ec, size] = co_await stream_->async_write_some(buffers, as_tuple_awaitable);
        write_deadline_ = Deadline::max();
        bytes_sent_ += size;
        if (ec) {
            // After a torn write nothing that follows would be understood.
            broken_ = true;
            writing_ = false;
            co_return fail(error_from(ec, "sending to"));
        }
        offset += size;
        while (part < parts.size() && offset >= parts[part].size()) {
            offset -= parts[part].size();
            ++part;
        }
    }
    writing_ = false;
    co_return Result<void>();
}

asio::awaitable<void> Wire::shutdown(Deadline deadline) {
    if (broken_ || native_handle() < 0) co_return;
    read_deadline_ = deadline;
    const auto [ec] = co_await stream_->async_shutdown(as_tuple_awaitable);
    read_deadline_ = Deadline::max();
    std::ignore = ec;  // the connection ends either way
}

void Wire::close() {
    broken_ = true;
    boost::system::error_code ignored;
    stream_->lowest_layer().close(ignored);
}

void Wire::end_by(Deadline deadline) {
    end_by_ = std::min(end_by_, deadline);
}

void Wire::enforce_deadline(Deadline now) {
    if (now < read_deadline_ && now < write_deadline_ && now < end_by_) return;
    timed_out_ = true;
    read_deadline_ = write_deadline_ = Deadline::max();
    boost::system::error_code ignored;
    stream_->lowest_layer().cancel(ignored);
}

ProbeResult Wire::probe(ByteView bytes) {
    if (broken_) return ProbeResult::broken;
    if (writing_) return ProbeResult::unsupported;
    const ProbeResult result = stream_->probe(bytes);
    if (result == ProbeResult::sent) bytes_sent_ += bytes.size();
    if (result == ProbeResult::broken) broken_ = true;
    return result;
}

int Wire::native_handle() {
    return stream_->lowest_layer().is_open() ? stream_->lowest_layer().native_handle() : -1;
}

}  // namespace cellblock::gateway::http
