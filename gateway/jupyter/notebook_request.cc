#include "gateway/jupyter/notebook_request.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/unicode.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::jupyter {
namespace {

constexpr std::size_t parts_max = 1000;
constexpr std::size_t boundary_max_chars = 70;  // RFC 2046

std::string_view media_type(std::string_view content_type) {
    return http::trim(content_type.substr(0, content_type.find(';')));
}

// A parameter of a header field: `name="value"` or name=value.
std::optional<std::string_view> parameter(std::string_view field, std::string_view name) {
    while (true) {
        const std::size_t semicolon = field.find(';');
        if (semicolon == std::string_view::npos) return std::nullopt;
        field = http::trim(field.substr(semicolon + 1));
        const std::size_t equals = field.find('=');
        if (equals == std::string_view::npos) return std::nullopt;
        const bool wanted = http::equal_ignoring_case(http::trim(field.substr(0, equals)), name);
        std::string_view value = http::trim(field.substr(equals + 1));
        if (value.starts_with('"')) {
            value.remove_prefix(1);
            const std::size_t quote = value.find('"');
            if (quote == std::string_view::npos) return std::nullopt;
            if (wanted) return value.substr(0, quote);
            field = value.substr(quote + 1);
        } else if (wanted) {
            return http::trim(value.substr(0, value.find(';')));
        }
    }
}

void add_value(Json& lists, std::string_view name, std::string_view value) {
    Json& list = lists[std::string(name)];
    if (!list.is_array()) list = Json::array();
    list.push_back(std::string(value));
}

Json lists_of(const http::Query& query) {
    Json lists = Json::object();
    for (const auto& [name, value] : query.items()) add_value(lists, name, value);
    return lists;
}

// "content-type" -> "Content-Type": notebooks look for that, clients write what they like.
std::string title_case(std::string_view name) {
    std::string title = http::to_lower(name);
    bool first = true;
    for (char& c : title) {
        if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
        first = c == '-';
    }
    return title;
}

// The head of one part: its field name, unless it is a file or no form's.
std::optional<std::string_view> field_name(std::string_view head) {
    while (!head.empty()) {
        const std::size_t end = std::min(head.find("\r\n"), head.size());
        const std::string_view line = head.substr(0, end);
        head.remove_prefix(std::min(end + 2, head.size()));
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) continue;
        if (!http::equal_ignoring_case(line.substr(0, colon), "Content-Disposition")) continue;
        if (parameter(line, "filename")) return std::nullopt;
        return parameter(line, "name");
    }
    return std::nullopt;
}

}  // namespace

Json multipart_fields(std::string_view boundary, std::string_view body) {
    const std::string delimiter = "\r\n--" + std::string(boundary);
    Json fields = Json::object();
    std::string_view rest = body;
    // The first delimiter has no line before it.
    if (!rest.starts_with(std::string_view(delimiter).substr(2))) return nullptr;
    rest.remove_prefix(delimiter.size() - 2);
    for (std::size_t count = 0; count < parts_max; ++count) {
        if (rest.starts_with("--")) return fields;
        if (!rest.starts_with("\r\n")) return nullptr;
        const std::size_t end = rest.find(delimiter);
        if (end == std::string_view::npos) return nullptr;
        const std::string_view part = rest.substr(0, end);
        rest.remove_prefix(end + delimiter.size());
        constexpr std::string_view head_end = "\r\n\r\n";
        const std::size_t blank = part.find(head_end);
        if (blank == std::string_view::npos) return nullptr;
        const auto name = field_name(part.substr(0, blank));
        if (name) add_value(fields, *name, part.substr(blank + head_end.size()));
    }
    return nullptr;
}

Result<Json> notebook_body(std::string_view content_type, std::string_view body) {
    const std::string_view type = media_type(content_type);
    if (http::equal_ignoring_case(type, "multipart/form-data")) {
        const auto boundary = parameter(content_type, "boundary");
        Json fields;
        if (boundary && !boundary->empty() && boundary->size() <= boundary_max_chars) {
            fields = multipart_fields(*boundary, body);
        }
        if (fields.is_object()) return fields;
        return fail(ErrorCode::invalid_argument, "the body is no multipart/form-data");
    }
    if (!is_valid_utf8(body)) {
        return fail(ErrorCode::invalid_argument, "the body is not valid UTF-8 text",
                    "send bytes as base64, or as text");
    }
    if (http::equal_ignoring_case(type, "application/x-www-form-urlencoded")) {
        return lists_of(http::Query::parse(body));
    }
    if (http::equal_ignoring_case(type, "application/json")) {
        auto parsed = parse_json(body, JsonLimits{limits::http_json_body_max_bytes}, "the body");
        if (parsed) return std::move(*parsed);
    }
    return Json(std::string(body));
}

Json notebook_request(const http::Request& request, Json body, std::string_view secret) {
    const auto is_secret = [secret](std::string_view value) {
        return !secret.empty() && value.find(secret) != std::string_view::npos;
    };
    Json args = Json::object();
    for (const auto& [name, value] : request.query().items()) {
        if (!is_secret(value)) add_value(args, name, value);
    }
    Json headers = Json::object();
    for (const auto& [name, value] : request.headers().items()) {
        if (is_secret(value)) continue;
        Json& known = headers[title_case(name)];
        if (known.is_null()) {
            known = value;
        } else {
            if (!known.is_array()) known = Json::array({std::move(known)});
            known.push_back(value);
        }
    }
    Json path = Json::object();
    for (const auto& [name, value] : request.params()) path[name] = value;
    return Json{{"body", std::move(body)},
                {"args", std::move(args)},
                {"path", std::move(path)},
                {"headers", std::move(headers)}};
}

std::string request_statement(const Json& request) {
    return "REQUEST = " + dump_ascii(Json(dump_ascii(request)));
}

}  // namespace cellblock::gateway::jupyter
