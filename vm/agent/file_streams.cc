#include "vm/agent/file_streams.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "base/limits.h"
#include "vm/agent/user_files.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;

struct FileRequest {
    fs::path path;
    std::uint64_t offset = 0;
    std::uint64_t length = UINT64_MAX;
    unsigned mode = 0;
    enum class Parents { make, leave } parents = Parents::make;

    FileRequest() = default;
};

Result<FileRequest> parse_request(const std::string& params, const Options& options) {
    CB_TRY_ASSIGN(
        json, parse_json(params, JsonLimits{limits::link_params_max_bytes}, "the file request"));
    CB_TRY_ASSIGN(path, required_string(json, "path"));
    CB_TRY_ASSIGN(offset, optional_integer(json, "offset"));
    CB_TRY_ASSIGN(length, optional_integer(json, "length"));
    CB_TRY_ASSIGN(mode, optional_integer(json, "mode"));
    CB_TRY_ASSIGN(create_parents, optional_boolean(json, "create_parents"));
    FileRequest request;
    CB_TRY_ASSIGN(resolved, resolve_user_path(path, options.home));
    request.path = std::move(resolved);
    if (offset.value_or(0) < 0 || length.value_or(0) < 0) {
        return fail(ErrorCode::invalid_argument, "offset and length cannot be negative");
    }
    if (mode && (*mode < 0 || *mode > 0777)) {
        return fail(ErrorCode::invalid_argument, "mode has to be 0 to 0777");
    }
    request.offset = static_cast<std::uint64_t>(offset.value_or(0));
    if (length) request.length = static_cast<std::uint64_t>(*length);
    request.mode = static_cast<unsigned>(mode.value_or(0));
    if (!create_parents.value_or(true)) request.parents = FileRequest::Parents::leave;
    return request;
}

Result<Bytes> read_piece(int fd, std::uint64_t offset, std::size_t size) {
    Bytes piece(size);
    ssize_t n = -1;
    do {
        n = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(offset));
    } while (n < 0 && errno == EINTR);
    if (n < 0) return fail(error_from_errno(errno, "read the file"));
    piece.resize(static_cast<std::size_t>(n));
    return piece;
}

asio::awaitable<Result<void>> say(link::StreamPtr stream, Json message) {
    const std::string text = dump_ascii(message);
    CB_CO_TRY(co_await stream->write_message(as_bytes(text)));
    co_return Result<void>{};
}

asio::awaitable<Result<void>> send_pieces(link::StreamPtr stream, WorkerPool& pool, int fd,
                                          FileRequest request) {
    std::uint64_t left = request.length;
    std::uint64_t at = request.offset;
    while (left > 0) {
        const auto size =
            static_cast<std::size_t>(std::min<std::uint64_t>(left, limits::agent_file_piece_bytes));
        auto job = [fd, at, size] { return read_piece(fd, at, size); };
        CB_CO_TRY_ASSIGN(piece, co_await pool.run(job));
        if (piece.empty()) break;
        CB_CO_TRY(co_await stream->write(piece));
        at += piece.size();
        left -= piece.size();
    }
    co_return Result<void>{};
}

asio::awaitable<Result<void>> receive_file(link::StreamPtr stream, WorkerPool& pool,
                                           UserIdentity user, FileRequest request) {
    auto create = [user, request] {
        return NewUserFile::create(user, request.path, request.mode,
                                   request.parents == FileRequest::Parents::make);
    };
    CB_CO_TRY_ASSIGN(created, co_await pool.run(create));
    // Shared with the worker's jobs, of which at most one runs, and while it does we only wait.
    const auto file = std::make_shared<NewUserFile>(std::move(created));
    while (true) {
        CB_CO_TRY_ASSIGN(received, co_await stream->read_some());
        if (received.empty()) break;
        const auto piece = std::make_shared<Bytes>(std::move(received));
        auto job = [file, piece] { return file->write(*piece); };
        CB_CO_TRY(co_await pool.run(job));
    }
    auto commit = [file] { return file->commit(); };
    CB_CO_TRY(co_await pool.run(commit));
    Json reply = {{"size", file->size()}, {"path", request.path.string()}};
    CB_CO_TRY(co_await say(stream, std::move(reply)));
    co_return co_await stream->finish();
}

}  // namespace

Json error_reply(const Error& error) {
    Json detail = {{"code", to_string(error.code)}, {"message", error.cause}};
    if (!error.advice.empty()) detail["advice"] = error.advice;
    Json reply = Json::object();
    reply["error"] = std::move(detail);
    return reply;
}

asio::awaitable<void> serve_file_read(link::StreamPtr stream, WorkerPool& pool,
                                      const Options& options) {
    const UserIdentity user{options.uid, options.gid};
    const auto request = parse_request(stream->params(), options);
    Result<OpenedFile> opened = fail(ErrorCode::internal, "not opened");
    if (request) {
        auto open = [user, path = request->path] { return open_user_file(user, path); };
        opened = co_await pool.run(open);
    } else {
        opened = fail(request.error());
    }
    if (!opened) {
        (void)co_await say(stream, error_reply(opened.error()));
        (void)co_await stream->finish();
        co_return;
    }
    auto sent = co_await say(stream, opened->stat);
    const bool is_directory = opened->stat.value("is_dir", false);
    if (sent && !is_directory)
        sent = co_await send_pieces(stream, pool, opened->fd.get(), *request);
    if (sent) sent = co_await stream->finish();
    if (!sent) stream->reset(sent.error());
}

asio::awaitable<void> serve_file_write(link::StreamPtr stream, WorkerPool& pool,
                                       const Options& options) {
    const UserIdentity user{options.uid, options.gid};
    auto request = parse_request(stream->params(), options);
    if (!request) {
        stream->reset(request.error());
        co_return;
    }
    const auto received = co_await receive_file(stream, pool, user, std::move(*request));
    if (!received) stream->reset(received.error());
}

}  // namespace cellblock::vm::agent
