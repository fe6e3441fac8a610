#include "gateway/api/artifact_request.h"

#include <string>

#include "base/ids.h"
#include "gateway/api/services.h"
#include "gateway/http/request.h"
#include "gateway/http/response.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;

namespace {

tl::unexpected<Error> not_found(const std::string& id) {
    return fail(ErrorCode::not_found, "artifact \"" + id + "\" was not found");
}

}  // namespace

asio::awaitable<Result<artifacts::Artifact>> find_artifact(Services& services,
                                                           const Request& request) {
    const std::string id = request.param("id");
    if (!is_valid_id(id)) co_return not_found(id);
    auto get = [&store = services.store, id] { return store.get(id); };
    CB_CO_TRY_ASSIGN(artifact, co_await services.workers.run(std::move(get)));
    if (artifact.info.tenant != request.tenant()) co_return not_found(id);
    co_return artifact;
}

asio::awaitable<Result<artifacts::OpenArtifact>> open_artifact(Services& services, std::string id,
                                                               std::string tenant) {
    if (!is_valid_id(id)) co_return not_found(id);
    auto open = [&store = services.store, id] { return store.open_content(id); };
    CB_CO_TRY_ASSIGN(opened, co_await services.workers.run(std::move(open)));
    if (opened.artifact.info.tenant != tenant) co_return not_found(id);
    co_return opened;
}

asio::awaitable<Result<artifacts::OpenArtifact>> open_artifact(Services& services,
                                                               const Request& request) {
    return open_artifact(services, request.param("id"), request.tenant());
}

std::string set_headers(const Request& request, http::ResponseWriter& writer,
                        const artifacts::Headers& headers) {
    std::string content_type;
    for (const auto& [name, value] : headers) {
        if (name == "Content-Type") {
            content_type = value;
        } else if (name != "ETag" && name != "Accept-Ranges") {
            writer.headers().set(name, value);
        }
    }
    // A signed link is made to be shown by somebody's page.
    if (request.query().get("signature")) {
        writer.headers().set("Cross-Origin-Resource-Policy", "cross-origin");
    }
    return content_type;
}

Result<std::size_t> number_in_query(const Request& request, std::string_view name,
                                    std::size_t fallback) {
    const auto text = request.query().get(name);
    if (!text) return fallback;
    if (text->empty() || text->size() > 9 ||
        text->find_first_not_of("0123456789") != std::string::npos) {
        return fail(ErrorCode::invalid_argument,
                    "'" + std::string(name) + "' must be a whole number");
    }
    return static_cast<std::size_t>(std::stoul(*text));
}

}  // namespace cellblock::gateway::api
