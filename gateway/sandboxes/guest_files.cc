#include "gateway/sandboxes/guest_files.h"

#include <utility>

#include "base/limits.h"
#include "vm/link/call.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using vm::link::Link;
using vm::link::StreamKind;
using vm::link::StreamPtr;

namespace {

// The agent's JSON answer on a file stream: an object, or the error that it reports.
asio::awaitable<Result<Json>> read_answer(StreamPtr stream) {
    CB_CO_TRY_ASSIGN(message, co_await stream->read_message(limits::link_params_max_bytes));
    if (!message) co_return fail(ErrorCode::connection_lost, "the sandbox gave no answer");
    const JsonLimits bounds{limits::link_params_max_bytes};
    CB_CO_TRY_ASSIGN(answer, parse_json(as_text(*message), bounds, "the agent's answer"));
    if (!answer.is_object())
        co_return fail(ErrorCode::guest_protocol, "the agent's answer is no object");
    const auto error = answer.find("error");
    if (error == answer.end()) co_return answer;
    CB_CO_TRY_ASSIGN(code, required_string(*error, "code"));
    CB_CO_TRY_ASSIGN(cause, required_string(*error, "message"));
    CB_CO_TRY_ASSIGN(advice, optional_string(*error, "advice"));
    co_return fail(error_code_from(code), std::move(cause), advice.value_or(""));
}

Result<std::uint64_t> size_in(const Json& answer) {
    CB_TRY_ASSIGN(size, required_integer(answer, "size"));
    if (size < 0) return fail(ErrorCode::guest_protocol, "the agent reports a negative size");
    return static_cast<std::uint64_t>(size);
}

}  // namespace

asio::awaitable<Result<OpenGuestFile>> open_guest_file(Link& link, std::string path) {
    OpenGuestFile file;
    file.stream = link.open(StreamKind::file_read, Json{{"path", path}}.dump());
    CB_CO_TRY_ASSIGN(status, co_await read_answer(file.stream));
    CB_CO_TRY_ASSIGN(is_directory, optional_boolean(status, "is_dir"));
    CB_CO_TRY_ASSIGN(size, size_in(status));
    file.kind = is_directory.value_or(false) ? GuestFileKind::directory : GuestFileKind::file;
    file.size_bytes = size;
    co_return file;
}

StreamPtr create_guest_file(Link& link, const std::string& path) {
    const Json params = {{"path", path}, {"create_parents", true}};
    return link.open(StreamKind::file_write, params.dump());
}

asio::awaitable<Result<std::uint64_t>> guest_file_written(StreamPtr stream) {
    CB_CO_TRY_ASSIGN(answer, co_await read_answer(std::move(stream)));
    co_return size_in(answer);
}

asio::awaitable<Result<Json>> list_guest_folder(Link& link, std::string path) {
    Json params = {{"path", std::move(path)}};
    co_return co_await vm::link::call(link, "file.list", std::move(params),
                                      limits::file_call_timeout);
}

asio::awaitable<Result<void>> remove_guest_file(Link& link, std::string path) {
    Json params = {{"path", std::move(path)}};
    CB_CO_TRY(
        co_await vm::link::call(link, "file.remove", std::move(params), limits::file_call_timeout));
    co_return Result<void>{};
}

}  // namespace cellblock::gateway
