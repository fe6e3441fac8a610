// What is written about a sandbox, for its saved state and for the note beside its machine.
#include "gateway/sandboxes/sandbox_json.h"

#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::gateway {
namespace {

using kernel_proxy::ChannelsImage;
using kernel_proxy::InterruptMode;
using StringMap = std::map<std::string, std::string>;

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

Result<ChannelsImage> channels_from(const Json& json) {
    ChannelsImage channels;
    CB_TRY_ASSIGN(base, required_count(json, "base"));
    channels.base = base;
    const auto sessions = json.find("sessions");
    const auto requests = json.find("requests");
    if (sessions == json.end() || !sessions->is_array() || requests == json.end() ||
        !requests->is_array()) {
        return contradiction("clients");
    }
    for (const Json& entry : *sessions) {
        if (!entry.is_object()) return contradiction("clients");
        ChannelsImage::SessionPlace place;
        CB_TRY_ASSIGN(name, required_string(entry, "name"));
        CB_TRY_ASSIGN(has, required_count(entry, "has"));
        place.name = std::move(name);
        place.has = has;
        channels.sessions.push_back(std::move(place));
    }
    for (const Json& entry : *requests) {
        if (!entry.is_object()) return contradiction("clients");
        ChannelsImage::Request request;
        CB_TRY_ASSIGN(id, required_string(entry, "id"));
        CB_TRY_ASSIGN(type, required_string(entry, "type"));
        CB_TRY_ASSIGN(session, required_string(entry, "session"));
        request.msg_id = std::move(id);
        request.msg_type = std::move(type);
        request.session = std::move(session);
        channels.requests.push_back(std::move(request));
    }
    return channels;
}

// Absent for kernels of the guest's fork server.
Result<kernel_proxy::KernelLaunch> launch_from(const Json& json) {
    kernel_proxy::KernelLaunch launch;
    const auto found = json.find("launch");
    if (found == json.end()) return launch;
    if (!found->is_object()) return contradiction("launch");
    CB_TRY_ASSIGN(argv, string_list(*found, "argv"));
    CB_TRY_ASSIGN(by_message, optional_boolean(*found, "interrupt_by_message"));
    launch.argv = std::move(argv);
    if (by_message.value_or(false)) launch.interrupt_mode = InterruptMode::message;
    return launch;
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
    CB_TRY_ASSIGN(launch, launch_from(json));
    if (!is_valid_id(id) || !is_valid_id(guest_id)) return contradiction("contexts");
    context.language = std::move(language);
    context.kernel.spec.id = std::move(id);
    context.kernel.spec.guest_id = std::move(guest_id);
    context.kernel.spec.name = std::move(name);
    context.kernel.spec.working_directory = std::move(cwd);
    context.kernel.spec.environment = std::move(environment);
    context.kernel.spec.launch = std::move(launch);
    context.former_ids = std::move(former_ids);
    context.is_default = is_default.value_or(false);
    if (const auto clients = json.find("clients"); clients != json.end()) {
        if (!clients->is_object()) return contradiction("clients");
        CB_TRY_ASSIGN(channels, channels_from(*clients));
        context.kernel.channels = std::move(channels);
    }
    return context;
}

Json to_json(const ChannelsImage& channels) {
    Json sessions = Json::array();
    for (const auto& session : channels.sessions) {
        sessions.push_back({{"name", session.name}, {"has", session.has}});
    }
    Json requests = Json::array();
    for (const auto& request : channels.requests) {
        requests.push_back(
            {{"id", request.msg_id}, {"type", request.msg_type}, {"session", request.session}});
    }
    Json json = Json::object();
    json["base"] = channels.base;
    json["sessions"] = std::move(sessions);
    json["requests"] = std::move(requests);
    return json;
}

Json to_json(const ContextImage& context) {
    Json json = {{"id", context.kernel.spec.id},
                 {"guest_id", context.kernel.spec.guest_id},
                 {"name", context.kernel.spec.name},
                 {"language", context.language},
                 {"cwd", context.kernel.spec.working_directory},
                 {"env", context.kernel.spec.environment},
                 {"former_ids", context.former_ids},
                 {"is_default", context.is_default}};
    const kernel_proxy::KernelLaunch& launch = context.kernel.spec.launch;
    if (!launch.argv.empty()) {
        json["launch"] = {
            {"argv", launch.argv},
            {"interrupt_by_message", launch.interrupt_mode == InterruptMode::message}};
    }
    if (context.kernel.channels) json["clients"] = to_json(*context.kernel.channels);
    return json;
}

}  // namespace

void describe(const SandboxSpec& spec, const std::vector<ContextImage>& contexts, Json& json) {
    json["template_id"] = spec.template_id;
    json["memory_limit_bytes"] = spec.memory_limit_bytes;
    json["timeout_s"] = spec.timeout.count();
    json["pause_on_timeout"] = spec.on_timeout == OnTimeout::pause;
    json["of_its_kernel"] = spec.lifetime == Lifetime::of_its_kernel;
    json["env"] = spec.environment;
    json["metadata"] = spec.metadata;
    json["snapshot_id"] = spec.snapshot_id;
    Json list = Json::array();
    for (const ContextImage& context : contexts) list.push_back(to_json(context));
    json["contexts"] = std::move(list);
}

Result<SandboxSpec> spec_from(const Json& json) {
    SandboxSpec spec;
    CB_TRY_ASSIGN(template_id, required_string(json, "template_id"));
    CB_TRY_ASSIGN(memory, required_integer(json, "memory_limit_bytes"));
    CB_TRY_ASSIGN(timeout, required_integer(json, "timeout_s"));
    CB_TRY_ASSIGN(pauses, optional_boolean(json, "pause_on_timeout"));
    CB_TRY_ASSIGN(of_its_kernel, optional_boolean(json, "of_its_kernel"));
    CB_TRY_ASSIGN(environment, string_map(json, "env"));
    CB_TRY_ASSIGN(metadata, string_map(json, "metadata"));
    CB_TRY_ASSIGN(snapshot_id, required_string(json, "snapshot_id"));
    if (memory < 0 || timeout < 0) return contradiction("memory_limit_bytes");
    spec.template_id = std::move(template_id);
    spec.memory_limit_bytes = static_cast<std::size_t>(memory);
    spec.timeout = std::chrono::seconds(timeout);
    spec.on_timeout = pauses.value_or(false) ? OnTimeout::pause : OnTimeout::kill;
    spec.lifetime = of_its_kernel.value_or(false) ? Lifetime::of_its_kernel : Lifetime::of_its_own;
    spec.environment = std::move(environment);
    spec.metadata = std::move(metadata);
    spec.snapshot_id = std::move(snapshot_id);
    return spec;
}

Result<std::vector<ContextImage>> contexts_from(const Json& json) {
    std::vector<ContextImage> contexts;
    const auto list = json.find("contexts");
    if (list == json.end() || !list->is_array() ||
        list->size() > limits::contexts_per_sandbox_max) {
        return contradiction("contexts");
    }
    for (const Json& entry : *list) {
        CB_TRY_ASSIGN(context, context_from(entry));
        contexts.push_back(std::move(context));
    }
    return contexts;
}

}  // namespace cellblock::gateway
