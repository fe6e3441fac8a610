#include "gateway/http/router.h"

#include <doctest/doctest.h>

using namespace cellblock::gateway::http;
using cellblock::Result;

namespace {

boost::asio::awaitable<Result<void>> nothing(Request&, ResponseWriter&) {
    co_return Result<void>();
}

Router sample() {
    Router router;
    const RouteOptions options;
    router.add("GET", "/", options, nothing);
    router.add("GET", "/sandboxes/{id}", options, nothing);
    router.add("DELETE", "/sandboxes/{id}", options, nothing);
    router.add("GET", "/sandboxes/metrics", options, nothing);
    router.add("PUT", "/sandboxes/{id}/files/{path*}", options, nothing);
    return router;
}

}  // namespace

TEST_CASE("literals beat parameters, whatever their order") {
    const Router router = sample();
    CHECK(router.match("GET", {"sandboxes", "metrics"}).route->pattern == "/sandboxes/metrics");
    const Match match = router.match("GET", {"sandboxes", "x1"});
    CHECK(match.route->pattern == "/sandboxes/{id}");
    REQUIRE(match.params.size() == 1);
    CHECK(match.params[0].second == "x1");
}

TEST_CASE("a rest parameter takes the whole rest") {
    const Router router = sample();
    const Match match = router.match("PUT", {"sandboxes", "x", "files", "", "tmp", "a b"});
    REQUIRE(match.kind == MatchKind::found);
    CHECK(match.params[1].second == "/tmp/a b");
    CHECK(router.match("PUT", {"sandboxes", "x", "files"}).kind == MatchKind::unknown_path);
}

TEST_CASE("knows wrong methods from unknown paths, and HEAD from GET") {
    const Router router = sample();
    const Match wrong = router.match("PATCH", {"sandboxes", "x"});
    CHECK(wrong.kind == MatchKind::wrong_method);
    CHECK(wrong.allow == "GET, HEAD, DELETE");
    CHECK(router.match("GET", {"nothing"}).kind == MatchKind::unknown_path);
    CHECK(router.match("GET", {"sandboxes", "x", ""}).kind == MatchKind::unknown_path);
    CHECK(router.match("HEAD", {"sandboxes", "x"}).kind == MatchKind::found);
    CHECK(router.match("GET", {}).kind == MatchKind::found);
}
