#include "gateway/api/sandboxes_json.h"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::gateway::api {
namespace {

using std::chrono::seconds;

// What E2B's clients read as a feature level of the daemon in the sandbox.
constexpr const char* envd_version = "0.6.4";
// E2B wants numbers here. A sandbox has one virtual CPU; its files live in the machine's memory.
constexpr int cpu_count = 1;

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, std::move(cause));
}

Result<std::optional<seconds>> seconds_field(const Json& body, std::string_view field,
                                             seconds longest) {
    CB_TRY_ASSIGN(value, optional_integer(body, field));
    if (!value) return std::optional<seconds>();
    if (*value < 0 || *value > longest.count()) {
        return bad("field '" + std::string(field) + "' must be between 0 and " +
                   std::to_string(longest.count()) + " seconds");
    }
    return std::optional<seconds>(seconds(*value));
}

Result<std::map<std::string, std::string>> string_map(const Json& body, const std::string& field,
                                                      std::size_t entries_max) {
    std::map<std::string, std::string> map;
    const auto at = body.find(field);
    if (at == body.end() || at->is_null()) return map;
    if (!at->is_object()) return bad("field '" + field + "' must be an object of strings");
    if (at->size() > entries_max) {
        return bad("field '" + field + "' has more than " + std::to_string(entries_max) +
                   " entries");
    }
    for (const auto& [key, value] : at->items()) {
        if (!value.is_string()) {
            return bad("field '" + field + "': the value of '" + key + "' must be a string");
        }
        std::string text = value.get<std::string>();
        if (key.empty() || key.size() + text.size() > limits::environment_value_max_bytes) {
            return bad("field '" + field + "': an entry is empty or too long");
        }
        map.emplace(key, std::move(text));
    }
    return map;
}

Result<void> check_environment(const std::map<std::string, std::string>& environment) {
    for (const auto& [name, value] : environment) {
        if (name.find('=') != std::string::npos || name.find('\0') != std::string::npos ||
            value.find('\0') != std::string::npos) {
            return bad("field 'envVars': '" + name + "' is no valid environment variable");
        }
    }
    return {};
}

// Asked for, and not to be had here: better said than silently left out.
Result<void> refuse_unsupported(const Json& body) {
    const auto present = [&body](const char* field) {
        const auto at = body.find(field);
        return at != body.end() && !at->is_null() && !at->empty();
    };
    for (const char* field : {"volumeMounts", "mcp", "iam"}) {
        if (present(field)) {
            return fail(ErrorCode::not_supported,
                        "field '" + std::string(field) + "' is not supported", "leave it out");
        }
    }
    return {};
}

Json with_common(const SandboxView& sandbox) {
    return Json{{"templateID", sandbox.template_id},
                {"sandboxID", sandbox.id},
                {"clientID", "local"},
                {"envdVersion", envd_version}};
}

std::int64_t started_ns(const SandboxView& sandbox) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               sandbox.started_at.time_since_epoch())
        .count();
}

std::optional<std::int64_t> integer(std::string_view text) {
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "2026-01-31T08:15:00Z", with or without a fraction; UTC only.
std::optional<std::int64_t> parse_time_ns(const std::string& text) {
    int year = 0;
    int month = 0;
    int day = 0;
    int hour = 0;
    int minute = 0;
    double second = 0;
    char zone = 0;
    const int fields = std::sscanf(text.c_str(), "%4d-%2d-%2dT%2d:%2d:%lf%c", &year, &month, &day,
                                   &hour, &minute, &second, &zone);
    const bool plausible =
        fields == 7 && zone == 'Z' && hour < 24 && minute < 60 && second >= 0 && second < 61;
    const std::chrono::year_month_day date{std::chrono::year(year),
                                           std::chrono::month(static_cast<unsigned>(month)),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!plausible || !date.ok() || year < 1970 || year > 2200) return std::nullopt;
    const auto days = std::chrono::sys_days(date).time_since_epoch();
    const auto whole = std::chrono::duration_cast<std::chrono::nanoseconds>(
        days + std::chrono::hours(hour) + std::chrono::minutes(minute));
    return whole.count() + static_cast<std::int64_t>(second * 1e9);
}

}  // namespace

