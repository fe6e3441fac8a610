// What no honest guest sends: each case closes the host's Link with guest_protocol and a clear
// cause.
#include <doctest/doctest.h>

#include <boost/asio/write.hpp>

#include "base/awaitable.h"
#include "tests/unit/vm/link/harness.h"
#include "vm/link/codec.h"

namespace cellblock::vm::link::test {
namespace {

using asio::posix::stream_descriptor;

Bytes numbered(Bytes frame, std::uint64_t sequence) {
    set_sequence(frame, sequence);
    return frame;
}
Bytes joined(std::initializer_list<Bytes> frames) {
    Bytes all;
    for (const Bytes& frame : frames) all.insert(all.end(), frame.begin(), frame.end());
    return all;
}
Bytes data(std::uint32_t stream, std::size_t size, std::uint64_t sequence) {
    return numbered(encode_frame(FrameType::data, stream, Bytes(size)), sequence);
}
Bytes open_stream(std::uint32_t stream, std::uint64_t sequence) {
    return numbered(encode_open(stream, StreamKind::events, "{}"), sequence);
}

// Reads padding and HELLO, answers as `reply` says, sends `bytes`, and keeps the connection open.
awaitable<void> play_guest(stream_descriptor& fd, Bytes bytes, std::uint32_t version,
                           std::uint64_t last_received) {
    FrameDecoder decoder(FrameType::hello);
    FrameView frame;
    while (decoder.next(frame) != FrameDecoder::Status::greeting) {
        const auto space = decoder.writable();
        const std::size_t count = co_await fd.async_read_some(
            asio::buffer(space.data(), space.size()), asio::use_awaitable);
        decoder.commit(count);
    }
    Hello hello = decode_hello(frame.payload).value();
    hello.version = version;
    hello.last_received = last_received;
    const Bytes reply = encode_hello(FrameType::hello_reply, hello);
    co_await asio::async_write(fd, asio::buffer(reply), asio::use_awaitable);
    co_await pause_for(std::chrono::milliseconds(5));  // the host's OPEN goes out
    co_await asio::async_write(fd, asio::buffer(bytes), as_tuple_awaitable);
    co_await pause_for(std::chrono::milliseconds(10));
}

struct Case {
    const char* what;
    Bytes bytes;
    const char* cause;  // a part of it; empty: the link must stay open
    ErrorCode code = ErrorCode::guest_protocol;
    std::uint32_t version = kVersion;
    std::uint64_t last_received = 0;
    Case(const char* what_, Bytes bytes_, const char* cause_)
        : what(what_), bytes(std::move(bytes_)), cause(cause_) {}
};

// The host has opened stream 1 and sent OPEN as number 1.
void check(const Case& given) {
    CAPTURE(given.what);
    TwoEnds ends;
    std::vector<StreamPtr> kept;
    ends.host->on_stream([&](StreamPtr stream) { kept.push_back(std::move(stream)); });
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    SocketPair pair;
    ends.start(*ends.host, std::move(pair.first), ends.host_ended);
    stream_descriptor fd(ends.context, pair.second.release());
    run_to_end(ends.context, play_guest(fd, given.bytes, given.version, given.last_received));
    if (*given.cause == '\0') {
        CHECK(!ends.host->closed());
        return;
    }
    REQUIRE(ends.host->closed());
    CHECK(ends.host->error()->code == given.code);
    CAPTURE(ends.host->error()->cause);
    CHECK(ends.host->error()->cause.find(given.cause) != std::string::npos);
    CHECK(stream->error());
    REQUIRE(ends.host_ended);
    CHECK(ends.host_ended->code == given.code);
}

TEST_CASE("what no honest guest sends closes the link with a clear cause") {
    const Bytes window = joined({data(1, kMaxPayload, 1), data(1, kMaxPayload, 2),
                                 data(1, kMaxPayload, 3), data(1, kMaxPayload, 4)});
    check(Case("rubbish", to_bytes(std::string(100, 'x')), "no frame"));
    check(Case("zeros", Bytes(100), "no frame"));
    Bytes oversized = data(1, 1, 1);
    oversized[15] = std::byte{1};
    check(Case("a payload over the limit", oversized, "no frame"));
    check(Case("data beyond the credit", joined({window, data(1, 1, 5)}), "credit"));
    check(Case("empty data", data(1, 0, 1), "credit"));
    check(Case("data after END",
               joined({numbered(encode_frame(FrameType::end, 1, {}), 1), data(1, 1, 2)}),
               "after its end"));
    check(Case("a second END",
               joined({numbered(encode_frame(FrameType::end, 1, {}), 1),
                       numbered(encode_frame(FrameType::end, 1, {}), 2)}),
               "second end"));
    check(Case("a stream that never was", data(3, 1, 1), "never opened"));
    check(Case("the guest's own stream before it was opened", data(2, 1, 1), "never opened"));
    check(Case("stream 0", data(0, 1, 1), "without a stream"));
    check(Case("no number", data(1, 1, 0), "without a number"));
    check(Case("a gap", data(1, 1, 2), "came after frame 0"));
    check(Case("an odd stream opened by the guest", open_stream(1, 1), "out of order or twice"));
    check(Case("a stream opened twice", joined({open_stream(2, 1), open_stream(2, 2)}),
               "out of order or twice"));
    check(Case("streams in falling order", joined({open_stream(8, 1), open_stream(2, 2)}),
               "out of order or twice"));
    check(Case("an ACK of what was never sent", encode_ack(99), "never sent"));
    check(Case("credit beyond the window", numbered(encode_credit(1, 1), 1), "credit beyond"));
    check(Case("credit of 4 GiB", numbered(encode_credit(1, UINT32_MAX), 1), "credit beyond"));
    check(Case("a malformed RESET",
               numbered(encode_frame(FrameType::reset, 1, Bytes(1, std::byte{9})), 1),
               "malformed RESET"));
    check(Case("a malformed ACK", encode_frame(FrameType::ack, 0, Bytes(3)), "malformed ACK"));
    check(Case("a greeting in the middle", encode_hello(FrameType::hello_reply, Hello()),
               "greeting"));
    Case future("a resumption from the future", {}, "resumes where it never was");
    future.last_received = 50;
    check(future);
    Case version("another version", {}, "version 77");
    version.version = 77;
    version.code = ErrorCode::not_supported;
    check(version);
}

TEST_CASE("what an honest guest may send keeps the link open") {
    check(Case("a duplicate", joined({data(1, 1, 1), data(1, 1, 1), data(1, 1, 2)}), ""));
    check(Case("data after it reset the stream",
               joined({numbered(encode_reset(1, Error(ErrorCode::io, "x")), 1), data(1, 1, 2)}),
               ""));
    Bytes unknown_kind = open_stream(2, 1);
    unknown_kind[kHeaderBytes] = std::byte{99};
    check(Case("a stream kind of a newer version", unknown_kind, ""));
    check(Case("an old ACK", joined({encode_ack(1), encode_ack(0)}), ""));
}

awaitable<void> answer_twice(stream_descriptor& fd) {
    FrameDecoder decoder(FrameType::hello);
    FrameView frame;
    while (decoder.next(frame) != FrameDecoder::Status::greeting) {
        const auto space = decoder.writable();
        const std::size_t count = co_await fd.async_read_some(
            asio::buffer(space.data(), space.size()), asio::use_awaitable);
        decoder.commit(count);
    }
    const Bytes reply = encode_hello(FrameType::hello_reply, decode_hello(frame.payload).value());
    for (int i = 0; i < 2; ++i) {
        co_await asio::async_write(fd, asio::buffer(reply), asio::use_awaitable);
        co_await pause_for(std::chrono::milliseconds(10));
    }
}

TEST_CASE("a guest that answers a repeated HELLO again gets a new connection, not the blame") {
    TwoEnds ends;
    SocketPair pair;
    ends.start(*ends.host, std::move(pair.first), ends.host_ended);
    stream_descriptor fd(ends.context, pair.second.release());
    run_to_end(ends.context, answer_twice(fd));
    REQUIRE(ends.host_ended);
    CHECK(ends.host_ended->code == ErrorCode::connection_lost);
    CHECK(!ends.host->closed());
}

awaitable<void> read_hellos(stream_descriptor& fd, int& hellos) {
    FrameDecoder decoder(FrameType::hello);
    FrameView frame;
    std::optional<Nonce> nonce;
    while (hellos < 3) {
        if (decoder.next(frame) == FrameDecoder::Status::greeting) {
            const Hello hello = decode_hello(frame.payload).value();
            if (nonce) CHECK(*nonce == hello.nonce);
            nonce = hello.nonce;
            ++hellos;
            decoder.reject();
            continue;
        }
        const auto space = decoder.writable();
        const std::size_t count = co_await fd.async_read_some(
            asio::buffer(space.data(), space.size()), asio::use_awaitable);
        decoder.commit(count);
    }
}

TEST_CASE("the host says HELLO again while nobody answers") {
    TwoEnds ends;
    SocketPair pair;
    ends.start(*ends.host, std::move(pair.first), ends.host_ended);
    stream_descriptor fd(ends.context, pair.second.release());
    int hellos = 0;
    run_to_end(ends.context, read_hellos(fd, hellos));
    CHECK(hellos == 3);
}

TEST_CASE("single bytes do not cost the host a buffer each") {
    TwoEnds ends;
    StreamPtr stream = ends.host->open(StreamKind::tcp, "{}");
    SocketPair pair;
    ends.start(*ends.host, std::move(pair.first), ends.host_ended);
    stream_descriptor fd(ends.context, pair.second.release());
    Bytes bytes;
    constexpr std::size_t kFrames = 20'000;
    for (std::uint64_t i = 1; i <= kFrames; ++i) {
        const Bytes frame = data(1, 1, i);
        bytes.insert(bytes.end(), frame.begin(), frame.end());
    }
    run_to_end(ends.context, play_guest(fd, bytes, kVersion, 0));
    run_to_end(ends.context, pause_for(std::chrono::milliseconds(50)));
    CHECK(!ends.host->closed());
    std::size_t read = 0;
    const auto read_one = [](StreamPtr from, std::size_t& size) -> awaitable<void> {
        auto chunk = co_await from->read_some();
        REQUIRE(chunk);
        size = chunk->size();
    };
    run_to_end(ends.context, read_one(stream, read));
    CHECK(read == kFrames);
}

}  // namespace
}  // namespace cellblock::vm::link::test
