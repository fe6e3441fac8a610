#include "gateway/executions/display_budget.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway;

namespace {

artifacts::Captured display_of(Json fields) {
    artifacts::Captured display;
    display.result_fields = std::move(fields);
    display.result_fields["extra"] = Json::object();
    return display;
}

}  // namespace

TEST_CASE("a small display goes as it is") {
    DisplayBudget budget;
    auto display = display_of({{"text", "a"}, {"html", "<b>a</b>"}, {"data", {{"a", {1}}}}});
    const Json before = display.result_fields;
    CHECK(budget.apply(display).empty());
    CHECK(display.result_fields == before);
    CHECK(display.artifacts.empty());
}

TEST_CASE("text is cut between characters, and the whole of it becomes an artifact") {
    DisplayBudget budget;
    std::string text(limits::execution_inline_text_max_bytes - 1, 'x');
    text += "\u00e9tail";
    auto display = display_of({{"text", text}});
    const auto cuts = budget.apply(display);
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].field == "text");
    CHECK(cuts[0].inline_bytes == limits::execution_inline_text_max_bytes - 1);
    CHECK(cuts[0].total_bytes == text.size());
    CHECK(display.result_fields["text"].get_ref<const std::string&>().size() ==
          cuts[0].inline_bytes);
    REQUIRE(display.artifacts.size() == 1);
    CHECK(as_text(display.artifacts[0].bytes) == text);
    CHECK(display.artifacts[0].mime == "text/plain");
}

TEST_CASE("the displays of one execution share the budget") {
    DisplayBudget budget;
    auto first = display_of({{"text", std::string(limits::execution_inline_text_max_bytes, 'a')}});
    CHECK(budget.apply(first).empty());
    auto second = display_of({{"text", "b"}});
    const auto cuts = budget.apply(second);
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].inline_bytes == 0);
    CHECK(second.result_fields["text"] == "");
}

TEST_CASE("a field that cannot be cut is left out whole, and its artifact is named") {
    DisplayBudget budget;
    const std::string page(limits::execution_inline_rich_max_bytes + 1, 'p');
    auto display = display_of({{"html", page}});
    artifacts::PendingArtifact kept;
    kept.field = "html";
    display.artifacts.push_back(kept);
    const auto cuts = budget.apply(display);
    REQUIRE(cuts.size() == 1);
    CHECK(cuts[0].artifact == 0);
    CHECK(cuts[0].total_bytes == page.size());
    CHECK_FALSE(display.result_fields.contains("html"));
    CHECK(display.artifacts.size() == 1);
}

TEST_CASE("too large data and extras become JSON artifacts; extra itself stays an object") {
    DisplayBudget budget;
    const std::string big(limits::execution_inline_rich_max_bytes, 'x');
    auto display = display_of({{"data", {{"a", {big}}}}});
    display.result_fields["extra"]["x/y"] = big;
    const auto cuts = budget.apply(display);
    REQUIRE(cuts.size() == 2);
    CHECK_FALSE(display.result_fields.contains("data"));
    CHECK(display.result_fields["extra"] == Json::object());
    CHECK(display.artifacts.at(1).mime == "application/json");
}
