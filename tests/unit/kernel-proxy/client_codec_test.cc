#include "kernel-proxy/client_codec.h"

#include <doctest/doctest.h>

#include "tests/unit/kernel-proxy/messages.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using testing::make_message;

namespace {

constexpr std::string_view header =
    R"({"msg_id":"m-1","msg_type":"stream","session":"s","username":"u","version":"5.3"})";
constexpr std::string_view parent = R"({"msg_id":"p-1","msg_type":"execute_request"})";

Bytes whole(const EncodedMessage& message) {
    Bytes all;
    for (const ByteView part : message.parts) all.insert(all.end(), part.begin(), part.end());
    CHECK(all.size() == message.size_bytes());
    return all;
}

std::string be32(std::uint32_t value) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text.push_back(static_cast<char>(value >> shift));
    return text;
}

std::string le64(std::uint64_t value) {
    std::string text;
    for (int shift = 0; shift < 64; shift += 8) text.push_back(static_cast<char>(value >> shift));
    return text;
}

// A v1 message with right offsets.
std::string v1(std::string_view channel, const std::vector<std::string>& frames) {
    std::string table = le64(frames.size() + 2);
    std::uint64_t offset = 8 * (frames.size() + 3);
    std::string body(channel);
    table += le64(offset);
    offset += channel.size();
    for (const std::string& frame : frames) {
        table += le64(offset);
        offset += frame.size();
        body += frame;
    }
    return table + le64(offset) + body;
}

const std::vector<std::string> request = {R"({"msg_id":"r","msg_type":"execute_request"})", "{}",
                                          "{}", R"({"code":"1"})"};

Result<std::optional<ClientMessage>> decode(ClientProtocol protocol, std::string_view text) {
    return decode_client_message(protocol, to_bytes(text));
}

}  // namespace

TEST_CASE("a legacy message has the kernel's own JSON and the ids at its top") {
    const KernelMessage message =
        make_message(Channel::iopub, header, parent, R"({"name":"stdout","text":"1.0 \u00e9"})");
    const auto encoded = encode_for_client(ClientProtocol::legacy, message);
    REQUIRE(encoded.has_value());
    CHECK(encoded->kind == FrameKind::text);
    CHECK(as_text(whole(*encoded)) ==
          R"({"header":)" + std::string(header) + R"(,"parent_header":)" + std::string(parent) +
              R"(,"metadata":{},"content":{"name":"stdout","text":"1.0 \u00e9"},"buffers":[],)" +
              R"("channel":"iopub","msg_id":"m-1","msg_type":"stream"})");
}

TEST_CASE("a legacy message with buffers is binary, with big-endian offsets") {
    const KernelMessage message =
        make_message(Channel::iopub, header, parent, "{}", {std::string_view("\0\xff", 2), "xyz"});
    const auto encoded = encode_for_client(ClientProtocol::legacy, message);
    REQUIRE(encoded.has_value());
    CHECK(encoded->kind == FrameKind::binary);
    const Bytes bytes = whole(*encoded);
    const std::string text(as_text(bytes));
    CHECK(text.substr(0, 8) == be32(3) + be32(16));
    const std::string json = text.substr(16, text.size() - 16 - 5);
    CHECK(Json::parse(json)["msg_type"] == "stream");
    CHECK_FALSE(Json::parse(json).contains("buffers"));
    const auto end = static_cast<std::uint32_t>(16 + json.size());
    CHECK(text.substr(8, 8) == be32(end) + be32(end + 2));
    CHECK(text.substr(end) == std::string("\0\xff", 2) + "xyz");
}

TEST_CASE("a guest that sends no JSON cannot break the text of a legacy client") {
    for (const char* content : {"", "{", "{},\"channel\":\"shell\"", "[]", "{\"a\":\"\xff\"}"}) {
        CAPTURE(content);
        const KernelMessage message = make_message(Channel::iopub, header, parent, content);
        const auto encoded = encode_for_client(ClientProtocol::legacy, message);
        REQUIRE_FALSE(encoded.has_value());
        CHECK(encoded.error().code == ErrorCode::guest_protocol);
    }
}

