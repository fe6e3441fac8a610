#include "gateway/jupyter/notebook_api.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "gateway/http/headers.h"

namespace cellblock::gateway::jupyter {
namespace {

constexpr std::array<std::string_view, 5> verbs = {"GET", "PUT", "POST", "DELETE", "PATCH"};
// What the gateway itself serves in this mode.
constexpr std::string_view reserved = "/_api";

struct Annotation {
    std::string verb;
    std::string path;
    bool is_response_info = false;

    Annotation() = default;
};

std::string_view next_word(std::string_view& line) {
    line = http::trim(line);
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end);
    return word;
}

std::optional<Annotation> annotation_of(std::string_view cell) {
    std::string_view line = cell.substr(0, cell.find('\n'));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (next_word(line) != "#") return std::nullopt;
    Annotation found;
    std::string_view word = next_word(line);
    if (word == "ResponseInfo") {
        found.is_response_info = true;
        word = next_word(line);
    }
    if (std::find(verbs.begin(), verbs.end(), word) == verbs.end()) return std::nullopt;
    found.verb = word;
    found.path = http::trim(line);
    if (!found.path.starts_with('/')) return std::nullopt;  // a comment like any other
    return found;
}

bool is_name(std::string_view text) {
    const auto letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    const auto fits = [letter](char c) { return letter(c) || (c >= '0' && c <= '9'); };
    return !text.empty() && letter(text.front()) && std::all_of(text.begin(), text.end(), fits);
}

// "/orders/:id" -> "/orders/{id}"
Result<std::string> pattern_of(std::string_view path) {
    const auto bad = [path](std::string_view why) {
        return fail(ErrorCode::invalid_argument,
                    "the notebook's path " + std::string(path) + " " + std::string(why));
    };
    std::string pattern;
    std::string_view rest = path;
    while (!rest.empty()) {
        rest.remove_prefix(1);  // the slash
        const std::size_t end = std::min(rest.find('/'), rest.size());
        const std::string_view segment = rest.substr(0, end);
        rest.remove_prefix(end);
        if (segment.find_first_of(" \t{}?#") != std::string_view::npos) {
            return bad("has a character that paths do not have");
        }
        const std::size_t colon = segment.find(':');
        if (colon == std::string_view::npos) {
            pattern += "/" + std::string(segment);
        } else if (colon == 0 && is_name(segment.substr(1))) {
            pattern += "/{" + std::string(segment.substr(1)) + "}";
        } else {
            return bad("has a colon that begins no name of a parameter");
        }
    }
    if (path == reserved || path.starts_with(std::string(reserved) + "/")) {
        return bad("is the gateway's own");
    }
    return pattern;
}

// A path without the names of its parameters: what tells one endpoint from another.
std::string shape_of(std::string_view pattern) {
    std::string shape;
    bool inside = false;
    for (const char c : pattern) {
        if (c == '}') inside = false;
        if (!inside) shape += c;
        if (c == '{') inside = true;
    }
    return shape;
}

NotebookEndpoint* find(std::vector<NotebookEndpoint>& endpoints, const std::string& path) {
    const auto at = std::find_if(endpoints.begin(), endpoints.end(),
                                 [&path](const NotebookEndpoint& e) { return e.path == path; });
    return at == endpoints.end() ? nullptr : &*at;
}

Result<NotebookEndpoint*> find_or_add(std::vector<NotebookEndpoint>& endpoints,
                                      const std::string& path) {
    if (NotebookEndpoint* known = find(endpoints, path)) return known;
    CB_TRY_ASSIGN(pattern, pattern_of(path));
    for (const NotebookEndpoint& other : endpoints) {
        if (shape_of(other.pattern) != shape_of(pattern)) continue;
        return fail(ErrorCode::invalid_argument, "the notebook's paths " + other.path + " and " +
                                                     path + " are the same to a request");
    }
    NotebookEndpoint endpoint;
    endpoint.path = path;
    endpoint.pattern = std::move(pattern);
    endpoints.push_back(std::move(endpoint));
    return &endpoints.back();
}

Result<void> add_response_info(std::vector<NotebookEndpoint>& endpoints, const Annotation& of,
                               const std::string& cell) {
    NotebookEndpoint* endpoint = find(endpoints, of.path);
    const auto operation =
        endpoint ? endpoint->operations.find(of.verb) : decltype(endpoint->operations.end())();
    if (endpoint == nullptr || operation == endpoint->operations.end()) {
        return fail(ErrorCode::invalid_argument, "the notebook has ResponseInfo for " + of.verb +
                                                     " " + of.path +
                                                     ", but no cell that answers it");
    }
    operation->second.response_info += cell + "\n";
    return {};
}

}  // namespace

Result<NotebookApi> notebook_api(const std::vector<std::string>& cells, std::string title) {
    NotebookApi api;
    api.title = std::move(title);
    std::vector<std::pair<Annotation, std::string>> response_infos;
    for (const std::string& cell : cells) {
        auto annotation = annotation_of(cell);
        if (!annotation) {
            api.setup.push_back(cell);
        } else if (annotation->is_response_info) {
            response_infos.emplace_back(std::move(*annotation), cell);
        } else {
            CB_TRY_ASSIGN(endpoint, find_or_add(api.endpoints, annotation->path));
            endpoint->operations[annotation->verb].code += cell + "\n";
        }
    }
    for (const auto& [annotation, cell] : response_infos) {
        CB_TRY(add_response_info(api.endpoints, annotation, cell));
    }
    if (api.endpoints.empty()) {
        return fail(ErrorCode::invalid_argument, "no cell of the notebook answers requests",
                    "begin a cell with a line like: # GET /hello/:name");
    }
    return api;
}

Json swagger_of(const NotebookApi& api) {
    Json paths = Json::object();
    for (const NotebookEndpoint& endpoint : api.endpoints) {
        Json operations = Json::object();
        for (const auto& [verb, operation] : endpoint.operations) {
            operations[http::to_lower(verb)] = {
                {"responses", {{"200", {{"description", "Success"}}}}}};
        }
        paths[endpoint.path] = std::move(operations);
    }
    return Json{{"swagger", "2.0"},
                {"paths", std::move(paths)},
                {"info", {{"version", "0.0.0"}, {"title", api.title}}}};
}

}  // namespace cellblock::gateway::jupyter
