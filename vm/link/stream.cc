#include "vm/link/stream.h"

#include <utility>

#include "vm/link/stream_state.h"

namespace cellblock::vm::link {

using boost::asio::awaitable;

Stream::Stream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}

Stream::~Stream() {
    state_->abandon();
}

std::uint32_t Stream::id() const {
    return state_->id();
}
StreamKind Stream::kind() const {
    return state_->kind();
}
const std::string& Stream::params() const {
    return state_->params();
}
const std::optional<Error>& Stream::error() const {
    return state_->error();
}

awaitable<Result<Bytes>> Stream::read_some() {
    return StreamState::read_some(state_);
}
awaitable<Result<void>> Stream::write(ByteView data) {
    return StreamState::write(state_, data);
}
awaitable<Result<void>> Stream::finish() {
    return StreamState::finish(state_);
}
void Stream::reset(Error reason) {
    state_->reset(std::move(reason));
}
awaitable<Result<std::optional<Bytes>>> Stream::read_message(std::size_t max_bytes) {
    return StreamState::read_message(state_, max_bytes);
}
awaitable<Result<void>> Stream::write_message(std::span<const ByteView> parts) {
    return StreamState::write_message(state_, parts);
}
awaitable<Result<void>> Stream::write_message(ByteView message) {
    return StreamState::write_message(state_, message);
}

}  // namespace cellblock::vm::link
