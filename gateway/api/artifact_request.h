// What every route of artifacts asks first: which one, whose, and with what numbers in the query.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "artifacts/serving.h"
#include "artifacts/store.h"
#include "base/error.h"

namespace cellblock::gateway::http {
class Request;
class ResponseWriter;
class Router;
}  // namespace cellblock::gateway::http

namespace cellblock::gateway::api {

struct Services;

// The artifact that {id} names; not_found also for somebody else's, which looks exactly like one
// that does not exist.
boost::asio::awaitable<Result<artifacts::Artifact>> find_artifact(Services& services,
                                                                  const http::Request& request);
boost::asio::awaitable<Result<artifacts::OpenArtifact>> open_artifact(Services& services,
                                                                      const http::Request& request);
// The same for an id that is only a part of the path.
boost::asio::awaitable<Result<artifacts::OpenArtifact>> open_artifact(Services& services,
                                                                      std::string id,
                                                                      std::string tenant);

// A whole number of at most nine digits; `fallback` when the query has none of that name.
Result<std::size_t> number_in_query(const http::Request& request, std::string_view name,
                                    std::size_t fallback);

// The headers that make what is served of an artifact harmless, but for those that the answer's own
// framing decides. Returns the Content-Type.
std::string set_headers(const http::Request& request, http::ResponseWriter& writer,
                        const artifacts::Headers& headers);

// The answer to view=llm (artifact_llm.cc).
boost::asio::awaitable<Result<void>> send_llm_view(Services& services, http::Request& request,
                                                   http::ResponseWriter& writer);

// Routes for what is made from artifacts (artifact_views.cc), for pages of tables
// (artifact_rows.cc), and for how long artifacts live (artifact_life.cc).
void add_artifact_view_routes(http::Router& router, Services& services);
void add_artifact_rows_routes(http::Router& router, Services& services);
void add_artifact_life_routes(http::Router& router, Services& services);

// Sends the stored content itself, with ranges and validators.
boost::asio::awaitable<Result<void>> send_content(artifacts::OpenArtifact opened,
                                                  const http::Request& request,
                                                  http::ResponseWriter& writer);
// GET /artifacts/{id}.{extension}: a table in another format (artifact_conversions.cc).
boost::asio::awaitable<Result<void>> send_converted(Services& services, http::Request& request,
                                                    http::ResponseWriter& writer);

}  // namespace cellblock::gateway::api
