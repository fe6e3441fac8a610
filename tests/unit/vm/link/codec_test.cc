#include "vm/link/codec.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace cellblock::vm::link {
namespace {

void feed(FrameDecoder& decoder, ByteView bytes) {
    while (!bytes.empty()) {
        const auto space = decoder.writable();
        const std::size_t count = std::min(space.size(), bytes.size());
        std::copy_n(bytes.begin(), count, space.begin());
        decoder.commit(count);
        bytes = bytes.subspan(count);
    }
}

Bytes hello_with(std::byte nonce) {
    Hello hello;
    hello.nonce.fill(nonce);
    return encode_hello(FrameType::hello, hello);
}

FrameDecoder synchronised() {
    FrameDecoder decoder(FrameType::hello);
    feed(decoder, hello_with(std::byte{1}));
    FrameView frame;
    REQUIRE(decoder.next(frame) == FrameDecoder::Status::greeting);
    decoder.accept();
    return decoder;
}

TEST_CASE("every payload comes back as it went in") {
    Hello hello;
    hello.last_received = 0x1122334455667788;
    hello.resumed = 1;
    hello.nonce.fill(std::byte{7});
    hello.session.fill(std::byte{9});
    const Bytes greeting = encode_hello(FrameType::hello_reply, hello);
    const auto decoded = decode_hello(ByteView(greeting).subspan(kHeaderBytes, kHelloBytes));
    REQUIRE(decoded);
    CHECK(decoded->last_received == hello.last_received);
    CHECK(decoded->resumed == 1);
    CHECK(decoded->nonce == hello.nonce);
    CHECK(decoded->session == hello.session);

    const Bytes reset = encode_reset(3, Error(ErrorCode::disk_full, "no room", "make some"));
    const auto error =
        decode_reset(ByteView(reset).subspan(kHeaderBytes, reset.size() - kFrameOverheadBytes));
    REQUIRE(error);
    CHECK(error->code == ErrorCode::disk_full);
    CHECK(error->cause == "no room");
    CHECK(error->advice == "make some");
}

TEST_CASE("a long reset text is cut, not refused by the receiver") {
    const Bytes reset =
        encode_reset(1, Error(ErrorCode::io, std::string(100'000, 'x'), std::string(100'000, 'y')));
    const auto error =
        decode_reset(ByteView(reset).subspan(kHeaderBytes, reset.size() - kFrameOverheadBytes));
    REQUIRE(error);
    CHECK(error->cause.size() == limits::link_reset_text_max_bytes);
    CHECK(error->advice.size() == limits::link_reset_text_max_bytes);
}

TEST_CASE("frames are found whatever pieces the bytes come in") {
    std::mt19937 random(1);
    Bytes wire;
    std::vector<std::size_t> sizes;
    for (int i = 0; i < 100; ++i) {
        const std::size_t size = i % 10 == 0 ? kMaxPayload : random() % 2000 + 1;
        sizes.push_back(size);
        const Bytes payload(size, static_cast<std::byte>(i));
        const Bytes frame = encode_frame(FrameType::data, 5, payload);
        wire.insert(wire.end(), frame.begin(), frame.end());
    }
    FrameDecoder decoder = synchronised();
    FrameView frame;
    std::size_t seen = 0;
    ByteView rest = wire;
    while (!rest.empty()) {
        const std::size_t piece = std::min<std::size_t>(random() % 5000 + 1, rest.size());
        feed(decoder, rest.first(piece));
        rest = rest.subspan(piece);
        while (decoder.next(frame) == FrameDecoder::Status::frame) {
            REQUIRE(frame.payload.size() == sizes[seen]);
            REQUIRE(frame.payload.front() == static_cast<std::byte>(seen));
            ++seen;
        }
    }
    CHECK(seen == sizes.size());
}

TEST_CASE(
    "a frame cut anywhere and filled up with zeros never passes, and the next HELLO is found") {
    const Bytes payload(300, std::byte{0});  // zeros, so that only the end marker tells
    Bytes whole = encode_frame(FrameType::data, 1, payload);
    set_sequence(whole, 1);
    for (std::size_t cut = 0; cut < whole.size(); ++cut) {
        FrameDecoder decoder = synchronised();
        Bytes wire(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut));
        wire.resize(wire.size() + kPaddingBytes);
        const Bytes hello = hello_with(std::byte{2});
        wire.insert(wire.end(), hello.begin(), hello.end());
        feed(decoder, wire);
        FrameView frame;
        auto status = decoder.next(frame);
        REQUIRE(status == FrameDecoder::Status::garbage);
        status = decoder.next(frame);
        REQUIRE(status == FrameDecoder::Status::greeting);
        REQUIRE(decode_hello(frame.payload)->nonce[0] == std::byte{2});
    }
}

TEST_CASE("headers that no peer sends are garbage") {
    struct Bad {
        const char* what;
        std::size_t offset;
        std::uint8_t value;
    };
    for (const Bad& bad :
         {Bad{"magic", 0, 0}, Bad{"type 0", 4, 0}, Bad{"type 9", 4, 9}, Bad{"reserved", 6, 1},
          Bad{"length over the limit", 14, 2}, Bad{"end marker", kHeaderBytes + 1, 0}}) {
        CAPTURE(bad.what);
        FrameDecoder decoder = synchronised();
        Bytes wire = encode_frame(FrameType::data, 1, as_bytes("x"));
        wire[bad.offset] = static_cast<std::byte>(bad.value);
        feed(decoder, wire);
        FrameView frame;
        CHECK(decoder.next(frame) == FrameDecoder::Status::garbage);
    }
}

TEST_CASE("a hunting decoder looks through stale greetings and look-alikes") {
    FrameDecoder decoder(FrameType::hello);
    Bytes wire = to_bytes("rubbish");
    const Bytes stale = hello_with(std::byte{1});
    const Bytes wrong_type = encode_hello(FrameType::hello_reply, Hello());
    const Bytes right = hello_with(std::byte{2});
    wire.insert(wire.end(), stale.begin(), stale.end());
    wire.insert(wire.end(), wrong_type.begin(), wrong_type.end());
    wire.insert(wire.end(), stale.begin(), stale.begin() + 30);  // half of one
    wire.insert(wire.end(), right.begin(), right.end());
    FrameView frame;
    std::vector<int> nonces;
    for (const std::byte byte : wire) {
        feed(decoder, ByteView(&byte, 1));
        while (decoder.next(frame) == FrameDecoder::Status::greeting) {
            nonces.push_back(std::to_integer<int>(decode_hello(frame.payload)->nonce[0]));
            decoder.reject();
        }
    }
    CHECK(nonces == std::vector<int>{1, 2});
}

TEST_CASE("malformed payloads are refused") {
    CHECK(!decode_hello(Bytes(kHelloBytes - 1)));
    CHECK(!decode_ack(Bytes(7)));
    CHECK(!decode_ack(Bytes(9)));
    CHECK(!decode_credit(Bytes(3)));
    CHECK(!decode_open({}));
    CHECK(!decode_reset({}));
    CHECK(
        !decode_reset(as_bytes("\x05"
                               "abc")));
    CHECK(
        !decode_reset(as_bytes(std::string_view("\x02io\xff\x0f"
                                                "short",
                                                10))));
    CHECK(!decode_reset(as_bytes(std::string_view("\x02io\x01", 4))));
}

}  // namespace
}  // namespace cellblock::vm::link
