#include "vm/agent/host_relay.h"

#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;

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

void HostRelay::attach(link::StreamPtr stream) {
    if (stream_) {
        stream_->reset(Error(ErrorCode::cancelled, "another stream took over this kernel"));
    }
    stream_ = std::move(stream);
    spawn_logged(executor_, read_from_host(stream_), "host to kernel", shared_from_this());
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

asio::awaitable<void> HostRelay::write_to_host() {
    while (true) {
        // An ended process that has nothing left to say makes room for the next.
        while (!processes_.empty() && processes_.front()->closed() &&
               !processes_.front()->next().message) {
            processes_.pop_front();
        }
        const auto speaker = processes_.empty() ? nullptr : processes_.front();
        const auto waiting = speaker ? speaker->next() : KernelChannels::Waiting();
        if (closed_ && (!waiting.message || !stream_)) break;
        if (!waiting.message || !stream_) {
            co_await changed_.wait();
            continue;
        }
        const link::StreamPtr stream = stream_;
        const auto sent = co_await send_one(stream, waiting.channel, *waiting.message);
        if (sent) {
            speaker->pop(waiting.channel);
        } else if (stream_ == stream) {
            stream_.reset();  // the host opens another one when it wants to hear more
        }
    }
    if (stream_) (void)co_await stream_->finish();
    stream_.reset();
    processes_.clear();
}

// The inbox keeps the message while this waits: only write_to_host() takes messages out.
asio::awaitable<Result<void>> HostRelay::send_one(link::StreamPtr stream, link::Channel channel,
                                                  const Multipart& message) {
    const auto header = header_index(message);
    if (!header) {
        log::warning("kernel_message_malformed", {{"parts", message.size()}});
        co_return Result<void>{};
    }
    std::vector<ByteView> frames;
    for (std::size_t i = *header; i < message.size(); ++i) {
        frames.emplace_back(message[i].data<std::byte>(), message[i].size());
    }
    const auto sent = co_await link::write_kernel_message(*stream, channel, frames);
    if (!sent && !stream->error()) {
        // Not the stream's fault: the codec refused the message, and would again.
        on_dropped_(channel, byte_count(message));
        co_return Result<void>{};
    }
    co_return sent;
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
        // Between two processes there is nobody to hear it; the host knows from kernel_died.
        const auto listener = processes_.empty() ? nullptr : processes_.back();
        if (!listener || listener->closed()) continue;
        Multipart parts = to_multipart(**message);
        (void)co_await listener->send(channel, std::move(parts));
    }
}

}  // namespace cellblock::vm::agent
