// A notebook as an HTTP API, as kernel_gateway's notebook-http mode reads it.
//
// A cell whose first line is "# GET /path/:name" answers such requests; several for the same
// request are one after another. "# ResponseInfo GET /path/:name" prints the answer's status and
// headers. All other cells set a kernel up. Pure: the notebook is the operator's, not a guest's.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::gateway::jupyter {

struct NotebookOperation {
    std::string code;
    std::string response_info;  // empty: 200, text/plain

    NotebookOperation() = default;
};

struct NotebookEndpoint {
    std::string path;                                     // as the notebook has it: "/orders/:id"
    std::string pattern;                                  // as the router has it: "/orders/{id}"
    std::map<std::string, NotebookOperation> operations;  // by verb

    NotebookEndpoint() = default;
};

struct NotebookApi {
    std::string title;  // the notebook's name
    std::vector<NotebookEndpoint> endpoints;
    std::vector<std::string> setup;  // cells that each kernel runs first

    NotebookApi() = default;
};

Result<NotebookApi> notebook_api(const std::vector<std::string>& cells, std::string title);

// Swagger 2.0, as the original writes it.
Json swagger_of(const NotebookApi& api);

}  // namespace cellblock::gateway::jupyter
