#include "vm/link/link.h"

#include <utility>

#include "vm/link/link_core.h"

namespace cellblock::vm::link {

using boost::asio::awaitable;

Link::Link(boost::asio::any_io_executor executor, Role role, LinkOptions options)
    : core_(std::make_shared<LinkCore>(std::move(executor), role, std::move(options))) {}

Link::Link(boost::asio::any_io_executor executor, Role role, LinkOptions options,
           const LinkImage& image)
    : Link(std::move(executor), role, std::move(options)) {
    core_->restore(image);
}

Link::~Link() {
    close(Error(ErrorCode::cancelled, "the sandbox's link was taken down"));
}

awaitable<Result<void>> Link::run(Fd connection) {
    return LinkCore::run(core_, std::move(connection));
}
StreamPtr Link::open(StreamKind kind, std::string params) {
    return core_->open(kind, std::move(params));
}
void Link::on_stream(std::function<void(StreamPtr)> handler) {
    core_->stream_handler = std::move(handler);
}
void Link::on_new_session(std::function<void()> handler) {
    core_->session_handler = std::move(handler);
}
LinkImage Link::image() const {
    return core_->image();
}
std::vector<StreamPtr> Link::take_inherited() {
    return core_->take_inherited();
}
void Link::disconnect() {
    core_->disconnect();
}
bool Link::connected() const {
    return core_->connected();
}
awaitable<Result<void>> Link::wait_connected(Deadline deadline) {
    return LinkCore::wait_connected(core_, deadline);
}
void Link::close(Error reason) {
    core_->close(std::move(reason));
}
bool Link::closed() const {
    return core_->error().has_value();
}
const std::optional<Error>& Link::error() const {
    return core_->error();
}
LinkStats Link::stats() const {
    return core_->stats();
}

}  // namespace cellblock::vm::link