TEST_CASE("a v1 message has the frames as they came") {
    const KernelMessage message = make_message(Channel::stdin_, header, parent, "{x}", {"buffer"});
    const auto encoded = encode_for_client(ClientProtocol::v1, message);
    REQUIRE(encoded.has_value());
    CHECK(encoded->kind == FrameKind::binary);
    CHECK(as_text(whole(*encoded)) ==
          v1("stdin", {std::string(header), std::string(parent), "{}", "{x}", "buffer"}));
}

TEST_CASE("v1: what a client sends is cut at its offsets") {
    std::vector<std::string> frames = request;
    frames.emplace_back("raw");
    const auto decoded = decode(ClientProtocol::v1, v1("control", frames));
    REQUIRE(decoded.has_value());
    REQUIRE(decoded->has_value());
    CHECK((*decoded)->channel == Channel::control);
    CHECK((*decoded)->routing.msg_id == "r");
    REQUIRE((*decoded)->frames.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) CHECK(as_text((*decoded)->frames[i]) == frames[i]);
}

TEST_CASE("v1: offsets that point outside, back, or into the table are refused") {
    const std::string good = v1("shell", request);
    for (std::size_t word = 0; word < 7; ++word) {
        for (const std::uint64_t value :
             {std::uint64_t{0}, std::uint64_t{5}, std::uint64_t{1} << 62, ~std::uint64_t{0}}) {
            CAPTURE(word);
            CAPTURE(value);
            std::string broken = good;
            broken.replace(8 * word, 8, le64(value));
            CHECK_FALSE(decode(ClientProtocol::v1, broken).has_value());
        }
    }
    for (std::size_t size = 1; size < good.size(); ++size) {
        CHECK_FALSE(decode(ClientProtocol::v1, std::string_view(good).substr(0, size)).has_value());
    }
}

TEST_CASE("v1: a channel that nobody knows, and iopub, are passed over") {
    for (const char* channel : {"iopub", "", "shel", "hb"}) {
        const auto decoded = decode(ClientProtocol::v1, v1(channel, request));
        REQUIRE(decoded.has_value());
        CHECK_FALSE(decoded->has_value());
    }
}

TEST_CASE("legacy: a message without a channel is for shell, absent parts are empty") {
    const auto decoded =
        decode(ClientProtocol::legacy,
               R"({"header":{"msg_id":"r","msg_type":"execute_request"},"content":{"n":1.0}})");
    REQUIRE(decoded.has_value());
    REQUIRE(decoded->has_value());
    const ClientMessage& message = **decoded;
    CHECK(message.channel == Channel::shell);
    REQUIRE(message.frames.size() == 4);
    CHECK(as_text(message.frames[1]) == "{}");
    CHECK(as_text(message.frames[2]) == "{}");
    CHECK(as_text(message.frames[3]) == R"({"n":1.0})");
}

TEST_CASE("legacy: binary is told by its first byte, and gives its buffers") {
    const std::string json =
        R"({"header":{"msg_id":"r","msg_type":"comm_msg"},"channel":"shell","content":{}})";
    const auto first = static_cast<std::uint32_t>(16 + json.size());
    const std::string text =
        be32(3) + be32(16) + be32(first) + be32(first + 2) + json + "\xff\xfe" + "end";
    const auto decoded = decode(ClientProtocol::legacy, text);
    REQUIRE(decoded.has_value());
    REQUIRE(decoded->has_value());
    REQUIRE((*decoded)->frames.size() == 6);
    CHECK(as_text((*decoded)->frames[4]) == "\xff\xfe");
    CHECK(as_text((*decoded)->frames[5]) == "end");
}

TEST_CASE("legacy: what is broken is refused, what is empty is passed over") {
    for (const std::string_view text :
         {std::string_view("x"), std::string_view("{}"), std::string_view(R"({"header":1})"),
          std::string_view(R"({"header":{"msg_id":1,"msg_type":"x"}})"),
          std::string_view("\0\0\0\0", 4), std::string_view("\0\0\0\1\0\0\0\7{}", 10),
          std::string_view("\0\xff\xff\xff\0\0", 6)}) {
        CAPTURE(text);
        CHECK_FALSE(decode(ClientProtocol::legacy, text).has_value());
    }
    for (const ClientProtocol protocol : {ClientProtocol::legacy, ClientProtocol::v1}) {
        const auto nothing = decode(protocol, "");
        REQUIRE(nothing.has_value());
        CHECK_FALSE(nothing->has_value());
    }
}
