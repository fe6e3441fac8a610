#include "gateway/jupyter/response_info.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/json.h"
#include "base/limits.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::jupyter {
namespace {

constexpr std::size_t headers_max = 100;
constexpr std::size_t value_max_chars = 8192;
// Whose values say how our bytes are to be read, or what the gateway itself stands for.
constexpr std::array<std::string_view, 9> ours = {
    "Connection",        "Content-Length", "Keep-Alive", "Proxy-Connection", "TE", "Trailer",
    "Transfer-Encoding", "Upgrade",        "Date"};

// RFC 9110 5.6.2
bool is_field_name(std::string_view name) {
    const auto fits = [](char c) {
        const bool alphanumeric =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        return alphanumeric ||
               std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
    };
    return !name.empty() && name.size() <= 256 && std::all_of(name.begin(), name.end(), fits);
}

bool is_field_value(std::string_view value) {
    const auto fits = [](char c) { return (c >= ' ' && c <= '~') || c == '\t'; };
    return value.size() <= value_max_chars && std::all_of(value.begin(), value.end(), fits);
}

Result<std::string> value_text(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_integer()) return value.dump();
    return fail(ErrorCode::internal, "a header of ResponseInfo is no text");
}

Result<void> take_header(ResponseInfo& info, const std::string& name, const Json& json) {
    CB_TRY_ASSIGN(value, value_text(json));
    const bool is_reserved = std::any_of(ours.begin(), ours.end(), [&name](std::string_view own) {
        return http::equal_ignoring_case(own, name);
    });
    if (is_reserved || !is_field_name(name) || !is_field_value(value)) {
        return fail(ErrorCode::internal, "ResponseInfo has a header that may not be sent",
                    "names of letters and hyphens, values of printable ASCII, and none that frames "
                    "the answer");
    }
    if (http::equal_ignoring_case(name, "Content-Type")) {
        info.content_type = std::move(value);
    } else {
        info.headers.emplace_back(name, std::move(value));
    }
    return {};
}

}  // namespace

Result<ResponseInfo> response_info_from(std::string_view text) {
    auto parsed = parse_json(text, JsonLimits{limits::http_json_body_max_bytes, 8}, "ResponseInfo");
    if (!parsed) return fail(ErrorCode::internal, parsed.error().cause);
    if (!parsed->is_object()) return fail(ErrorCode::internal, "ResponseInfo printed no object");
    ResponseInfo info;
    const auto status = optional_integer(*parsed, "status");
    if (!status || status->value_or(200) < 200 || status->value_or(200) > 599) {
        return fail(ErrorCode::internal, "the status of ResponseInfo is no number from 200 to 599");
    }
    info.status = static_cast<int>(status->value_or(200));
    const auto headers = parsed->find("headers");
    if (headers == parsed->end()) return info;
    if (!headers->is_object() || headers->size() > headers_max) {
        return fail(ErrorCode::internal, "the headers of ResponseInfo are no object of at most " +
                                             std::to_string(headers_max));
    }
    for (const auto& [name, value] : headers->items()) {
        CB_TRY(take_header(info, name, value));
    }
    return info;
}

}  // namespace cellblock::gateway::jupyter
