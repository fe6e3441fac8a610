#include "kernel-proxy/attachment.h"

#include <array>
#include <utility>

#include "kernel-proxy/channels.h"

namespace cellblock::kernel_proxy {

Attachment::Attachment(std::shared_ptr<Channels> channels, std::shared_ptr<Session> session,
                       std::function<void()> wake)
    : channels_(std::move(channels)), session_(std::move(session)), wake_(std::move(wake)) {
    session_->attached = this;
}

Attachment::~Attachment() {
    channels_->detach(*session_, this);
}

void Attachment::end(EndReason reason, std::string text) {
    if (end_) return;
    end_ = End{reason, std::move(text)};
    wake();
}

void Attachment::wake() const {
    if (wake_) wake_();
}

std::optional<Attachment::Delivery> Attachment::next() {
    if (end_ && end_->reason != EndReason::kernel_gone) return std::nullopt;
    auto delivery = deliver_next();
    if (delivery) channels_->moved();
    return delivery;
}

std::optional<Attachment::Delivery> Attachment::deliver_next() {
    const Journal& journal = channels_->journal();
    Position& next = session_->next;
    if (next < journal.begin()) {
        missed_ += journal.begin() - next;
        next = journal.begin();
    }
    for (; next < journal.end(); ++next) {
        const Journal::Entry& entry = journal.at(next);
        if (!entry.is_for(session_->name)) continue;
        if (!entry.message) {
            ++missed_;
            continue;
        }
        if (missed_ > 0) return gap_notice(entry.message);
        return Delivery(entry.message, next++);
    }
    return std::nullopt;
}

// A line of standard error where the gap is, in the cell whose output goes on behind it.
Attachment::Delivery Attachment::gap_notice(const SharedMessage& before) {
    const std::string text = "[Cellblock: " + std::to_string(std::exchange(missed_, 0)) +
                             " messages of output are missing here: more came than is kept for "
                             "a client that is away]\n";
    const Json content = {{"name", "stderr"}, {"text", text}};
    const auto routing = read_routing(*before);
    const Request notice =
        make_request(Channel::iopub, "stream", routing ? routing->session : std::string(), content);
    const std::array<ByteView, 4> frames = {notice.frames[0], before->parent_header(),
                                            notice.frames[2], notice.frames[3]};
    auto message = make_kernel_message(Channel::iopub, frames);
    // Four small frames always fit; the position is that of the message before the gap.
    return Delivery(std::make_shared<const KernelMessage>(std::move(message).value()),
                    session_->next - 1);
}

void Attachment::confirm(Position position) {
    if (session_->attached != this || position >= session_->next ||
        position + 1 < session_->confirmed)
        return;
    session_->confirms = true;
    session_->confirmed = position + 1;
}

boost::asio::awaitable<Result<void>> Attachment::send(const ClientMessage& message) {
    const auto channels = channels_;
    const std::string session = session_->name;
    co_return co_await channels->send(message, session);
}

}  // namespace cellblock::kernel_proxy
