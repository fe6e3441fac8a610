// The bodies, queries and answers of /sandboxes, as E2B's control plane writes them (v1 and v2).
//
// Pure. Unknown fields are ignored, as E2B does. Of ours: "memoryMB" in requests.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "gateway/http/uri.h"

namespace cellblock::gateway::api {

// POST /sandboxes and /v2/sandboxes. Absent fields are the gateway's defaults.
struct NewSandbox {
    std::optional<std::string> template_id;
    std::optional<std::chrono::seconds> timeout;
    std::optional<std::size_t> memory_limit_bytes;
    std::map<std::string, std::string> environment;
    std::map<std::string, std::string> metadata;
    bool pause_on_timeout = false;  // E2B's autoPause; ours: "on_timeout": "pause" | "kill"

    NewSandbox() = default;
};
Result<NewSandbox> new_sandbox_from(const Json& body);

// {"timeout": seconds}; `required` as in POST .../timeout, optional in v2's connect.
enum class TimeoutField { required, optional };
Result<std::optional<std::chrono::seconds>> timeout_from(const Json& body, TimeoutField field);
// POST .../refreshes: {"duration"?: seconds, at most 3600}.
Result<std::optional<std::chrono::seconds>> refresh_from(const Json& body);

// POST .../fork: {"count"?: 1 to 100, "timeout"?: seconds}.
struct ForkRequest {
    std::size_t count = 1;
    std::optional<std::chrono::seconds> timeout;

    ForkRequest() = default;
};
Result<ForkRequest> fork_request_from(const Json& body);

// {"memory"?: true} of .../pause and .../snapshots: files are in the machine's memory, so there is
// no state without it.
Result<void> check_keeps_memory(const Json& body);

// POST .../snapshots: {"name"?: string}; POST .../restore: {"snapshot": id or name}.
Result<std::string> snapshot_name_from(const Json& body);
Result<std::string> restore_target_from(const Json& body);

// What is told about one sandbox.
struct SandboxView {
    std::string id;
    std::string template_id;
    WallTime started_at;
    WallTime ends_at;
    std::int64_t memory_mib = 0;
    std::map<std::string, std::string> metadata;
    std::string state = "running";
    bool pauses_on_timeout = false;
    std::string snapshot_id;  // made from, or restored to, or last made of it; empty: none
    // For the data plane (X-Access-Token, E2B-Traffic-Access-Token).
    std::string access_token;

    SandboxView() = default;
};
// The answer to creating and connecting.
Json sandbox_json(const SandboxView& sandbox);
Json sandbox_detail_json(const SandboxView& sandbox);
Json listed_sandbox_json(const SandboxView& sandbox);

enum class ListOrder { oldest_first, newest_first };

// GET /v2/sandboxes?metadata&state&order&startedAfter&template&limit&nextToken
struct ListQuery {
    std::map<std::string, std::string> metadata;  // all must match
    std::vector<std::string> states;              // of these; empty: all
    ListOrder order = ListOrder::newest_first;
    std::optional<std::string> template_id;
    std::optional<std::int64_t> started_after_ns;
    std::size_t limit = 100;
    // Continue behind this sandbox.
    std::optional<std::pair<std::int64_t, std::string>> after;

    ListQuery() = default;
};
Result<ListQuery> list_query_from(const http::Query& query);

struct ListPage {
    std::vector<SandboxView> items;
    std::string next_token;  // empty: that was all

    ListPage() = default;
};
// What is told about one snapshot.
struct SnapshotView {
    std::string id;
    std::string name;
    std::string sandbox_id;
    std::string parent_id;
    WallTime created_at;
    std::uint64_t memory_bytes = 0;
    std::uint64_t disk_bytes = 0;

    SnapshotView() = default;
};
// The answer to making one, as E2B has it.
Json new_snapshot_json(const SnapshotView& snapshot);
Json snapshot_json(const SnapshotView& snapshot);

// GET /snapshots?sandboxID&name&limit&nextToken
struct SnapshotQuery {
    std::optional<std::string> sandbox_id;
    std::optional<std::string> name;
    std::size_t limit = 100;
    std::string after;  // an id

    SnapshotQuery() = default;
};
Result<SnapshotQuery> snapshot_query_from(const http::Query& query);

struct SnapshotPage {
    std::vector<SnapshotView> items;  // newest first
    std::string next_token;           // empty: that was all

    SnapshotPage() = default;
};
SnapshotPage select_page(std::vector<SnapshotView> oldest_first, const SnapshotQuery& query);

// Filtered, ordered by start (then id), cut to one page.
ListPage select_page(std::vector<SandboxView> all, const ListQuery& query);

}  // namespace cellblock::gateway::api
