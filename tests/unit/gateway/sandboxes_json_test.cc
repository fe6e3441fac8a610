#include "gateway/api/sandboxes_json.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway::api;
using cellblock::gateway::http::Query;
using std::chrono::seconds;

namespace {

SandboxView sandbox(const std::string& id, int started_s) {
    SandboxView view;
    view.id = id;
    view.template_id = "default";
    view.started_at = WallTime(seconds(started_s));
    view.ends_at = WallTime(seconds(started_s + 300));
    view.memory_mib = 512;
    view.metadata = {{"user", "u" + id}};
    view.access_token = "e2b_ab";
    return view;
}

std::string ids(const ListPage& page) {
    std::string all;
    for (const SandboxView& item : page.items) all += item.id;
    return all;
}

ErrorCode refusal(const char* body) {
    const auto wanted = new_sandbox_from(Json::parse(body));
    REQUIRE_FALSE(wanted.has_value());
    return wanted.error().code;
}

}  // namespace

TEST_CASE("reads what E2B's clients send to create a sandbox") {
    const auto wanted = new_sandbox_from(Json::parse(R"({
        "templateID": "code-interpreter-v1", "timeout": 120, "secure": true, "autoPause": false,
        "allow_internet_access": true, "metadata": {"a": "b"}, "envVars": {"K": "V"},
        "mcp": null, "volumeMounts": [], "memoryMB": 512, "somethingNew": 1})"));
    REQUIRE(wanted.has_value());
    CHECK(wanted->template_id == "code-interpreter-v1");
    CHECK(wanted->timeout == seconds(120));
    CHECK(wanted->memory_limit_bytes == 512u * 1024 * 1024);
    CHECK(wanted->metadata.at("a") == "b");
    CHECK(wanted->environment.at("K") == "V");
    const auto empty = new_sandbox_from(Json::object());
    REQUIRE(empty.has_value());
    CHECK_FALSE(empty->timeout.has_value());
}

TEST_CASE("refuses wrong types, out-of-range numbers and what it cannot do") {
    CHECK(refusal("[]") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"timeout": "1"})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"timeout": -1})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"timeout": 1e30})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"memoryMB": 1})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"memoryMB": 999999})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"metadata": {"a": 1}})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"envVars": ["a"]})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"envVars": {"a=b": "c"}})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"templateID": 7})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"on_timeout": "explode"})") == ErrorCode::invalid_argument);
    CHECK(refusal(R"({"volumeMounts": [{"name": "a", "path": "/b"}]})") ==
          ErrorCode::not_supported);
}

TEST_CASE("reads timeouts and refreshes") {
    CHECK(timeout_from(Json::parse(R"({"timeout": 5})"), TimeoutField::required).value() ==
          seconds(5));
    CHECK_FALSE(timeout_from(Json::object(), TimeoutField::required).has_value());
    CHECK_FALSE(timeout_from(Json::object(), TimeoutField::optional).value().has_value());
    CHECK(refresh_from(Json::parse(R"({"duration": 3600})")).value() == seconds(3600));
    CHECK_FALSE(refresh_from(Json::parse(R"({"duration": 3601})")).has_value());
}

TEST_CASE("writes every field that E2B's clients require") {
    const Json created = sandbox_json(sandbox("a", 0));
    for (const char* field : {"templateID", "sandboxID", "clientID", "envdVersion"}) {
        CHECK(created[field].is_string());
    }
    CHECK(created["domain"].is_null());
    CHECK(created["envdAccessToken"] == "e2b_ab");
    const Json detail = sandbox_detail_json(sandbox("a", 0));
    for (const char* field :
         {"templateID", "sandboxID", "clientID", "startedAt", "endAt", "envdVersion", "state"}) {
        CHECK(detail[field].is_string());
    }
    for (const char* field : {"cpuCount", "memoryMB", "diskSizeMB"}) {
        CHECK(detail[field].is_number_integer());
    }
    CHECK(detail["startedAt"] == "1970-01-01T00:00:00.000000Z");
    const Json listed = listed_sandbox_json(sandbox("a", 0));
    CHECK(listed["metadata"]["user"] == "ua");
    CHECK_FALSE(listed.contains("envdAccessToken"));
    CHECK_FALSE(listed.contains("domain"));
}

