#include "kernel-proxy/zmq/publisher.h"

#include "base/limits.h"
#include "base/log.h"

namespace cellblock::kernel_proxy::zmq_door {

using std::chrono::steady_clock;

bool Publisher::send(Multipart& message) {
    for (std::size_t i = 0; i < message.size(); ++i) {
        const auto more = i + 1 < message.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
        // Only the first part can be refused: the mark counts whole messages.
        if (!socket_.send(message[i], more | zmq::send_flags::dontwait)) return false;
    }
    return true;
}

void Publisher::send_to_whom_it_fits(Multipart& message) {
    socket_.set(zmq::sockopt::xpub_nodrop, 0);
    send(message);
    socket_.set(zmq::sockopt::xpub_nodrop, 1);
}

void Publisher::publish(Multipart message) {
    if (send(message)) {
        patience_lost_ = false;
        return;
    }
    if (patience_lost_) return send_to_whom_it_fits(message);
    waiting_ = std::move(message);
    patient_until_ = steady_clock::now() + limits::zmq_subscriber_patience;
    retry_at_ = steady_clock::now() + limits::zmq_retry_interval;
}

void Publisher::retry() {
    if (!waiting_ || steady_clock::now() < *retry_at_) return;
    if (!send(*waiting_)) {
        if (steady_clock::now() < patient_until_) {
            retry_at_ = steady_clock::now() + limits::zmq_retry_interval;
            return;
        }
        patience_lost_ = true;
        log::warning("kernel_subscriber_too_slow");
        send_to_whom_it_fits(*waiting_);
    }
    waiting_.reset();
    retry_at_.reset();
}

std::optional<std::string> Publisher::next_subscription() {
    zmq::message_t part;
    while (socket_.recv(part, zmq::recv_flags::dontwait)) {
        const std::string_view text(part.data<char>(), part.size());
        // 1 and the topic; 0 is the end of one.
        if (!part.more() && !text.empty() && text.front() == 1) return std::string(text.substr(1));
    }
    return std::nullopt;
}

}  // namespace cellblock::kernel_proxy::zmq_door
