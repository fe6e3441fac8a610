// The bodies of /contexts and /execute, read strictly and written as E2B's clients expect.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/json.h"
#include "gateway/executions/llm_images.h"
#include "gateway/sandboxes/sandbox.h"

namespace cellblock::gateway::api {

Json to_json(const Context& context);

// {"language"?: string|null, "cwd"?: string|null}
Result<ContextSpec> context_spec_from(const Json& body);

// "Python" -> "python", "js" -> "javascript", "" -> "python"
std::string normalized_language(const std::string& language);

// {"NAME": "value", ...} or null; bounded, names as POSIX has them (no '=' and no NUL).
Result<std::map<std::string, std::string>> environment_from(const Json& body,
                                                            std::string_view field);

enum class View { stream, llm };
// What becomes of a cell whose caller goes away. GET /executions/{id}/stream has the rest of one
// that goes on.
enum class OnDisconnect { interrupt, go_on };

// POST /execute: {"code", "context_id"?, "language"?, "env_vars"?, "timeout"?: seconds, "view"?:
// "llm", "on_disconnect"?: "interrupt" | "go_on", "max_chars"? (or "view_budget", in bytes),
// "images"?: "openai" | "anthropic", "detach_after"?: seconds, and with it "webhook"? and "email"?
// (jobs/notifier.h)}. Unknown fields are ignored, as E2B does.
struct ExecuteBody {
    std::string code;
    // The caller's own name for the execution: it can be asked for even when no answer arrived.
    std::optional<std::string> execution_id;
    std::optional<std::string> context_id;
    std::optional<std::string> language;
    std::map<std::string, std::string> environment;
    std::chrono::milliseconds timeout = limits::execution_timeout_default;
    View view = View::stream;
    OnDisconnect on_disconnect = OnDisconnect::interrupt;
    std::size_t view_budget_bytes = limits::llm_view_default_bytes;
    // With View::llm: the pictures too, as content parts of that shape.
    std::optional<ImageShape> images;
    // How long the caller waits for a cell that runs; then it goes on as a job.
    std::optional<std::chrono::milliseconds> detach_after;
    ExecuteBody() = default;
};
Result<ExecuteBody> execute_body_from(const Json& body);

}  // namespace cellblock::gateway::api
