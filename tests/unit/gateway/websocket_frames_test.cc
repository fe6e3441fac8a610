#include "gateway/http/websocket_frames.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <vector>

using namespace cellblock;
using namespace cellblock::gateway::http;

namespace {

// A client's frame, masked.
std::string frame(unsigned first_byte, std::string_view payload,
                  std::string mask = "\x01\x02\x03\x04") {
    std::string text(1, static_cast<char>(first_byte));
    if (payload.size() <= 125) {
        text.push_back(static_cast<char>(0x80 | payload.size()));
    } else if (payload.size() <= 0xffff) {
        text.push_back(static_cast<char>(0xfe));
        text.push_back(static_cast<char>(payload.size() >> 8));
        text.push_back(static_cast<char>(payload.size()));
    } else {
        text.push_back(static_cast<char>(0xff));
        for (int shift = 56; shift >= 0; shift -= 8) {
            text.push_back(static_cast<char>(payload.size() >> shift));
        }
    }
    text += mask;
    for (std::size_t i = 0; i < payload.size(); ++i) text.push_back(payload[i] ^ mask[i % 4]);
    return text;
}

struct Heard {
    std::vector<WebSocketMessage> messages;
    std::uint16_t error = 0;
};

// In pieces of that size.
Heard hear(std::string_view text, std::size_t piece, std::size_t max_bytes = 1'000'000) {
    WebSocketParser parser(max_bytes);
    Heard heard;
    while (!text.empty()) {
        const auto step = parser.step(as_bytes(text.substr(0, piece)));
        if (!step) {
            heard.error = step.error().code;
            return heard;
        }
        REQUIRE((step->used > 0 || step->message));
        text.remove_prefix(step->used);
        if (step->message) heard.messages.push_back(*step->message);
    }
    return heard;
}

}  // namespace

TEST_CASE("messages come out whole, however the bytes arrive") {
    const std::string large(70'000, 'l');
    const std::string text = frame(0x81, "hello") + frame(0x82, std::string(300, 'b')) +
                             frame(0x81, "") + frame(0x82, large);
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{7}, text.size()}) {
        const Heard heard = hear(text, piece);
        REQUIRE(heard.messages.size() == 4);
        CHECK(heard.messages[0].opcode == Opcode::text);
        CHECK(as_text(heard.messages[0].payload) == "hello");
        CHECK(heard.messages[1].opcode == Opcode::binary);
        CHECK(heard.messages[1].payload.size() == 300);
        CHECK(heard.messages[2].payload.empty());
        CHECK(as_text(heard.messages[3].payload) == large);
    }
}

TEST_CASE("fragments are put together, with control frames between them") {
    const Heard heard =
        hear(frame(0x02, "ab") + frame(0x89, "ping") + frame(0x00, "cd") + frame(0x80, "e"), 3);
    REQUIRE(heard.messages.size() == 2);
    CHECK(heard.messages[0].opcode == Opcode::ping);
    CHECK(as_text(heard.messages[0].payload) == "ping");
    CHECK(heard.messages[1].opcode == Opcode::binary);
    CHECK(as_text(heard.messages[1].payload) == "abcde");
}

TEST_CASE("text frames may hold any bytes: gateway clients send binary messages in them") {
    const Heard heard = hear(frame(0x81, "\xff\xfe"), 100);
    REQUIRE(heard.messages.size() == 1);
    CHECK(as_text(heard.messages[0].payload) == "\xff\xfe");
}

TEST_CASE("what breaks the protocol ends the connection") {
    const std::string unmasked = std::string("\x81\x05hello", 7) + "0000";
    for (const std::string& text :
         {unmasked, frame(0xc1, "x"), frame(0xa1, "x"), frame(0x83, "x"), frame(0x8b, "x"),
          frame(0x80, "x"), frame(0x00, "x"), frame(0x01, "a") + frame(0x81, "b"), frame(0x09, "x"),
          frame(0x89, std::string(126, 'x'))}) {
        CHECK(hear(text, 100).error == close_code::protocol_error);
    }
}

