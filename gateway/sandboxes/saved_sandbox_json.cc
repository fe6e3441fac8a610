// What is written about a saved sandbox beside its machine's state.
#include "base/ids.h"
#include "gateway/sandboxes/saved_sandboxes.h"

namespace cellblock::gateway {
namespace {

using StringMap = std::map<std::string, std::string>;

Json to_json(const ContextImage& context) {
    return {{"id", context.kernel.spec.id},
            {"guest_id", context.kernel.spec.guest_id},
            {"name", context.kernel.spec.name},
            {"language", context.language},
            {"cwd", context.kernel.spec.working_directory},
            {"env", context.kernel.spec.environment},
            {"former_ids", context.former_ids},
            {"is_default", context.is_default}};
}

tl::unexpected<Error> contradiction(const std::string& field) {
    return fail(ErrorCode::io, "field '" + field + "' of a saved sandbox is not as it was written");
}

Result<StringMap> string_map(const Json& json, const std::string& field) {
    StringMap map;
    const auto found = json.find(field);
    if (found == json.end() || !found->is_object()) return contradiction(field);
    for (const auto& [key, value] : found->items()) {
        if (!value.is_string()) return contradiction(field);
        map.emplace(key, value.get<std::string>());
    }
    return map;
}

Result<std::vector<std::string>> string_list(const Json& json, const std::string& field) {
    std::vector<std::string> list;
    const auto found = json.find(field);
    if (found == json.end() || !found->is_array()) return contradiction(field);
    for (const Json& value : *found) {
        if (!value.is_string()) return contradiction(field);
        list.push_back(value.get<std::string>());
    }
    return list;
}

Result<ContextImage> context_from(const Json& json) {
    if (!json.is_object()) return contradiction("contexts");
    ContextImage context;
    CB_TRY_ASSIGN(id, required_string(json, "id"));
    CB_TRY_ASSIGN(guest_id, required_string(json, "guest_id"));
    CB_TRY_ASSIGN(name, required_string(json, "name"));
    CB_TRY_ASSIGN(language, required_string(json, "language"));
    CB_TRY_ASSIGN(cwd, required_string(json, "cwd"));
    CB_TRY_ASSIGN(environment, string_map(json, "env"));
    CB_TRY_ASSIGN(former_ids, string_list(json, "former_ids"));
    CB_TRY_ASSIGN(is_default, optional_boolean(json, "is_default"));
    if (!is_valid_id(id) || !is_valid_id(guest_id)) return contradiction("contexts");
    context.language = std::move(language);
    context.kernel.spec.id = std::move(id);
    context.kernel.spec.guest_id = std::move(guest_id);
    context.kernel.spec.name = std::move(name);
    context.kernel.spec.working_directory = std::move(cwd);
    context.kernel.spec.environment = std::move(environment);
    context.former_ids = std::move(former_ids);
    context.is_default = is_default.value_or(false);
    return context;
}

Result<SandboxSpec> spec_from(const Json& json) {
    SandboxSpec spec;
    CB_TRY_ASSIGN(template_id, required_string(json, "template_id"));
    CB_TRY_ASSIGN(memory, required_integer(json, "memory_limit_bytes"));
    CB_TRY_ASSIGN(timeout, required_integer(json, "timeout_s"));
    CB_TRY_ASSIGN(pauses, optional_boolean(json, "pause_on_timeout"));
    CB_TRY_ASSIGN(environment, string_map(json, "env"));
    CB_TRY_ASSIGN(metadata, string_map(json, "metadata"));
    CB_TRY_ASSIGN(snapshot_id, required_string(json, "snapshot_id"));
    if (memory < 0 || timeout < 0) return contradiction("memory_limit_bytes");
    spec.template_id = std::move(template_id);
    spec.memory_limit_bytes = static_cast<std::size_t>(memory);
    spec.timeout = std::chrono::seconds(timeout);
    spec.on_timeout = pauses.value_or(false) ? OnTimeout::pause : OnTimeout::kill;
    spec.environment = std::move(environment);
    spec.metadata = std::move(metadata);
    spec.snapshot_id = std::move(snapshot_id);
    return spec;
}

}  // namespace

Json to_json(const SavedSandbox& sandbox) {
    const SandboxSpec& spec = sandbox.image.spec;
    const auto started =
        std::chrono::duration_cast<std::chrono::nanoseconds>(sandbox.started_at.time_since_epoch());
    Json contexts = Json::array();
    for (const ContextImage& context : sandbox.image.contexts) contexts.push_back(to_json(context));
    return {{"sandbox_id", sandbox.sandbox_id},
            {"name", sandbox.name},
            {"parent_id", sandbox.parent_id},
            {"started_at_ns", started.count()},
            {"template_id", spec.template_id},
            {"memory_limit_bytes", spec.memory_limit_bytes},
            {"timeout_s", spec.timeout.count()},
            {"pause_on_timeout", spec.on_timeout == OnTimeout::pause},
            {"env", spec.environment},
            {"metadata", spec.metadata},
            {"snapshot_id", spec.snapshot_id},
            {"contexts", std::move(contexts)}};
}

Result<SavedSandbox> saved_sandbox_from(vm::SavedState saved) {
    const Json& json = saved.description;
    SavedSandbox sandbox;
    CB_TRY_ASSIGN(sandbox_id, required_string(json, "sandbox_id"));
    CB_TRY_ASSIGN(name, required_string(json, "name"));
    CB_TRY_ASSIGN(parent_id, required_string(json, "parent_id"));
    CB_TRY_ASSIGN(started, required_integer(json, "started_at_ns"));
    CB_TRY_ASSIGN(spec, spec_from(json));
    const auto contexts = json.find("contexts");
    if (contexts == json.end() || !contexts->is_array() ||
        contexts->size() > limits::contexts_per_sandbox_max) {
        return contradiction("contexts");
    }
    for (const Json& entry : *contexts) {
        CB_TRY_ASSIGN(context, context_from(entry));
        sandbox.image.contexts.push_back(std::move(context));
    }
    sandbox.sandbox_id = std::move(sandbox_id);
    sandbox.name = std::move(name);
    sandbox.parent_id = std::move(parent_id);
    sandbox.started_at =
        WallTime(std::chrono::duration_cast<WallTime::duration>(std::chrono::nanoseconds(started)));
    sandbox.image.spec = std::move(spec);
    sandbox.saved = std::move(saved);
    return sandbox;
}

}  // namespace cellblock::gateway
