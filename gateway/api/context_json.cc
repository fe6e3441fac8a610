#include "gateway/api/context_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/ids.h"

namespace cellblock::gateway::api {
namespace {

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, std::move(cause));
}

// None when there is no such field.
Result<std::optional<std::chrono::milliseconds>> duration_from(const Json& body,
                                                               const std::string& field) {
    CB_TRY_ASSIGN(seconds, optional_number(body, field));
    if (!seconds) return std::nullopt;
    const double longest = static_cast<double>(limits::execution_timeout_max.count());
    // Written so that NaN fails too.
    if (!(*seconds > 0 && *seconds <= longest)) {
        return bad("field '" + field + "' must be more than 0 and at most " +
                   std::to_string(limits::execution_timeout_max.count()) + " seconds");
    }
    return std::chrono::milliseconds(std::llround(std::ceil(*seconds * 1000)));
}

Result<void> read_detach(const Json& body, ExecuteBody& into) {
    CB_TRY_ASSIGN(after, duration_from(body, "detach_after"));
    into.detach_after = after;
    for (const char* field : {"webhook", "email"}) {
        const auto found = body.find(field);
        if (!after && found != body.end() && !found->is_null()) {
            return bad("field '" + std::string(field) + "' goes with 'detach_after'");
        }
    }
    return {};
}

Result<void> read_view(const Json& body, ExecuteBody& into) {
    CB_TRY_ASSIGN(view, optional_string(body, "view"));
    if (view && *view != "llm" && *view != "stream") {
        return bad("field 'view' must be \"stream\" or \"llm\"");
    }
    if (view == "llm") into.view = View::llm;
    CB_TRY_ASSIGN(images, optional_string(body, "images"));
    if (images) into.images = image_shape_from(*images);
    if (images && !into.images) {
        return bad("field 'images' must be \"openai\" or \"anthropic\"");
    }
    if (into.images && into.view != View::llm) {
        return bad("field 'images' goes with \"view\": \"llm\"");
    }
    // A byte is at most a character: a budget of bytes keeps either promise.
    const std::string field = body.contains("max_chars") ? "max_chars" : "view_budget";
    CB_TRY_ASSIGN(budget, optional_integer(body, field));
    if (!budget) return {};
    if (*budget < static_cast<std::int64_t>(limits::llm_view_min_bytes) ||
        *budget > static_cast<std::int64_t>(limits::llm_view_max_bytes)) {
        return bad("field '" + field + "' must be between " +
                   std::to_string(limits::llm_view_min_bytes) + " and " +
                   std::to_string(limits::llm_view_max_bytes) + " bytes");
    }
    into.view_budget_bytes = static_cast<std::size_t>(*budget);
    return {};
}

}  // namespace

Json to_json(const Context& context) {
    return Json{
        {"id", context.id()}, {"language", context.language}, {"cwd", context.working_directory()}};
}

std::string normalized_language(const std::string& language) {
    std::string name;
    for (const char c : language) {
        if (!std::isspace(static_cast<unsigned char>(c))) {
            name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
        }
    }
    if (name.empty()) return "python";
    if (name == "js") return "javascript";
    if (name == "ts") return "typescript";
    return name;
}

Result<ContextSpec> context_spec_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    ContextSpec spec;
    CB_TRY_ASSIGN(language, optional_string(body, "language"));
    CB_TRY_ASSIGN(directory, optional_string(body, "cwd"));
    spec.language = normalized_language(language.value_or(""));
    if (directory && !directory->empty()) {
        if (directory->front() != '/' || directory->size() > 4096 ||
            directory->find('\0') != std::string::npos) {
            return bad("field 'cwd' must be an absolute path");
        }
        spec.working_directory = std::move(*directory);
    }
    return spec;
}

Result<std::map<std::string, std::string>> environment_from(const Json& body,
                                                            std::string_view field) {
    std::map<std::string, std::string> environment;
    const auto at = body.find(field);
    if (at == body.end() || at->is_null()) return environment;
    const std::string name(field);
    if (!at->is_object()) return bad("field '" + name + "' must be an object of strings");
    if (at->size() > limits::environment_variables_max) {
        return bad("field '" + name + "' has more than " +
                   std::to_string(limits::environment_variables_max) + " variables");
    }
    for (const auto& [key, value] : at->items()) {
        if (!value.is_string())
            return bad("field '" + name + "': the value of '" + key + "' must be a string");
        std::string text = value.get<std::string>();
        if (key.empty() || key.find('=') != std::string::npos ||
            key.find('\0') != std::string::npos || text.find('\0') != std::string::npos) {
            return bad("field '" + name + "': '" + key + "' is no valid environment variable");
        }
        if (key.size() + text.size() > limits::environment_value_max_bytes) {
            return bad("field '" + name + "': '" + key + "' is longer than " +
                       std::to_string(limits::environment_value_max_bytes) + " bytes");
        }
        environment.emplace(key, std::move(text));
    }
    return environment;
}

Result<ExecuteBody> execute_body_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    ExecuteBody execute;
    CB_TRY_ASSIGN(code, required_string(body, "code"));
    CB_TRY_ASSIGN(context_id, optional_string(body, "context_id"));
    CB_TRY_ASSIGN(language, optional_string(body, "language"));
    CB_TRY_ASSIGN(environment, environment_from(body, "env_vars"));
    CB_TRY_ASSIGN(timeout, duration_from(body, "timeout"));
    CB_TRY(read_view(body, execute));
    CB_TRY(read_detach(body, execute));
    CB_TRY_ASSIGN(on_disconnect, optional_string(body, "on_disconnect"));
    if (on_disconnect && *on_disconnect != "interrupt" && *on_disconnect != "go_on") {
        return bad("field 'on_disconnect' must be \"interrupt\" or \"go_on\"");
    }
    CB_TRY_ASSIGN(execution_id, optional_string(body, "execution_id"));
    if (execution_id && !is_valid_id(*execution_id)) {
        return bad("field 'execution_id' must be 1 to 64 letters, digits, '-' or '_'");
    }
    execute.execution_id = std::move(execution_id);
    if (on_disconnect == "go_on") execute.on_disconnect = OnDisconnect::go_on;
    execute.code = std::move(code);
    execute.context_id = std::move(context_id);
    if (language) execute.language = normalized_language(*language);
    execute.environment = std::move(environment);
    execute.timeout = timeout.value_or(limits::execution_timeout_default);
    return execute;
}

}  // namespace cellblock::gateway::api