TEST_CASE("an announced length costs nothing, and one that is too large is told at once") {
    std::string huge("\x82\xff", 2);
    huge += std::string("\x00\x00\x00\x00\x40\x00\x00\x00", 8) + "mask";
    CHECK(hear(huge, 100).error == close_code::too_big);
    huge[2] = '\x80';
    CHECK(hear(huge, 100).error == close_code::too_big);
    CHECK(hear(frame(0x01, "abc") + frame(0x80, "def"), 100, 5).error == close_code::too_big);
    CHECK(hear(frame(0x01, "abc") + frame(0x80, "de"), 100, 5).messages.size() == 1);
}

TEST_CASE("the head of what we send has the shortest length") {
    CHECK(as_text(frame_head(Opcode::text, 0).view()) == std::string_view("\x81\x00", 2));
    CHECK(as_text(frame_head(Opcode::binary, 125).view()) == "\x82\x7d");
    CHECK(as_text(frame_head(Opcode::binary, 126).view()) ==
          std::string_view("\x82\x7e\x00\x7e", 4));
    CHECK(as_text(frame_head(Opcode::ping, 0x10000).view()) ==
          std::string_view("\x89\x7f\x00\x00\x00\x00\x00\x01\x00\x00", 10));
}

TEST_CASE("close reasons survive the way, cut where a character ends") {
    const auto back = read_close_payload(close_payload(CloseReason(1008, "too slow")));
    CHECK(back.value().code == 1008);
    CHECK(back.value().text == "too slow");
    std::string text(122, 'x');
    text += "\xc3\xa9";
    CHECK(close_payload(CloseReason(1000, text)).size() == 124);
    CHECK(close_payload(CloseReason(close_code::none_given, "")).empty());
    CHECK(read_close_payload({}).value().code == close_code::none_given);
    for (const std::string_view payload :
         {std::string_view("x"), std::string_view("\x03\xed"), std::string_view("\x00\x00", 2),
          std::string_view("\x03\xe8\xff")}) {
        CHECK(read_close_payload(as_bytes(payload)).error().code == close_code::protocol_error);
    }
}

TEST_CASE("the accept value is that of RFC 6455's example") {
    CHECK(accept_value("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    CHECK_FALSE(accept_value("").has_value());
    CHECK_FALSE(accept_value("c2hvcnQ=").has_value());
    CHECK_FALSE(accept_value("not base64 at all!!").has_value());
}

TEST_CASE("what a client writes, a server reads; and a client refuses masked frames") {
    Bytes written;
    const std::string large(70'000, 'x');
    const Mask mask = {std::byte{0xa5}, std::byte{0}, std::byte{0xff}, std::byte{7}};
    for (const std::string& payload : {std::string("one, two"), std::string(), large}) {
        const std::string_view text = payload;
        const std::size_t middle = text.size() / 3;
        const std::array<ByteView, 2> parts = {as_bytes(text.substr(0, middle)),
                                               as_bytes(text.substr(middle))};
        append_masked_frame(written, Opcode::binary, parts, mask);
    }
    const Heard heard = hear(as_text(written), 1000);
    REQUIRE(heard.messages.size() == 3);
    CHECK(as_text(heard.messages[0].payload) == "one, two");
    CHECK(heard.messages[1].payload.empty());
    CHECK(as_text(heard.messages[2].payload) == large);
    WebSocketParser client(1000, Peer::server);
    const auto refused = client.step(written);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == close_code::protocol_error);
}

TEST_CASE("a client reads a server's frames, however their bytes are cut") {
    const std::string large(70'000, 'l');
    Bytes sent;
    for (const std::string_view payload :
         {std::string_view("hello"), std::string_view(large), std::string_view()}) {
        const FrameHead head = frame_head(Opcode::binary, payload.size());
        sent.insert(sent.end(), head.view().begin(), head.view().end());
        const ByteView bytes = as_bytes(payload);
        sent.insert(sent.end(), bytes.begin(), bytes.end());
    }
    for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, sent.size()}) {
        WebSocketParser parser(1'000'000, Peer::server);
        std::vector<std::string> heard;
        ByteView rest = sent;
        while (!rest.empty()) {
            const auto step = parser.step(rest.first(std::min(piece, rest.size())));
            REQUIRE(step);
            rest = rest.subspan(step->used);
            if (step->message) heard.emplace_back(as_text(step->message->payload));
        }
        CHECK(heard == std::vector<std::string>{"hello", large, ""});
    }
}
