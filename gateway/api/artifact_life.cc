// How long artifacts live and who may see them.
//
//   PATCH /artifacts/{id}      {"pinned": bool}                200 the artifact; pinned ones stay
//   POST /artifacts/{id}/link  {"expires_s"?: 1 to 604800}     201 {"url", "expires_at"}: works
//                              (3600)                          without the token (signed_link.h)
//   POST /artifacts/gc         {"max_age_s"?, "max_bytes"?}    200 {"removed": n}; what is left out
//                                                              is as configured
#include "artifacts/store.h"
#include "base/clock.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/bind.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

asio::awaitable<Result<void>> patch(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(pinned, optional_boolean(body, "pinned"));
    if (!pinned) {
        co_return fail(ErrorCode::invalid_argument, "'pinned' is missing",
                       "send {\"pinned\": true} or {\"pinned\": false}");
    }
    CB_CO_TRY_ASSIGN(artifact, co_await find_artifact(services, request));
    auto set = [&store = services.store, id = artifact.id, value = *pinned] {
        return store.set_pinned(id, value);
    };
    CB_CO_TRY(co_await services.workers.run(std::move(set)));
    artifact.pinned = *pinned;
    const Json answer = artifacts::to_json(artifact);
    co_return co_await writer.send_json(200, answer);
}

asio::awaitable<Result<void>> link(Services& services, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(wanted, optional_integer(body, "expires_s"));
    const std::int64_t lives_s = wanted.value_or(auth::signed_link_default.count());
    if (lives_s < 1 || lives_s > auth::signed_link_max.count()) {
        co_return fail(
            ErrorCode::invalid_argument,
            "'expires_s' has to be 1 to " + std::to_string(auth::signed_link_max.count()));
    }
    CB_CO_TRY_ASSIGN(artifact, co_await find_artifact(services, request));
    const std::int64_t expires_s = wall_clock_ns() / 1'000'000'000 + lives_s;
    const WallTime moment{std::chrono::seconds(expires_s)};
    const std::string query = services.links.query_for(artifact.id, expires_s);
    const Json answer = {{"url", "/artifacts/" + artifact.id + "?" + query},
                         {"expires_at", iso8601(moment)}};
    co_return co_await writer.send_json(201, answer);
}

Result<std::optional<std::uint64_t>> not_negative(const Json& body, std::string_view field) {
    CB_TRY_ASSIGN(value, optional_integer(body, field));
    if (!value) return std::nullopt;
    if (*value < 0) {
        return fail(ErrorCode::invalid_argument, "'" + std::string(field) + "' is negative");
    }
    return static_cast<std::uint64_t>(*value);
}

asio::awaitable<Result<void>> collect(Services& services, Request& request,
                                      ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    artifacts::GcPolicy policy = services.retention;
    CB_CO_TRY_ASSIGN(max_age_s, not_negative(body, "max_age_s"));
    CB_CO_TRY_ASSIGN(max_bytes, not_negative(body, "max_bytes"));
    if (max_age_s) policy.max_age = std::chrono::seconds(*max_age_s);
    if (max_bytes) policy.max_total_bytes = *max_bytes;
    auto gc = [&store = services.store, policy] { return store.gc(policy); };
    CB_CO_TRY_ASSIGN(removed, co_await services.workers.run(std::move(gc)));
    const Json answer = {{"removed", removed}};
    co_return co_await writer.send_json(200, answer);
}

}  // namespace

void add_artifact_life_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("PATCH", "/artifacts/{id}", options, bind(services, patch));
    router.add("POST", "/artifacts/{id}/link", options, bind(services, link));
    router.add("POST", "/artifacts/gc", options, bind(services, collect));
}

}  // namespace cellblock::gateway::api
