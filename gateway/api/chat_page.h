// GET /examples/chat/: the chat page of examples/chat, as its build script bundled it.
//
// Its files are the same for everybody and hold no secret, so they need no token; what the page
// then asks the API for does. Loop thread; files are opened on workers.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/worker_pool.h"

namespace cellblock::gateway::http {
class Router;
}

namespace cellblock::gateway::api {

// `folder`: what examples/chat/build has made; it may be missing until it runs, and is looked at by
// each request. `workers` outlives the router.
void add_chat_page_routes(http::Router& router, WorkerPool& workers, std::filesystem::path folder);

// Whether a name may be one of the page's files: letters, digits, "-", "_" and dots inside.
bool is_page_file(std::string_view name);
// The Content-Type of such a file; empty for what no page has.
std::string_view page_file_type(std::string_view name);

}  // namespace cellblock::gateway::api
