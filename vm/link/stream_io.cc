// The coroutines of one stream: they wait for data, credit, room and their turn.
//
// Each owns the state it works on. After every wait all conditions are checked again: a reset, a
// closed link or a new session may have happened. A cancelled coroutine must not co_await again
// (that throws), so the cancellation state is asked before each wait.
#include <array>
#include <utility>

#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/this_coro.hpp>

#include "vm/link/link_core.h"
#include "vm/link/stream_state.h"

namespace cellblock::vm::link {
namespace {

namespace this_coro = boost::asio::this_coro;
using boost::asio::awaitable;

bool is_cancelled(const boost::asio::cancellation_state& state) {
    return state.cancelled() != boost::asio::cancellation_type::none;
}

tl::unexpected<Error> cancelled(std::string_view doing) {
    return fail(ErrorCode::cancelled, std::string(doing) + " a stream was cancelled");
}

tl::unexpected<Error> second_reader() {
    return fail(ErrorCode::internal, "two coroutines read one stream at the same time");
}

}  // namespace

// One writer at a time, first come, first served; passed on when this goes out of scope.
class StreamState::Turn {
  public:
    explicit Turn(StreamState& stream) : stream_(stream) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { stream_.pass_turn(); }

  private:
    StreamState& stream_;
};

void StreamState::pass_turn() {
    half_written_ = false;
    if (write_turn_.empty()) {
        writing_ = false;
    } else {
        write_turn_.notify_one();  // writing_ stays set: the turn is now that writer's
    }
}

class StreamState::Reading {
  public:
    explicit Reading(StreamState& stream) : stream_(stream) { stream_.reading_ = true; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;
    ~Reading() {
        stream_.reading_ = false;
        stream_.awaiting_message_ = false;
    }

  private:
    StreamState& stream_;
};

awaitable<Result<void>> StreamState::write_parts(std::shared_ptr<StreamState> self, ByteView prefix,
                                                 std::span<const ByteView> parts) {
    PartCursor cursor(prefix, parts);
    if (self->writing_) {
        if (is_cancelled(co_await this_coro::cancellation_state)) co_return cancelled("writing");
        const WaitResult turn = co_await self->write_turn_.wait();
        if (turn != WaitResult::notified) co_return cancelled("writing");
    }
    self->writing_ = true;
    const Turn turn(*self);
    for (;;) {
        if (self->error_) co_return fail(*self->error_);
        if (self->end_queued_) {
            co_return fail(ErrorCode::internal, "a stream was written to after its end");
        }
        if (cursor.remaining() == 0) co_return Result<void>();
        if (self->queue_some(cursor) || self->spool_some(cursor)) continue;
        self->half_written_ = cursor.started();

        WaitResult woken = WaitResult::cancelled;
        if (!is_cancelled(co_await this_coro::cancellation_state)) {
            const bool only_room_is_missing = self->credit_ > 0 && self->spooled_.empty();
            WaitList& missing = only_room_is_missing ? self->core_->room() : self->can_write_;
            woken = co_await missing.wait();
        }
        if (woken == WaitResult::cancelled) {
            if (cursor.started()) {
                self->reset(Error(ErrorCode::cancelled, "a write was cancelled half-way"));
            }
            co_return cancelled("writing to");
        }
    }
}

awaitable<Result<void>> StreamState::write(std::shared_ptr<StreamState> self, ByteView data) {
    const std::array<ByteView, 1> parts = {data};
    co_return co_await write_parts(self, ByteView(), parts);
}

awaitable<Result<void>> StreamState::write_message(std::shared_ptr<StreamState> self,
                                                   std::span<const ByteView> parts) {
    std::uint64_t bytes = 0;
    for (const ByteView part : parts) bytes += part.size();
    if (bytes > UINT32_MAX) {
        co_return fail(ErrorCode::too_large, "a message over 4 GiB cannot go over the guest link");
    }
    std::array<std::byte, 4> prefix;
    store_le<std::uint32_t>(prefix.data(), static_cast<std::uint32_t>(bytes));
    co_return co_await write_parts(self, prefix, parts);
}

awaitable<Result<void>> StreamState::write_message(std::shared_ptr<StreamState> self,
                                                   ByteView message) {
    const std::array<ByteView, 1> parts = {message};
    co_return co_await write_message(self, std::span<const ByteView>(parts));
}

awaitable<Result<void>> StreamState::finish(std::shared_ptr<StreamState> self) {
    if (self->writing_) {
        if (is_cancelled(co_await this_coro::cancellation_state)) co_return cancelled("ending");
        const WaitResult turn = co_await self->write_turn_.wait();
        if (turn != WaitResult::notified) co_return cancelled("ending");
    }
    self->writing_ = true;
    const Turn turn(*self);
    if (self->end_queued_) co_return Result<void>();
    if (self->error_) co_return fail(*self->error_);
    self->end_queued_ = true;
    if (self->has_frame()) self->core_->frame_ready(*self);
    co_return Result<void>();
}

awaitable<Result<Bytes>> StreamState::read_some(std::shared_ptr<StreamState> self) {
    if (self->reading_) co_return second_reader();
    const Reading reading(*self);
    for (;;) {
        if (!self->inbox_.empty()) co_return self->take_chunk();
        if (self->end_received_) co_return Bytes();
        if (self->error_) co_return fail(*self->error_);
        if (is_cancelled(co_await this_coro::cancellation_state)) co_return cancelled("reading");
        const WaitResult woken = co_await self->can_read_.wait();
        if (woken == WaitResult::cancelled) co_return cancelled("reading");
    }
}

awaitable<Result<std::optional<Bytes>>> StreamState::read_message(std::shared_ptr<StreamState> self,
                                                                  std::size_t max_bytes) {
    if (self->reading_) co_return second_reader();
    const Reading reading(*self);
    for (;;) {
        auto complete = self->advance_message(max_bytes);
        if (!complete) {
            self->reset(complete.error());
            co_return fail(complete.error());
        }
        if (*complete) co_return std::optional<Bytes>(self->take_message());
        if (self->end_received_) {
            if (self->prefix_bytes_ == 0) co_return std::optional<Bytes>();
            co_return fail(ErrorCode::connection_lost, "the stream ended inside a message");
        }
        if (self->error_) co_return fail(*self->error_);
        if (is_cancelled(co_await this_coro::cancellation_state)) co_return cancelled("reading");
        self->awaiting_message_ = self->prefix_bytes_ == self->prefix_.size();
        const WaitResult woken = co_await self->can_read_.wait();
        self->awaiting_message_ = false;
        if (woken == WaitResult::cancelled) co_return cancelled("reading");
    }
}

}  // namespace cellblock::vm::link
