// GET /api/kernelspecs, /api/kernelspecs/{name}, /kernelspecs/{name}/{file}.
#include "gateway/jupyter/door.h"
#include "gateway/jupyter/kernelspecs.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

awaitable<Result<void>> list(Door& door, Request&, ResponseWriter& writer) {
    const Json all = door.kernelspecs.list(door.settings.default_kernel);
    co_return co_await writer.send_json(200, all);
}

awaitable<Result<void>> get(Door& door, Request& request, ResponseWriter& writer) {
    const auto spec = door.kernelspecs.find(request.param("name"));
    if (!spec) {
        co_return fail(ErrorCode::not_found, "Kernel spec " + request.param("name") + " not found");
    }
    co_return co_await writer.send_json(200, *spec);
}

awaitable<Result<void>> resource(Door& door, Request& request, ResponseWriter& writer) {
    const auto found = door.kernelspecs.resource(request.param("name"), request.param("file"));
    if (!found) {
        co_return fail(ErrorCode::not_found, "there is no such file of a kernel");
    }
    writer.headers().set("Cache-Control", "max-age=2592000");
    writer.headers().set("Content-Security-Policy", "sandbox");
    co_return co_await writer.send(200, found->content_type, found->body);
}

}  // namespace

void add_kernelspec_routes(http::Router& router, Door& door) {
    const http::RouteOptions options = door.route_options();
    router.add("GET", "/api/kernelspecs", options, bind(door, list));
    router.add("GET", "/api/kernelspecs/{name}", options, bind(door, get));
    router.add("GET", "/kernelspecs/{name}/{file}", options, bind(door, resource));
}

}  // namespace cellblock::gateway::jupyter
