// GET|POST /contexts, DELETE /contexts/{id}, POST /contexts/{id}/restart and /interrupt.
//
// Shapes and codes are those of E2B's code interpreter: a context is {"id", "language", "cwd"},
// lists are in creation order, errors are plain text. /interrupt is ours: 200 with `null`, like
// restart.
#include "gateway/api/bind.h"
#include "gateway/api/context_json.h"
#include "gateway/api/unprocessable.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

asio::awaitable<Result<void>> list_contexts(Services& services, Request& request,
                                            ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    Json list = Json::array();
    for (const ContextPointer& context : sandbox->contexts()) list.push_back(to_json(*context));
    co_return co_await writer.send_json(200, list);
}

asio::awaitable<Result<void>> create_context(Services& services, Request& request,
                                             ResponseWriter& writer) {
    const auto body = co_await request.read_json();
    auto spec = body ? context_spec_from(*body) : fail(body.error());
    if (!spec) co_return co_await refuse_body(spec.error(), writer);
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY_ASSIGN(context, co_await sandbox->create_context(std::move(*spec)));
    co_return co_await writer.send_json(200, to_json(*context));
}

asio::awaitable<Result<void>> delete_context(Services& services, Request& request,
                                             ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY(co_await sandbox->delete_context(request.param("id")));
    co_return co_await writer.send_json(200, nullptr);
}

asio::awaitable<Result<void>> restart_context(Services& services, Request& request,
                                              ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY_ASSIGN(context, sandbox->find_context(request.param("id")));
    CB_CO_TRY(co_await context->kernel->restart());
    co_return co_await writer.send_json(200, nullptr);
}

asio::awaitable<Result<void>> interrupt_context(Services& services, Request& request,
                                                ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(sandbox, co_await sandbox_of(request, services));
    CB_CO_TRY_ASSIGN(context, sandbox->find_context(request.param("id")));
    CB_CO_TRY(co_await context->kernel->interrupt());
    co_return co_await writer.send_json(200, nullptr);
}

}  // namespace

void add_context_routes(http::Router& router, Services& services) {
    http::RouteOptions options;
    options.style = http::ErrorStyle::code_interpreter;
    router.add("GET", "/contexts", options, bind(services, list_contexts));
    router.add("POST", "/contexts", options, bind(services, create_context));
    router.add("DELETE", "/contexts/{id}", options, bind(services, delete_context));
    router.add("POST", "/contexts/{id}/restart", options, bind(services, restart_context));
    router.add("POST", "/contexts/{id}/interrupt", options, bind(services, interrupt_context));
}

}  // namespace cellblock::gateway::api
