// The one table from our error codes to HTTP, and the shapes that error bodies take.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"

namespace cellblock::gateway::http {

// Which house's error bodies a family of routes speaks.
enum class ErrorStyle {
    control_plane,     // E2B's REST API and our own: {"code": 404, "message": "...", ...}
    code_interpreter,  // /execute and /contexts: plain text, whose clients show the body as it is
    jupyter_server,    // {"message": "...", "reason": null, "traceback": ""}; no token is 403
    kernel_gateway,    // {"reason": "Not Found", "message": "..."}
};

int status_of(ErrorStyle style, ErrorCode code);

// "Not Found"
std::string_view reason_phrase(int status);

struct ErrorBody {
    std::string content_type;
    std::string text;

    ErrorBody(std::string content_type_, std::string text_)
        : content_type(std::move(content_type_)), text(std::move(text_)) {}
};

// `status` is told apart from the error's own, because a few routes have their own idea of it.
ErrorBody error_body(ErrorStyle style, int status, const Error& error);

}  // namespace cellblock::gateway::http
