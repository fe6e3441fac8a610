// What every route of artifacts asks first: which one, whose, and with what numbers in the query.
#pragma once

#include <cstddef>
#include <string_view>

#include <boost/asio/awaitable.hpp>

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

// A whole number of at most nine digits; `fallback` when the query has none of that name.
Result<std::size_t> number_in_query(const http::Request& request, std::string_view name,
                                    std::size_t fallback);

// A signed link is made to be shown by somebody's page: only with the token is a page of another
// origin kept from embedding what it names.
void let_others_embed(const http::Request& request, http::ResponseWriter& writer);

// The answer to view=llm (artifact_llm.cc).
boost::asio::awaitable<Result<void>> send_llm_view(Services& services, http::Request& request,
                                                   http::ResponseWriter& writer);

// Routes for what is made from artifacts (artifact_views.cc), and for how long they live
// (artifact_life.cc).
void add_artifact_view_routes(http::Router& router, Services& services);
void add_artifact_life_routes(http::Router& router, Services& services);

}  // namespace cellblock::gateway::api
