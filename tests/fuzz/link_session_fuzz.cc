// Fuzzes a host's Link with a guest that shakes hands correctly and then sends anything.
//
// First byte even: the rest goes out as it is. Odd: the rest is read as frames, so that the fuzzer
// gets past the framing: type, flags, stream, length (2 bytes), payload; numbers and end markers
// are made right, unless the flags say otherwise.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/log.h"
#include "vm/link/call.h"
#include "vm/link/codec.h"
#include "vm/link/kernel_message.h"
#include "vm/link/link.h"

using namespace cellblock;
using namespace cellblock::vm::link;
namespace asio = boost::asio;

namespace {

Bytes frames_from(ByteView script) {
    Bytes wire;
    std::uint64_t sequence = 0;
    while (script.size() >= 5 && wire.size() < limits::MiB) {
        const auto type = std::to_integer<unsigned>(script[0]) % 10;
        const auto flags = std::to_integer<unsigned>(script[1]);
        const auto stream = std::to_integer<std::uint32_t>(script[2]) % 16;
        std::size_t length = load_le<std::uint16_t>(script.data() + 3);
        script = script.subspan(5);
        Bytes payload;
        if ((flags & 1) != 0) {
            payload.assign(length, std::byte{'x'});  // long, without costing the fuzzer bytes
        } else {
            length = std::min(length, script.size());
            payload.assign(script.begin(), script.begin() + static_cast<std::ptrdiff_t>(length));
            script = script.subspan(length);
        }
        Bytes frame = encode_frame(static_cast<FrameType>(type), stream, payload);
        if (type > 3) set_sequence(frame, (flags & 2) != 0 ? sequence : ++sequence);
        if ((flags & 4) != 0) frame.back() = std::byte{0};
        wire.insert(wire.end(), frame.begin(), frame.end());
    }
    return wire;
}

asio::awaitable<void> read_bytes(StreamPtr stream) {
    for (;;) {
        auto bytes = co_await stream->read_some();
        if (!bytes || bytes->empty()) break;
    }
}

asio::awaitable<void> read_messages(StreamPtr stream) {
    for (;;) {
        auto message = co_await read_kernel_message(*stream, limits::MiB);
        if (!message || !*message) break;
    }
    (void)co_await stream->finish();
}

asio::awaitable<void> write_bytes(StreamPtr stream) {
    const Bytes bytes(600'000);
    (void)co_await stream->write(bytes);
    (void)co_await stream->finish();
}

asio::awaitable<void> make_call(Link& link) {
    (void)co_await call(link, "info", Json::object(), std::chrono::hours(1));
}

const auto kIgnore = [](std::exception_ptr) {};

// The guest's end of the socket, driven by hand.
class Peer {
  public:
    explicit Peer(Fd fd) : fd_(std::move(fd)) {}

    // Answers the HELLO once it is there; throws away everything after it.
    void receive() {
        for (;;) {
            const auto space = decoder_.writable();
            const ssize_t count = ::read(fd_.get(), space.data(), space.size());
            if (count <= 0) return;
            if (greeted_) continue;
            decoder_.commit(static_cast<std::size_t>(count));
            FrameView frame;
            if (decoder_.next(frame) != FrameDecoder::Status::greeting) continue;
            const Hello hello = decode_hello(frame.payload).value();
            pending_ = encode_hello(FrameType::hello_reply, hello);
            greeted_ = true;
        }
    }
    void queue(const Bytes& bytes) { pending_.insert(pending_.end(), bytes.begin(), bytes.end()); }
    bool greeted() const { return greeted_; }
    // False: all is written, or the host has closed.
    bool send() {
        while (sent_ < pending_.size()) {
            const ssize_t count = ::send(fd_.get(), pending_.data() + sent_,
                                         pending_.size() - sent_, MSG_NOSIGNAL | MSG_DONTWAIT);
            if (count < 0) return errno == EAGAIN;
            sent_ += static_cast<std::size_t>(count);
        }
        return false;
    }

  private:
    Fd fd_;
    FrameDecoder decoder_{FrameType::hello};
    Bytes pending_;
    std::size_t sent_ = 0;
    bool greeted_ = false;
};

void settle(asio::io_context& context, Peer& peer) {
    for (int idle = 0; idle < 3;) {
        peer.receive();
        const bool more = peer.send();
        context.restart();
        idle = context.poll() == 0 && !more ? idle + 1 : 0;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    log::set_level(log::Level::error);
    const ByteView script(reinterpret_cast<const std::byte*>(data + 1), size - 1);
    const Bytes wire = data[0] % 2 == 0 ? Bytes(script.begin(), script.end()) : frames_from(script);

    std::array<int, 2> fds{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data()) != 0) {
        std::abort();
    }
    asio::io_context context;
    Peer peer{Fd(fds[1])};
    {
        std::vector<StreamPtr> kept;
        LinkOptions options;
        options.peer_streams_max = 4;
        Link link(context.get_executor(), Role::host, std::move(options));
        link.on_stream([&](StreamPtr stream) {
            if (stream->kind() == StreamKind::events) return;  // dropped
            if (stream->kind() == StreamKind::kernel) {
                asio::co_spawn(context, read_messages(std::move(stream)), kIgnore);
            } else {
                kept.push_back(std::move(stream));
            }
        });
        asio::co_spawn(context, read_bytes(link.open(StreamKind::file_read, "{}")), kIgnore);
        asio::co_spawn(context, read_messages(link.open(StreamKind::kernel, "{}")), kIgnore);
        asio::co_spawn(context, write_bytes(link.open(StreamKind::file_write, "{}")), kIgnore);
        asio::co_spawn(context, make_call(link), kIgnore);
        StreamPtr unread = link.open(StreamKind::tcp, "{}");
        asio::co_spawn(context, link.run(Fd(fds[0])),
                       [](std::exception_ptr, const Result<void>&) {});
        settle(context, peer);
        if (!peer.greeted()) std::abort();
        peer.queue(wire);
        settle(context, peer);
        const LinkStats stats = link.stats();
        if (stats.streams_open > limits::link_streams_max + 4) std::abort();
        link.close(Error(ErrorCode::cancelled, "the end"));
        if (link.stats().streams_open != 0 || link.stats().buffered_bytes != 0) std::abort();
        settle(context, peer);
    }
    settle(context, peer);
    return 0;
}
