#include "vm/agent/host_relay.h"

#include <functional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;

// More than a host's clients ask before they get a first answer.
constexpr std::size_t headers_remembered = 1024;

zmq::message_t copy_of(ByteView bytes) {
    return zmq::message_t(bytes.data(), bytes.size());
}

// What a DEALER sends for a message of the host's.
Multipart to_multipart(const link::KernelMessage& message) {
    Multipart parts;
    parts.push_back(copy_of(as_bytes("<IDS|MSG>")));
    parts.emplace_back();
    for (const ByteView frame : message.frames()) parts.push_back(copy_of(frame));
    return parts;
}

}  // namespace

HostRelay::HostRelay(asio::any_io_executor executor, DroppedHandler on_dropped)
    : executor_(executor), on_dropped_(std::move(on_dropped)), changed_(executor) {}

void HostRelay::start() {
    spawn_logged(executor_, write_to_host(), "kernel to host", shared_from_this());
}

void HostRelay::attach(link::StreamPtr stream, std::optional<std::int64_t> after) {
    if (stream_) {
        stream_->reset(Error(ErrorCode::cancelled, "another stream took over this kernel"));
    }
    stream_ = std::move(stream);
    retaining_ = after.has_value();
    repeated_.clear();
    if (after && *after >= 0) repeated_.insert(had_.begin(), had_.end());
    if (!after || *after < 0) {
        retained_.begin_anew();
    } else if (!retained_.resume_after(static_cast<std::uint64_t>(*after))) {
        stream_->reset(Error(ErrorCode::conflict, "what this kernel said then is not kept"));
        stream_.reset();
        return;
    }
    spawn_logged(executor_, read_from_host(stream_), "host to kernel", shared_from_this());
    changed_.notify_all();
}

void HostRelay::acknowledge(std::uint64_t position) {
    retained_.acknowledge(position);
    changed_.notify_all();
}

void HostRelay::serve(std::shared_ptr<KernelChannels> channels) {
    processes_.push_back(std::move(channels));
    changed_.notify_all();
}

void HostRelay::close() {
    closed_ = true;
    on_dropped_ = [](link::Channel, std::size_t) {};
    changed_.notify_all();
}

// An ended process that has nothing left to say makes room for the next.
void HostRelay::drop_silent_processes() {
    while (!processes_.empty() && processes_.front()->closed() &&
           !processes_.front()->next().message) {
        processes_.pop_front();
    }
}

void HostRelay::retain_next() {
    if (retained_.next() || !retained_.has_room() || processes_.empty()) return;
    const auto waiting = processes_.front()->next();
    if (!waiting.message) return;
    retained_.add(waiting.channel, processes_.front()->take(waiting.channel));
}

asio::awaitable<void> HostRelay::send_retained() {
    const auto entry = retained_.next();
    const link::StreamPtr stream = stream_;
    const auto sent = co_await send_one(stream, entry->channel, entry->message);
    if (stream_ != stream) co_return;  // another host goes on, from where it says
    if (sent && *sent == Sent::yes) {
        retained_.mark_sent();
    } else if (sent) {
        retained_.drop_next();
    } else {
        stream_.reset();  // the host opens another one when it wants to hear more
    }
}

// The inbox keeps the message while this waits: only this takes messages out.
asio::awaitable<void> HostRelay::send_waiting() {
    const auto speaker = processes_.front();
    const auto waiting = speaker->next();
    const link::StreamPtr stream = stream_;
    const auto sent = co_await send_one(stream, waiting.channel, *waiting.message);
    if (sent) {
        speaker->pop(waiting.channel);
    } else if (stream_ == stream) {
        stream_.reset();
    }
}

asio::awaitable<void> HostRelay::write_to_host() {
    while (true) {
        drop_silent_processes();
        if (stream_ && retaining_) {
            retain_next();
            if (retained_.next()) {
                co_await send_retained();
                continue;
            }
        } else if (stream_ && !processes_.empty() && processes_.front()->next().message) {
            co_await send_waiting();
            continue;
        }
        if (closed_) break;
        co_await changed_.wait();
    }
    if (stream_) (void)co_await stream_->finish();
    stream_.reset();
    processes_.clear();
}

asio::awaitable<Result<HostRelay::Sent>> HostRelay::send_one(link::StreamPtr stream,
                                                             link::Channel channel,
                                                             const Multipart& message) {
    const auto header = header_index(message);
    if (!header) {
        log::warning("kernel_message_malformed", {{"parts", message.size()}});
        co_return Sent::refused;
    }
    std::vector<ByteView> frames;
    for (std::size_t i = *header; i < message.size(); ++i) {
        frames.emplace_back(message[i].data<std::byte>(), message[i].size());
    }
    const auto sent = co_await link::write_kernel_message(*stream, channel, frames);
    if (!sent && !stream->error()) {
        // Not the stream's fault: the codec refused the message, and would again.
        on_dropped_(channel, byte_count(message));
        co_return Sent::refused;
    }
    if (!sent) co_return fail(sent.error());
    co_return Sent::yes;
}

// A host that was killed may have sent a message or not; the next one, or a client of both, sends
// it once more, with the same header.
bool HostRelay::is_repeated(const link::KernelMessage& message) {
    const std::size_t header = std::hash<std::string_view>()(as_text(message.header()));
    if (repeated_.erase(header) > 0) return true;
    had_.push_back(header);
    if (had_.size() > headers_remembered) had_.pop_front();
    return false;
}

asio::awaitable<void> HostRelay::read_from_host(link::StreamPtr stream) {
    while (!closed_ && stream_ == stream) {
        auto message = co_await link::read_kernel_message(*stream);
        if (!message || !*message) break;  // reset, or the host's END
        const link::Channel channel = (*message)->channel();
        if (channel == link::Channel::iopub) {
            stream->reset(Error(ErrorCode::invalid_argument, "nothing can be sent to iopub"));
            break;
        }
        if (is_repeated(**message)) continue;
        // Between two processes there is nobody to hear it; the host knows from kernel_died.
        const auto listener = processes_.empty() ? nullptr : processes_.back();
        if (!listener || listener->closed()) continue;
        Multipart parts = to_multipart(**message);
        (void)co_await listener->send(channel, std::move(parts));
    }
}

}  // namespace cellblock::vm::agent