Result<NewSandbox> new_sandbox_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    CB_TRY(refuse_unsupported(body));
    NewSandbox wanted;
    CB_TRY_ASSIGN(template_id, optional_string(body, "templateID"));
    if (template_id && template_id->size() > 256) return bad("field 'templateID' is too long");
    CB_TRY_ASSIGN(timeout, seconds_field(body, "timeout", limits::sandbox_timeout_max));
    CB_TRY_ASSIGN(memory, optional_integer(body, "memoryMB"));
    constexpr auto min_mib = static_cast<std::int64_t>(limits::sandbox_memory_min_bytes >> 20);
    constexpr auto max_mib = static_cast<std::int64_t>(limits::sandbox_memory_max_bytes >> 20);
    if (memory && (*memory < min_mib || *memory > max_mib)) {
        return bad("field 'memoryMB' must be between " + std::to_string(min_mib) + " and " +
                   std::to_string(max_mib));
    }
    CB_TRY_ASSIGN(environment, string_map(body, "envVars", limits::environment_variables_max));
    CB_TRY(check_environment(environment));
    CB_TRY_ASSIGN(metadata, string_map(body, "metadata", limits::sandbox_metadata_max));
    CB_TRY_ASSIGN(auto_pause, optional_boolean(body, "autoPause"));
    CB_TRY_ASSIGN(on_timeout, optional_string(body, "on_timeout"));
    if (on_timeout && *on_timeout != "pause" && *on_timeout != "kill") {
        return bad("field 'on_timeout' must be 'pause' or 'kill'");
    }
    wanted.pause_on_timeout = on_timeout ? *on_timeout == "pause" : auto_pause.value_or(false);
    wanted.template_id = std::move(template_id);
    wanted.timeout = timeout;
    if (memory) wanted.memory_limit_bytes = static_cast<std::size_t>(*memory) * limits::MiB;
    wanted.environment = std::move(environment);
    wanted.metadata = std::move(metadata);
    return wanted;
}

Result<std::optional<seconds>> timeout_from(const Json& body, TimeoutField field) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    CB_TRY_ASSIGN(timeout, seconds_field(body, "timeout", limits::sandbox_timeout_max));
    if (!timeout && field == TimeoutField::required) {
        return bad("field 'timeout' (seconds) is missing");
    }
    return timeout;
}

Result<std::optional<seconds>> refresh_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    return seconds_field(body, "duration", seconds(3600));
}

Result<ForkRequest> fork_request_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    ForkRequest wanted;
    CB_TRY_ASSIGN(count, optional_integer(body, "count"));
    constexpr auto most = static_cast<std::int64_t>(limits::fork_children_max);
    if (count && (*count < 1 || *count > most)) {
        return bad("field 'count' must be between 1 and " + std::to_string(most));
    }
    CB_TRY_ASSIGN(timeout, seconds_field(body, "timeout", limits::sandbox_timeout_max));
    wanted.count = static_cast<std::size_t>(count.value_or(1));
    wanted.timeout = timeout;
    return wanted;
}

Result<void> check_keeps_memory(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    CB_TRY_ASSIGN(memory, optional_boolean(body, "memory"));
    if (memory.value_or(true)) return {};
    return fail(ErrorCode::not_supported, "a sandbox cannot be kept without its memory",
                "leave out 'memory'");
}

