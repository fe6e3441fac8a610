#include "gateway/http/cors.h"

namespace cellblock::gateway::http {

void allow_origin(const Request& request, Headers& answer) {
    const auto origin = request.headers().get("Origin");
    if (!origin) return;
    answer.set("Access-Control-Allow-Origin", *origin);
    answer.add("Vary", "Origin");
    answer.set("Access-Control-Expose-Headers",
               "Content-Range, ETag, X-Next-Token, X-Total-Running, Location");
}

void allow_preflight(const Request& request, const std::string& methods, Headers& answer) {
    if (!request.headers().has("Origin")) return;
    answer.set("Access-Control-Allow-Methods", methods);
    // What the browser asks for is granted: the token still decides.
    const auto asked = request.headers().get("Access-Control-Request-Headers");
    answer.set("Access-Control-Allow-Headers",
               asked.value_or("accept, authorization, content-type, x-api-key, x-access-token"));
    answer.set("Access-Control-Max-Age", "600");
}

}  // namespace cellblock::gateway::http
