// GET /artifacts/{id}: what a cell showed, with ranges, validators and headers that make it
// harmless in a browser, or with view=llm in words; GET /artifacts/{id}.csv and the like, a table
// in another format; GET /artifacts/{id}/info: what is known of it.
// GET /artifacts?execution_id&sandbox_id&limit&offset lists, newest first; DELETE removes.
#include "artifacts/serving.h"
#include "artifacts/store.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/bind.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

// Ids have no dot: what comes behind one is a format.
asio::awaitable<Result<void>> get_artifact(Services& services, Request& request,
                                           ResponseWriter& writer) {
    if (request.param("id").find('.') != std::string::npos) {
        co_return co_await send_converted(services, request, writer);
    }
    if (request.query().get("view") == "llm") {
        co_return co_await send_llm_view(services, request, writer);
    }
    CB_CO_TRY_ASSIGN(opened, co_await open_artifact(services, request));
    co_return co_await send_content(std::move(opened), request, writer);
}

asio::awaitable<Result<void>> get_info(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(artifact, co_await find_artifact(services, request));
    const Json answer = artifacts::to_json(artifact);
    co_return co_await writer.send_json(200, answer);
}

asio::awaitable<Result<void>> list_artifacts(Services& services, Request& request,
                                             ResponseWriter& writer) {
    artifacts::ListQuery query;
    query.tenant = request.tenant();
    query.execution_id = request.query().get("execution_id").value_or("");
    query.sandbox_id = request.query().get("sandbox_id").value_or("");
    CB_CO_TRY_ASSIGN(limit, number_in_query(request, "limit", 100));
    CB_CO_TRY_ASSIGN(offset, number_in_query(request, "offset", 0));
    query.limit = std::min(limit, limits::artifact_list_max);
    query.offset = offset;
    auto list = [&store = services.store, query] { return store.list(query); };
    CB_CO_TRY_ASSIGN(found, co_await services.workers.run(std::move(list)));
    Json body = Json::array();
    for (const artifacts::Artifact& artifact : found) body.push_back(artifacts::to_json(artifact));
    co_return co_await writer.send_json(200, body);
}

asio::awaitable<Result<void>> delete_artifact(Services& services, Request& request,
                                              ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(artifact, co_await find_artifact(services, request));
    auto remove = [&store = services.store, id = artifact.id] { return store.remove(id); };
    CB_CO_TRY(co_await services.workers.run(std::move(remove)));
    co_return co_await writer.send_empty(204);
}

}  // namespace

asio::awaitable<Result<void>> send_content(artifacts::OpenArtifact opened, const Request& request,
                                           ResponseWriter& writer) {
    http::FileBody body;
    body.content_type = set_headers(request, writer, artifacts::content_headers(opened.artifact));
    body.etag = artifacts::entity_tag(opened.artifact);
    body.size = opened.artifact.size_bytes;
    body.fd = std::move(opened.fd);
    co_return co_await writer.send_file(std::move(body));
}

void add_artifact_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("GET", "/artifacts", options, bind(services, list_artifacts));
    router.add("GET", "/artifacts/{id}", options, bind(services, get_artifact));
    router.add("GET", "/artifacts/{id}/info", options, bind(services, get_info));
    router.add("DELETE", "/artifacts/{id}", options, bind(services, delete_artifact));
    add_artifact_view_routes(router, services);
    add_artifact_life_routes(router, services);
    add_artifact_rows_routes(router, services);
}

}  // namespace cellblock::gateway::api
