// GET and PUT /sandboxes/{id}/files/{path*}: a sandbox's files, streamed both ways in constant
// memory.
//
// `path` is relative to /home/user unless it begins with '/' (".../files//tmp/x"). GET of a file
// sends its bytes, GET of a directory its entries as JSON; PUT makes missing parents, replaces the
// file atomically and answers 201 {"path", "size"}. Errors: 404 no such file, 507 the sandbox's
// disk is full, 413 over limits::file_transfer_max_bytes.
#include <string>

#include "gateway/api/services.h"
#include "gateway/http/router.h"
#include "vm/link/call.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;
using vm::link::StreamKind;
using vm::link::StreamPtr;

namespace {

Result<std::string> guest_path(const Request& request) {
    std::string path = request.param("path");
    for (std::size_t at = 0; at < path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        if (path.substr(at, end - at) == "..") {
            return fail(ErrorCode::invalid_argument, "the path must not contain '..'",
                        "name the file by its absolute path");
        }
        at = end + 1;
    }
    if (path.find('\0') != std::string::npos || path.size() > limits::file_path_max_bytes) {
        return fail(ErrorCode::invalid_argument, "the path is not valid");
    }
    return path.starts_with('/') ? path : "/home/user/" + path;
}

// The agent's JSON answer on a file stream: an object, or the error that it reports.
asio::awaitable<Result<Json>> read_answer(StreamPtr stream) {
    CB_CO_TRY_ASSIGN(message, co_await stream->read_message(limits::link_params_max_bytes));
    if (!message) co_return fail(ErrorCode::connection_lost, "the sandbox gave no answer");
    const JsonLimits bounds{limits::link_params_max_bytes};
    CB_CO_TRY_ASSIGN(answer, parse_json(as_text(*message), bounds, "the agent's answer"));
    if (answer.is_object() && answer.contains("error")) {
        const Json& error = answer["error"];
        CB_CO_TRY_ASSIGN(code, required_string(error, "code"));
        CB_CO_TRY_ASSIGN(cause, required_string(error, "message"));
        CB_CO_TRY_ASSIGN(advice, optional_string(error, "advice"));
        co_return fail(error_code_from(code), std::move(cause), advice.value_or(""));
    }
    co_return answer;
}

asio::awaitable<Result<void>> send_listing(Sandbox& sandbox, std::string path,
                                           ResponseWriter& writer) {
    const Json params = {{"path", path}};
    CB_CO_TRY_ASSIGN(listing, co_await vm::link::call(sandbox.link(), "file.list", params,
                                                      limits::file_call_timeout));
    co_return co_await writer.send_json(200, listing);
}

asio::awaitable<Result<void>> get_file(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, services.sandboxes.find(request.param("id")));
    CB_CO_TRY_ASSIGN(path, guest_path(request));
    const StreamPtr stream =
        sandbox->link().open(StreamKind::file_read, Json{{"path", path}}.dump());
    CB_CO_TRY_ASSIGN(status, co_await read_answer(stream));
    CB_CO_TRY_ASSIGN(is_directory, optional_boolean(status, "is_dir"));
    if (is_directory.value_or(false)) co_return co_await send_listing(*sandbox, path, writer);

    CB_CO_TRY(co_await writer.start(200, "application/octet-stream"));
    while (true) {
        auto chunk = co_await stream->read_some();
        if (!chunk) {
            writer.abort();  // a short file must not look complete
            co_return fail(chunk.error().in("reading " + path));
        }
        if (chunk->empty()) break;
        CB_CO_TRY(co_await writer.write(as_text(*chunk)));
    }
    co_return co_await writer.finish();
}

asio::awaitable<Result<void>> put_file(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, services.sandboxes.find(request.param("id")));
    CB_CO_TRY_ASSIGN(path, guest_path(request));
    const Json params = {{"path", path}, {"create_parents", true}};
    const StreamPtr stream = sandbox->link().open(StreamKind::file_write, params.dump());
    while (true) {
        auto chunk = co_await request.read_some();
        if (!chunk) {
            stream->reset(chunk.error());  // the agent drops its temporary file
            co_return fail(chunk.error());
        }
        if (chunk->empty()) break;
        // A write that fails early (full disk) has its reason in the agent's answer.
        if (!co_await stream->write(*chunk)) break;
    }
    if (stream->error()) co_return fail(*stream->error());
    CB_CO_TRY(co_await stream->finish());
    CB_CO_TRY_ASSIGN(answer, co_await read_answer(stream));
    CB_CO_TRY_ASSIGN(size, required_integer(answer, "size"));
    const Json body = {{"path", path}, {"size", size}};
    co_return co_await writer.send_json(201, body);
}

}  // namespace

void add_file_routes(http::Router& router, Services& services) {
    http::RouteOptions options;
    options.on_disconnect = http::OnDisconnect::cancel;
    options.body_max_bytes = limits::file_transfer_max_bytes;
    router.add("GET", "/sandboxes/{id}/files/{path*}", options,
               [&services](Request& request, ResponseWriter& writer) {
                   return get_file(services, request, writer);
               });
    router.add("PUT", "/sandboxes/{id}/files/{path*}", options,
               [&services](Request& request, ResponseWriter& writer) {
                   return put_file(services, request, writer);
               });
}

}  // namespace cellblock::gateway::api