TEST_CASE("pages through a list without loss or repetition, in both orders") {
    const std::vector<SandboxView> all = {sandbox("c", 3), sandbox("a", 1), sandbox("b", 3),
                                          sandbox("d", 9)};
    for (const char* order : {"asc", "desc"}) {
        std::string seen;
        std::string token;
        for (int page_number = 0; page_number < 4; ++page_number) {
            const auto query = list_query_from(
                Query::parse(std::string("limit=1&order=") + order + "&nextToken=" + token));
            REQUIRE(query.has_value());
            const ListPage page = select_page(all, *query);
            seen += ids(page);
            token = page.next_token;
        }
        CHECK(seen == (std::string(order) == "asc" ? "abcd" : "dcba"));
        CHECK(token.empty());
    }
}

TEST_CASE("a sandbox pauses at its timeout when E2B's field or ours asks for it") {
    const auto pauses = [](const char* body) {
        return new_sandbox_from(Json::parse(body)).value().pause_on_timeout;
    };
    CHECK_FALSE(pauses("{}"));
    CHECK(pauses(R"({"autoPause": true})"));
    CHECK(pauses(R"({"on_timeout": "pause"})"));
    CHECK_FALSE(pauses(R"({"autoPause": true, "on_timeout": "kill"})"));
    SandboxView view = sandbox("a", 0);
    view.state = "paused";
    view.pauses_on_timeout = true;
    const Json detail = sandbox_detail_json(view);
    CHECK(detail["state"] == "paused");
    CHECK(detail["lifecycle"]["onTimeout"] == "pause");
}

TEST_CASE("a fork makes 1 to 100 children") {
    CHECK(fork_request_from(Json::object()).value().count == 1);
    CHECK(fork_request_from(Json{{"count", 100}}).value().count == 100);
    CHECK(fork_request_from(Json{{"timeout", 5}}).value().timeout == std::chrono::seconds(5));
    for (const char* body : {R"({"count": 0})", R"({"count": 101})", R"({"count": "2"})", "[]"}) {
        CHECK_FALSE(fork_request_from(Json::parse(body)).has_value());
    }
}

TEST_CASE("a snapshot's name may be missing, but not too long or a template's") {
    CHECK(snapshot_name_from(Json::object()).value().empty());
    CHECK(snapshot_name_from(Json{{"name", "warm"}}).value() == "warm");
    CHECK_FALSE(snapshot_name_from(Json{{"name", "default"}}).has_value());
    CHECK_FALSE(snapshot_name_from(Json{{"name", std::string(129, 'x')}}).has_value());
}

TEST_CASE("pages through snapshots, newest first, of one sandbox or of all") {
    std::vector<SnapshotView> all(5);
    for (std::size_t i = 0; i < all.size(); ++i) {
        all[i].id = std::string(1, static_cast<char>('a' + i));
        all[i].sandbox_id = i % 2 == 0 ? "even" : "odd";
    }
    const auto walk = [&](const std::string& filter) {
        std::string seen;
        std::string token;
        do {
            const auto query =
                snapshot_query_from(Query::parse("limit=2&nextToken=" + token + "&" + filter));
            REQUIRE(query.has_value());
            const SnapshotPage page = select_page(all, *query);
            for (const SnapshotView& snapshot : page.items) seen += snapshot.id;
            token = page.next_token;
        } while (!token.empty());
        return seen;
    };
    CHECK(walk("") == "edcba");
    CHECK(walk("sandboxID=even") == "eca");
    CHECK(walk("sandboxID=nobody") == "");
    CHECK_FALSE(snapshot_query_from(Query::parse("limit=0")).has_value());
}

TEST_CASE("filters a list by metadata, state, start and template") {
    const std::vector<SandboxView> all = {sandbox("a", 100), sandbox("b", 200)};
    const auto select = [&](const char* text) {
        const auto query = list_query_from(Query::parse(text));
        REQUIRE(query.has_value());
        return ids(select_page(all, *query));
    };
    CHECK(select("") == "ba");
    CHECK(select("metadata=user%3Dua") == "a");
    CHECK(select("metadata=user%3Dua%26x%3Dy") == "");
    CHECK(select("state=paused") == "");
    CHECK(select("state=running,paused") == "ba");
    CHECK(select("state=paused&state=running") == "ba");
    CHECK(select("startedAfter=1970-01-01T00%3A01%3A40Z") == "b");
    CHECK(select("template=other") == "");
    for (const char* bad :
         {"limit=0", "limit=101", "limit=x", "order=up", "nextToken=x", "startedAfter=yesterday"}) {
        CAPTURE(bad);
        CHECK_FALSE(list_query_from(Query::parse(bad)).has_value());
    }
}
