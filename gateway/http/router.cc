#include "gateway/http/router.h"

#include <algorithm>
#include <optional>

namespace cellblock::gateway::http {
namespace {

using Params = std::vector<std::pair<std::string, std::string>>;

bool is_param(const std::string& segment) {
    return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}
bool is_rest(const std::string& segment) {
    return is_param(segment) && segment[segment.size() - 2] == '*';
}

std::vector<std::string> split_pattern(std::string_view pattern) {
    std::vector<std::string> segments;
    while (!pattern.empty()) {
        pattern.remove_prefix(1);  // the slash
        const std::size_t slash = std::min(pattern.find('/'), pattern.size());
        if (slash > 0 || slash < pattern.size()) segments.emplace_back(pattern.substr(0, slash));
        pattern.remove_prefix(slash);
    }
    return segments;
}

struct Fit {
    // One digit a segment, literals above parameters above the rest: the larger wins.
    std::string rank;
    Params params;
};

std::optional<Fit> fit(const Route& route, const std::vector<std::string>& path) {
    Fit result;
    result.rank = "/";
    for (std::size_t i = 0; i < route.segments.size(); ++i) {
        const std::string& segment = route.segments[i];
        if (is_rest(segment)) {
            if (i >= path.size()) return std::nullopt;
            std::string rest = path[i];
            for (std::size_t k = i + 1; k < path.size(); ++k) rest += "/" + path[k];
            result.params.emplace_back(segment.substr(1, segment.size() - 3), std::move(rest));
            result.rank += '0';
            return result;
        }
        if (i >= path.size()) return std::nullopt;
        if (is_param(segment)) {
            if (path[i].empty()) return std::nullopt;
            result.params.emplace_back(segment.substr(1, segment.size() - 2), path[i]);
            result.rank += '1';
        } else if (segment == path[i]) {
            result.rank += '2';
        } else {
            return std::nullopt;
        }
    }
    if (path.size() != route.segments.size()) return std::nullopt;
    return result;
}

void allow_method(std::string& allow, const std::string& method) {
    if (!allow.empty()) allow += ", ";
    allow += method;
    if (method == "GET") allow += ", HEAD";
}

}  // namespace

void Router::add(std::string_view method, std::string_view pattern, const RouteOptions& options,
                 Handler handler) {
    Route route;
    route.method = std::string(method);
    route.pattern = std::string(pattern);
    route.segments = split_pattern(pattern);
    route.options = options;
    route.handler = std::move(handler);
    routes_.push_back(std::move(route));
}

Match Router::match(std::string_view method, const std::vector<std::string>& segments) const {
    const std::string_view wanted = method == "HEAD" ? std::string_view("GET") : method;
    Match match;
    std::string best;
    std::string best_of_path;
    for (const Route& route : routes_) {
        auto candidate = fit(route, segments);
        if (!candidate) continue;
        if (candidate->rank > best_of_path) {
            // A better pattern for this path: its methods are the ones allowed.
            best_of_path = candidate->rank;
            match.allow.clear();
            if (match.kind != MatchKind::found) {
                match.kind = MatchKind::wrong_method;
                match.route = &route;
            }
        }
        if (candidate->rank == best_of_path) allow_method(match.allow, route.method);
        if (route.method == wanted && candidate->rank > best) {
            best = candidate->rank;
            match.kind = MatchKind::found;
            match.route = &route;
            match.params = std::move(candidate->params);
        }
    }
    return match;
}

}  // namespace cellblock::gateway::http
