// Copies of both ends of a link, taken at one moment, go on where the originals were.
#include "vm/link/link_image.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "tests/unit/vm/link/harness.h"

namespace cellblock::vm::link::test {
namespace {

constexpr std::uint32_t kMessages = 400;
using Numbers = std::vector<std::uint32_t>;

Bytes numbered_message(std::uint32_t number) {
    Bytes bytes(4);
    store_le(bytes.data(), number);
    const Bytes rest = pattern(number, number * 37 % 3000);
    bytes.insert(bytes.end(), rest.begin(), rest.end());
    return bytes;
}

// One end's user: writes numbers, and keeps what it reads. `sent` and `got` are all that a copy of
// it needs.
struct Talker {
    std::uint32_t sent = 0;
    Numbers got;
    StreamPtr stream;

    Talker() = default;
    Talker(std::uint32_t sent_, Numbers got_) : sent(sent_), got(std::move(got_)) {}
};

awaitable<void> write_numbers(Talker& talker) {
    while (talker.sent < kMessages) {
        const Bytes message = numbered_message(talker.sent);
        const auto written = co_await talker.stream->write_message(message);
        REQUIRE(written.has_value());
        ++talker.sent;
    }
}

awaitable<void> read_numbers(Talker& talker) {
    while (talker.got.size() < kMessages) {
        const auto message = co_await talker.stream->read_message(8192);
        REQUIRE(message.has_value());
        REQUIRE(message->has_value());
        const auto number = load_le<std::uint32_t>((*message)->data());
        CHECK(**message == numbered_message(number));
        talker.got.push_back(number);
    }
}

void rethrow(std::exception_ptr exception) {
    if (exception) std::rethrow_exception(exception);
}

void talk(asio::io_context& context, Talker& talker) {
    asio::co_spawn(context, write_numbers(talker), rethrow);
    asio::co_spawn(context, read_numbers(talker), rethrow);
}

template <typename Condition>
void run_until(asio::io_context& context, Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        context.restart();
        context.run_one_for(std::chrono::milliseconds(100));
    }
}

bool any_half_written(const LinkImage& image) {
    return std::any_of(image.streams.begin(), image.streams.end(),
                       [](const StreamImage& stream) { return stream.half_written; });
}

Numbers all_numbers() {
    Numbers numbers(kMessages);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

}  // namespace

TEST_CASE("copies of both ends go on in the middle of a talk, and the originals too") {
    for (unsigned seed = 1; seed <= 12; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        Talker host;  // before the ends, whose last coroutines still use them
        Talker guest;
        TwoEnds ends;
        ends.guest->on_stream([&](StreamPtr stream) {
            guest.stream = std::move(stream);
            talk(ends.context, guest);
        });
        ends.connect();
        host.stream = ends.host->open(StreamKind::kernel, R"({"kernel_id":"k"})");
        talk(ends.context, host);
        const std::size_t moment = random() % kMessages;
        run_until(ends.context, [&] { return guest.stream && host.got.size() >= moment; });
        LinkImage host_image = ends.host->image();
        LinkImage guest_image = ends.guest->image();
        while (any_half_written(host_image) || any_half_written(guest_image)) {
            ends.context.restart();
            ends.context.run_one_for(std::chrono::milliseconds(100));
            host_image = ends.host->image();
            guest_image = ends.guest->image();
        }

        Talker host_copy(host.sent, host.got);
        Talker guest_copy(guest.sent, guest.got);
        TwoEnds copies;
        copies.host = std::make_unique<Link>(copies.context.get_executor(), Role::host,
                                             LinkOptions(), host_image);
        copies.guest = std::make_unique<Link>(copies.context.get_executor(), Role::guest,
                                              LinkOptions(), guest_image);
        const auto host_streams = copies.host->take_inherited();
        const auto guest_streams = copies.guest->take_inherited();
        REQUIRE(host_streams.size() == 1);
        REQUIRE(guest_streams.size() == 1);
        CHECK(host_streams.front()->params() == R"({"kernel_id":"k"})");
        host_copy.stream = host_streams.front();
        guest_copy.stream = guest_streams.front();
        talk(copies.context, host_copy);
        talk(copies.context, guest_copy);
        copies.connect();
        const auto done = [](const Talker& a, const Talker& b) {
            return a.got.size() == kMessages && b.got.size() == kMessages;
        };
        run_until(copies.context, [&] { return done(host_copy, guest_copy); });
        CHECK(host_copy.got == all_numbers());
        CHECK(guest_copy.got == all_numbers());
        CHECK(copies.guest->stats().sessions == 0);  // resumed, not begun anew
        run_until(ends.context, [&] { return done(host, guest); });
        CHECK(host.got == all_numbers());
        CHECK(guest.got == all_numbers());
    }
}

TEST_CASE("a copy resets the stream whose writer holds the rest of a message") {
    TwoEnds ends;
    StreamPtr at_guest;
    ends.guest->on_stream([&](StreamPtr stream) { at_guest = std::move(stream); });
    ends.connect();
    const StreamPtr stream = ends.host->open(StreamKind::kernel, "{}");
    const Bytes large = pattern(1, 2 * kInitialWindow);
    asio::co_spawn(
        ends.context,
        [](StreamPtr to, const Bytes& message) -> awaitable<void> {
            co_await to->write_message(message);
        }(stream, large),
        rethrow);
    run_until(ends.context, [&] { return any_half_written(ends.host->image()); });

    TwoEnds copies;
    copies.host = std::make_unique<Link>(copies.context.get_executor(), Role::host, LinkOptions(),
                                         ends.host->image());
    copies.guest = std::make_unique<Link>(copies.context.get_executor(), Role::guest, LinkOptions(),
                                          ends.guest->image());
    CHECK(copies.host->take_inherited().empty());
    const auto cut = copies.guest->take_inherited();
    copies.connect();
    for (const StreamPtr& inherited : cut) {
        run_until(copies.context, [&] { return inherited->error().has_value(); });
    }
    run_until(copies.context, [&] { return copies.host->connected(); });
}

TEST_CASE("a stream of the original that the copy does not keep is reset there only") {
    TwoEnds ends;
    StreamPtr at_guest;
    ends.guest->on_stream([&](StreamPtr stream) { at_guest = std::move(stream); });
    ends.connect();
    const StreamPtr stream = ends.host->open(StreamKind::file_read, "{}");
    run_until(ends.context, [&] { return at_guest != nullptr; });

    TwoEnds copies;
    copies.host = std::make_unique<Link>(copies.context.get_executor(), Role::host, LinkOptions(),
                                         ends.host->image());
    copies.guest = std::make_unique<Link>(copies.context.get_executor(), Role::guest, LinkOptions(),
                                          ends.guest->image());
    const auto at_guest_copy = copies.guest->take_inherited();
    REQUIRE(at_guest_copy.size() == 1);
    copies.host->take_inherited();
    copies.connect();
    run_until(copies.context, [&] { return at_guest_copy.front()->error().has_value(); });
    CHECK(at_guest_copy.front()->error()->code == ErrorCode::cancelled);
    CHECK_FALSE(stream->error().has_value());
    CHECK_FALSE(at_guest->error().has_value());
}

}  // namespace cellblock::vm::link::test
