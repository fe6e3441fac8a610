#include "vm/link/kernel_message.h"

#include <doctest/doctest.h>

#include "tests/unit/vm/link/harness.h"

namespace cellblock::vm::link::test {
namespace {

Bytes encode_whole(Channel channel, const std::vector<std::string>& texts) {
    std::vector<ByteView> frames;
    for (const std::string& text : texts) frames.push_back(as_bytes(text));
    Bytes bytes = encode_kernel_message_head(channel, frames).value();
    for (const ByteView frame : frames) bytes.insert(bytes.end(), frame.begin(), frame.end());
    return bytes;
}

TEST_CASE("a kernel message comes back as it went in") {
    auto message = KernelMessage::decode(
        encode_whole(Channel::iopub, {"{\"a\":1}", "{}", "", "{\"c\":2}", "buffer one", ""}));
    REQUIRE(message);
    const KernelMessage moved = std::move(*message);
    CHECK(moved.channel() == Channel::iopub);
    CHECK(as_text(moved.header()) == "{\"a\":1}");
    CHECK(as_text(moved.parent_header()) == "{}");
    CHECK(moved.metadata().empty());
    CHECK(as_text(moved.content()) == "{\"c\":2}");
    REQUIRE(moved.buffers().size() == 2);
    CHECK(as_text(moved.buffers()[0]) == "buffer one");
    CHECK(moved.buffers()[1].empty());
}

TEST_CASE("malformed kernel messages are refused") {
    const Bytes good = encode_whole(Channel::shell, {"h", "p", "m", "c"});
    REQUIRE(KernelMessage::decode(good));
    for (std::size_t cut = 0; cut < good.size(); ++cut) {
        CHECK(!KernelMessage::decode(Bytes(good.begin(), good.begin() + static_cast<long>(cut))));
    }
    Bytes bad = good;
    bad.push_back(std::byte{'x'});
    CHECK(!KernelMessage::decode(bad));
    bad = good;
    bad[0] = std::byte{4};  // no such channel
    CHECK(!KernelMessage::decode(bad));
    bad = good;
    bad[1] = std::byte{3};  // too few frames
    CHECK(!KernelMessage::decode(bad));
    bad = good;
    bad[1] = std::byte{255};  // too many
    bad.resize(2 + 255 * 4);
    CHECK(!KernelMessage::decode(bad));
    bad = good;
    bad[5] = std::byte{255};  // a length over the message's
    CHECK(!KernelMessage::decode(bad));
}

TEST_CASE("what cannot be sent is refused before it is sent") {
    const std::vector<ByteView> three(3);
    CHECK(encode_kernel_message_head(Channel::shell, three).error().code ==
          ErrorCode::invalid_argument);
    const std::vector<ByteView> many(limits::kernel_message_frames_max + 1);
    CHECK(encode_kernel_message_head(Channel::shell, many).error().code ==
          ErrorCode::invalid_argument);
    const Bytes big(limits::kernel_message_max_bytes / 4);
    const std::vector<ByteView> large(5, ByteView(big));
    CHECK(encode_kernel_message_head(Channel::shell, large).error().code == ErrorCode::too_large);
}

awaitable<void> exchange(StreamPtr out, StreamPtr& in) {
    const std::string picture(3'000'000, 'p');
    const std::vector<ByteView> frames = {as_bytes("{}"), as_bytes("{}"), as_bytes("{}"),
                                          as_bytes("{\"text\":\"x\"}"), as_bytes(picture)};
    const auto written = co_await write_kernel_message(*out, Channel::stdin_, frames);
    REQUIRE(written);
    const auto finished = co_await out->finish();
    REQUIRE(finished);
    REQUIRE(in);
}

awaitable<void> receive(StreamPtr& in, int& seen) {
    while (!in) co_await pause_for(std::chrono::milliseconds(1));
    const StreamPtr stream = in;
    auto message = co_await read_kernel_message(*stream);
    REQUIRE(message);
    REQUIRE(*message);
    CHECK((*message)->channel() == Channel::stdin_);
    CHECK((*message)->buffers()[0].size() == 3'000'000);
    auto end = co_await read_kernel_message(*stream);
    REQUIRE(end);
    CHECK(!*end);
    ++seen;
}

TEST_CASE("a kernel message larger than the window goes through a stream") {
    TwoEnds ends;
    StreamPtr in;
    int seen = 0;
    ends.guest->on_stream([&](StreamPtr stream) { in = std::move(stream); });
    ends.connect();
    asio::co_spawn(ends.context, exchange(ends.host->open(StreamKind::kernel, "{}"), in),
                   [](std::exception_ptr failure) { CHECK(!failure); });
    run_to_end(ends.context, receive(in, seen));
    CHECK(seen == 1);
}

}  // namespace
}  // namespace cellblock::vm::link::test
