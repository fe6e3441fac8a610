// GET and PUT /sandboxes/{id}/files/{path*}: a sandbox's files, streamed both ways in constant
// memory.
//
// `path` is relative to /home/user unless it begins with '/' (".../files//tmp/x"). GET of a file
// sends its bytes, GET of a directory its entries as JSON; PUT makes missing parents, replaces the
// file atomically and answers 201 {"path", "size"}. Errors: 404 no such file, 507 the sandbox's
// disk is full, 413 over limits::file_transfer_max_bytes.
#include <string>

#include "gateway/api/bind.h"
#include "gateway/sandboxes/guest_files.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

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

asio::awaitable<Result<void>> get_file(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, co_await services.sandboxes.awake(request.param("id")));
    CB_CO_TRY_ASSIGN(path, guest_path(request));
    CB_CO_TRY_ASSIGN(file, co_await open_guest_file(sandbox->link(), path));
    if (file.kind == GuestFileKind::directory) {
        CB_CO_TRY_ASSIGN(listing, co_await list_guest_folder(sandbox->link(), path));
        co_return co_await writer.send_json(200, listing);
    }
    CB_CO_TRY(co_await writer.start(200, "application/octet-stream"));
    while (true) {
        auto chunk = co_await file.stream->read_some();
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
    CB_CO_TRY_ASSIGN(sandbox, co_await services.sandboxes.awake(request.param("id")));
    CB_CO_TRY_ASSIGN(path, guest_path(request));
    const vm::link::StreamPtr stream = create_guest_file(sandbox->link(), path);
    while (true) {
        auto chunk = co_await request.read_some();
        if (!chunk) {
            stream->reset(chunk.error());  // the agent drops its temporary file
            co_return fail(chunk.error());
        }
        if (chunk->empty()) break;
        // A write that fails early (a full disk) has its reason in the agent's answer.
        if (!co_await stream->write(*chunk)) break;
    }
    if (!stream->error()) {
        CB_CO_TRY(co_await stream->finish());
    }
    CB_CO_TRY_ASSIGN(size, co_await guest_file_written(stream));
    const Json body = {{"path", path}, {"size", size}};
    co_return co_await writer.send_json(201, body);
}

}  // namespace

void add_file_routes(http::Router& router, Services& services) {
    http::RouteOptions options;
    options.on_disconnect = http::OnDisconnect::cancel;
    options.body_max_bytes = limits::file_transfer_max_bytes;
    router.add("GET", "/sandboxes/{id}/files/{path*}", options, bind(services, get_file));
    router.add("PUT", "/sandboxes/{id}/files/{path*}", options, bind(services, put_file));
}

}  // namespace cellblock::gateway::api
