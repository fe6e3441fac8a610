// Runs build-image and reads its lines: progress, notice, image, error (see its head).
// The Process object kills the child when the coroutine goes, and the child cleans up on SIGTERM.

#include <charconv>
#include <optional>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/limits.h"
#include "base/pipe.h"
#include "base/process.h"
#include "vm/image/image.h"

namespace cellblock::vm {

namespace {

namespace asio = boost::asio;

// What the builder's lines said so far.
struct Outcome {
    std::string folder;
    std::string error;
};

// "0.450 packages: installing packages (22 s)"
std::optional<Progress> parse_progress(std::string_view text) {
    Progress progress;
    const std::size_t space = text.find(' ');
    const std::size_t colon = text.find(": ", space == std::string_view::npos ? 0 : space);
    if (space == std::string_view::npos || colon == std::string_view::npos) return std::nullopt;
    const auto parsed = std::from_chars(text.data(), text.data() + space, progress.fraction);
    if (parsed.ec != std::errc() || !(progress.fraction >= 0 && progress.fraction <= 1)) {
        return std::nullopt;
    }
    progress.step = text.substr(space + 1, colon - space - 1);
    progress.detail = text.substr(colon + 2);
    return progress;
}

void read_line(std::string_view line, const ImageBuild& build, Outcome& outcome) {
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) return;
    const std::string_view word = line.substr(0, space);
    const std::string_view rest = line.substr(space + 1);
    if (word == "image") {
        outcome.folder = rest;
    } else if (word == "error") {
        outcome.error = rest;
    } else if (word == "notice" && build.notice) {
        build.notice(std::string(rest));
    } else if (word == "progress" && build.progress) {
        if (const auto progress = parse_progress(rest)) build.progress(*progress);
    }
}

asio::awaitable<Outcome> read_lines(asio::posix::stream_descriptor& pipe, const ImageBuild& build) {
    Outcome outcome;
    std::string buffer;
    for (;;) {
        auto [error, size] = co_await asio::async_read_until(
            pipe, asio::dynamic_buffer(buffer, limits::image_builder_line_max_bytes), '\n',
            as_tuple_awaitable);
        if (error) co_return outcome;
        read_line(std::string_view(buffer).substr(0, size - 1), build, outcome);
        buffer.erase(0, size);
    }
}

std::vector<std::string> command_of(const ImageBuild& build) {
    std::vector<std::string> command = {build.builder.string(), "--recipe", build.recipe, "--out",
                                        build.images.string()};
    if (!build.cache.empty()) command.insert(command.end(), {"--cache", build.cache.string()});
    if (!build.mirror.empty()) command.insert(command.end(), {"--mirror", build.mirror});
    return command;
}

}  // namespace

asio::awaitable<Result<Image>> build_image(ImageBuild build) {
    const auto executor = co_await asio::this_coro::executor;
    CB_CO_TRY_ASSIGN(ends, make_pipe());
    asio::posix::stream_descriptor pipe(executor, ends.read_end.release());
    SpawnOptions options(command_of(build));
    options.standard_output = std::move(ends.write_end);
    auto process = Process::spawn(executor, std::move(options));
    if (!process) co_return fail(process.error().in("starting the image builder"));
    const Outcome outcome = co_await read_lines(pipe, build);
    pipe.close();  // a builder that still talks (a line too long) ends by SIGPIPE
    auto status = co_await process->wait();
    if (!status) co_return fail(status.error());
    if (!status->success() || outcome.folder.empty()) {
        co_return fail(ErrorCode::unavailable,
                       outcome.error.empty() ? "the image builder ended with " + status->text()
                                             : outcome.error);
    }
    co_return read_image(outcome.folder);
}

}  // namespace cellblock::vm
