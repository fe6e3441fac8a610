// GET|POST /api/kernels, GET|DELETE /api/kernels/{id}, POST .../interrupt and .../restart,
// GET .../connection.
//
// Shapes and codes are jupyter_server's. .../connection is ours: a connection file, as ZeroMQ
// clients on this host read it.
#include <cstdlib>

#include "gateway/jupyter/door.h"
#include "gateway/jupyter/kernels.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

// The client has given up by then: its kernel would be nobody's.
Deadline launch_deadline(const NewKernel& wanted) {
    const auto at = wanted.environment.find("KERNEL_LAUNCH_TIMEOUT");
    double seconds = 0;
    if (at != wanted.environment.end()) seconds = std::strtod(at->second.c_str(), nullptr);
    constexpr double day_s = 86'400;
    if (!(seconds > 0 && seconds < day_s)) return Deadline::max();
    return std::chrono::steady_clock::now() +
           std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
}

awaitable<Result<void>> get_kernels(Door& door, Request&, ResponseWriter& writer) {
    CB_CO_TRY(door.check_listing());
    Json all = Json::array();
    for (const PlacedKernel& kernel : list_kernels(door.services.sandboxes)) {
        all.push_back(kernel_model(kernel.kernel()));
    }
    co_return co_await writer.send_json(200, all);
}

awaitable<Result<void>> post_kernels(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(wanted, new_kernel_from(body, door.settings.environment_allowed));
    const auto deadline = launch_deadline(wanted);
    CB_CO_TRY_ASSIGN(kernel, co_await door.start_kernel(std::move(wanted)));
    const bool too_late = std::chrono::steady_clock::now() > deadline;
    if (writer.client_gone() || too_late) {
        // Nobody will ever learn its id.
        co_await door.services.sandboxes.remove(kernel.sandbox->id());
        co_return fail(too_late ? ErrorCode::timeout : ErrorCode::cancelled,
                       "the kernel did not start within its KERNEL_LAUNCH_TIMEOUT",
                       "try again, or allow it more seconds");
    }
    writer.headers().set("Location", "/api/kernels/" + kernel.context->id());
    const Json model = kernel_model(kernel.kernel());
    co_return co_await writer.send_json(201, model);
}

awaitable<Result<void>> get_kernel(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    const Json model = kernel_model(kernel.kernel());
    co_return co_await writer.send_json(200, model);
}

awaitable<Result<void>> delete_kernel(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    CB_CO_TRY(co_await remove_kernel(door.services.sandboxes, std::move(kernel)));
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> interrupt(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    CB_CO_TRY(co_await kernel.kernel().interrupt());
    co_return co_await writer.send_empty(204);
}

awaitable<Result<void>> connection(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    CB_CO_TRY_ASSIGN(file, co_await door.connection_files.of(kernel.context->id()));
    co_return co_await writer.send_json(200, file);
}

// The asker knows that it restarts; told again it would take it for a crash (JupyterLab does).
awaitable<Result<void>> restart(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(kernel, find_kernel(door.services.sandboxes, request.param("id")));
    CB_CO_TRY(co_await kernel.kernel().restart(kernel_proxy::Announce::no));
    const Json model = kernel_model(kernel.kernel());
    co_return co_await writer.send_json(200, model);
}

}  // namespace

void add_kernel_routes(http::Router& router, Door& door) {
    const http::RouteOptions options = door.route_options();
    router.add("GET", "/api/kernels", options, bind(door, get_kernels));
    router.add("POST", "/api/kernels", options, bind(door, post_kernels));
    router.add("GET", "/api/kernels/{id}", options, bind(door, get_kernel));
    router.add("DELETE", "/api/kernels/{id}", options, bind(door, delete_kernel));
    router.add("GET", "/api/kernels/{id}/connection", options, bind(door, connection));
    router.add("POST", "/api/kernels/{id}/interrupt", options, bind(door, interrupt));
    router.add("POST", "/api/kernels/{id}/restart", options, bind(door, restart));
}

}  // namespace cellblock::gateway::jupyter