Result<std::string> snapshot_name_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    CB_TRY_ASSIGN(name, optional_string(body, "name"));
    if (name && name->size() > limits::snapshot_name_max_bytes) {
        return bad("field 'name' has more than " + std::to_string(limits::snapshot_name_max_bytes) +
                   " bytes");
    }
    if (name && std::any_of(name->begin(), name->end(),
                            [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
        return bad("field 'name' has a control character");
    }
    // A template's name is never taken over by a snapshot.
    if (name && (*name == "default" || name->starts_with("code-interpreter"))) {
        return bad("a snapshot cannot have the name of a template");
    }
    return name.value_or("");
}

Result<std::string> restore_target_from(const Json& body) {
    if (!body.is_object()) return bad("the body must be a JSON object");
    return required_string(body, "snapshot");
}

Json sandbox_json(const SandboxView& sandbox) {
    Json json = with_common(sandbox);
    json["envdAccessToken"] = sandbox.access_token;
    json["trafficAccessToken"] = sandbox.access_token;
    json["domain"] = nullptr;
    return json;
}

Json listed_sandbox_json(const SandboxView& sandbox) {
    Json json = with_common(sandbox);
    json["startedAt"] = iso8601(sandbox.started_at);
    json["endAt"] = iso8601(sandbox.ends_at);
    json["cpuCount"] = cpu_count;
    json["memoryMB"] = sandbox.memory_mib;
    json["diskSizeMB"] = limits::guest_disk_max_bytes / limits::MiB;
    json["state"] = sandbox.state;
    json["metadata"] = sandbox.metadata;
    return json;
}

Json sandbox_detail_json(const SandboxView& sandbox) {
    Json json = listed_sandbox_json(sandbox);
    json["domain"] = nullptr;
    json["envdAccessToken"] = sandbox.access_token;
    json["allowInternetAccess"] = false;
    // Any request to a paused sandbox resumes it.
    json["lifecycle"] = {{"autoResume", true},
                         {"onTimeout", sandbox.pauses_on_timeout ? "pause" : "kill"}};
    if (!sandbox.snapshot_id.empty()) json["snapshotID"] = sandbox.snapshot_id;
    return json;
}

Json new_snapshot_json(const SnapshotView& snapshot) {
    Json names = Json::array();
    if (!snapshot.name.empty()) names.push_back(snapshot.name);
    return {{"snapshotID", snapshot.id}, {"names", std::move(names)}};
}

Json snapshot_json(const SnapshotView& snapshot) {
    Json json = new_snapshot_json(snapshot);
    json["sandboxID"] = snapshot.sandbox_id;
    json["parentID"] = snapshot.parent_id.empty() ? Json() : Json(snapshot.parent_id);
    json["createdAt"] = iso8601(snapshot.created_at);
    json["memoryBytes"] = snapshot.memory_bytes;
    json["diskBytes"] = snapshot.disk_bytes;
    return json;
}

Result<ListQuery> list_query_from(const http::Query& query) {
    ListQuery list;
    if (const auto metadata = query.get("metadata")) {
        // Encoded twice: a query inside a query.
        const http::Query inner = http::Query::parse(*metadata);
        for (const auto& [key, value] : inner.items()) {
            list.metadata[key] = value;
        }
    }
    // Given once with commas, or several times.
    for (const std::string& value : query.all("state")) {
        for (std::size_t at = 0; at <= value.size();) {
            const std::size_t comma = std::min(value.find(',', at), value.size());
            list.states.push_back(value.substr(at, comma - at));
            at = comma + 1;
        }
    }
    if (const auto order = query.get("order")) {
        if (*order != "asc" && *order != "desc") return bad("query 'order' must be asc or desc");
        list.order = *order == "asc" ? ListOrder::oldest_first : ListOrder::newest_first;
    }
    list.template_id = query.get("template");
    if (const auto after = query.get("startedAfter")) {
        list.started_after_ns = parse_time_ns(*after);
        if (!list.started_after_ns) return bad("query 'startedAfter' must be a UTC time");
    }
    if (const auto limit = query.get("limit")) {
        const auto value = integer(*limit);
        if (!value || *value < 1 || *value > 100) return bad("query 'limit' must be 1 to 100");
        list.limit = static_cast<std::size_t>(*value);
    }
    if (const auto token = query.get("nextToken"); token && !token->empty()) {
        const std::size_t dash = token->find('-');
        const auto time = integer(std::string_view(*token).substr(0, dash));
        const std::string id = dash == std::string::npos ? "" : token->substr(dash + 1);
        if (!time || !is_valid_id(id)) return bad("query 'nextToken' is not one of ours");
        list.after = std::pair(*time, id);
    }
    return list;
}

ListPage select_page(std::vector<SandboxView> all, const ListQuery& query) {
    ListPage page;
    const bool newest = query.order == ListOrder::newest_first;
    const auto position = [](const SandboxView& s) { return std::pair(started_ns(s), s.id); };
    std::erase_if(all, [&](const SandboxView& sandbox) {
        const auto& states = query.states;
        if (!states.empty() &&
            std::find(states.begin(), states.end(), sandbox.state) == states.end())
            return true;
        if (query.template_id && sandbox.template_id != *query.template_id) return true;
        if (query.started_after_ns && started_ns(sandbox) <= *query.started_after_ns) return true;
        for (const auto& [key, value] : query.metadata) {
            const auto at = sandbox.metadata.find(key);
            if (at == sandbox.metadata.end() || at->second != value) return true;
        }
        if (!query.after) return false;
        return newest ? position(sandbox) >= *query.after : position(sandbox) <= *query.after;
    });
    std::sort(all.begin(), all.end(), [&](const SandboxView& a, const SandboxView& b) {
        return newest ? position(a) > position(b) : position(a) < position(b);
    });
    if (all.size() > query.limit) {
        all.resize(query.limit);
        page.next_token = std::to_string(started_ns(all.back())) + "-" + all.back().id;
    }
    page.items = std::move(all);
    return page;
}

Result<SnapshotQuery> snapshot_query_from(const http::Query& query) {
    SnapshotQuery wanted;
    wanted.sandbox_id = query.get("sandboxID");
    wanted.name = query.get("name");
    if (const auto limit = query.get("limit")) {
        const auto value = integer(*limit);
        if (!value || *value < 1 || *value > 100) return bad("query 'limit' must be 1 to 100");
        wanted.limit = static_cast<std::size_t>(*value);
    }
    if (const auto token = query.get("nextToken")) wanted.after = *token;
    return wanted;
}

SnapshotPage select_page(std::vector<SnapshotView> oldest_first, const SnapshotQuery& query) {
    SnapshotPage page;
    bool begun = query.after.empty();
    for (auto at = oldest_first.rbegin(); at != oldest_first.rend(); ++at) {
        if (!begun) {
            begun = at->id == query.after;
            continue;
        }
        if (query.sandbox_id && at->sandbox_id != *query.sandbox_id) continue;
        if (query.name && at->name != *query.name) continue;
        if (page.items.size() == query.limit) {
            page.next_token = page.items.back().id;
            break;
        }
        page.items.push_back(std::move(*at));
    }
    return page;
}

}  // namespace cellblock::gateway::api
