#include "gateway/cli/answers.h"

#include <utility>

#include "base/limits.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::cli {

Result<Json> json_of(const HttpReply& reply) {
    return parse_json(reply.body, JsonLimits{limits::http_json_body_max_bytes},
                      "the gateway's answer");
}

Result<Json> all_pages(HttpClient& client, const std::string& path) {
    Json all = Json::array();
    std::string token;
    do {
        HttpCall call;
        call.path = path + "&nextToken=" + http::percent_encode(token);
        CB_TRY_ASSIGN(reply, client.expect_success(call));
        CB_TRY_ASSIGN(page, json_of(reply));
        if (!page.is_array()) return fail(ErrorCode::io, "the gateway's answer is no list");
        for (Json& item : page) all.push_back(std::move(item));
        token = reply.headers["x-next-token"];
    } while (!token.empty());
    return all;
}

std::string text_of(const Json& object, std::string_view field) {
    const auto at = object.find(field);
    if (at == object.end() || at->is_null()) return {};
    return at->is_string() ? at->get<std::string>() : at->dump();
}

}  // namespace cellblock::gateway::cli
