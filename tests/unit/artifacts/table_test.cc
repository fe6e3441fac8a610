#include "artifacts/table.h"

#include <doctest/doctest.h>

#include "base/limits.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

Json sample() {
    return Json::parse(R"({"v":1,"library":"pandas","type":"DataFrame","rows_total":2000000,
      "columns_total":2,"columns":[
        {"name":"city","dtype":"object","kind":"text","nulls":3,
         "stats":{"exact":false,"distinct":7,"top":[["Oslo",10],["Rome",4]]}},
        {"name":"income","dtype":"float64","kind":"floating","nulls":0,
         "stats":{"min":-1.5,"max":10,"mean":4.25,"std":1}}],
      "preview":[["Oslo",1.5],["Rome",null],["Bergen","inf"]],"preview_head":2,
      "data":{"format":"arrow","path":"/run/cellblock/artifacts/t1.arrow","rows":2000000},
      "partial":false,"reason":""})");
}

ErrorCode code_of(const Json& json) {
    const auto table = parse_table(json);
    return table ? ErrorCode::internal : table.error().code;
}

}  // namespace

TEST_CASE("a table as the guest sends it") {
    const auto table = parse_table(sample());
    REQUIRE(table);
    CHECK(table->columns.size() == 2);
    CHECK(table->columns[0].kind == ColumnKind::text);
    CHECK(table->columns[0].stats->top[1].first == "Rome");
    CHECK_FALSE(table->columns[0].stats->exact);
    CHECK(table->columns[1].stats->mean == 4.25);
    CHECK(table->head_rows == 2);
    CHECK(table->data->path == "/run/cellblock/artifacts/t1.arrow");
    CHECK(shape_text(*table) == "2,000,000 rows × 2 columns");
}

TEST_CASE("texts are cut and cleaned, nested cells become text, unknown kinds stay usable") {
    Json json = sample();
    json["columns"][0]["name"] = "a\nb\u202Ec";
    json["columns"][0]["kind"] = "quaternion";
    json["columns"][1]["dtype"] = std::string(100'000, 'x');
    json["preview"][0][0] = Json::parse(R"({"deep":[1,2]})");
    json["preview"][1][0] = std::string(100'000, 'y');
    const auto table = parse_table(json);
    REQUIRE(table);
    CHECK(table->columns[0].name == "a bc");
    CHECK(table->columns[0].kind == ColumnKind::other);
    CHECK(table->columns[1].dtype.size() <= limits::table_text_max_bytes);
    CHECK(table->preview[0][0] == R"({"deep":[1,2]})");
    CHECK(table->preview[1][0].get<std::string>().size() <= limits::table_text_max_bytes);
}

TEST_CASE("what no honest guest sends is refused") {
    CHECK(code_of(Json()) == ErrorCode::guest_protocol);
    CHECK(code_of(Json::array()) == ErrorCode::guest_protocol);
    CHECK(code_of(Json::parse(R"({"v":2,"columns":[]})")) == ErrorCode::guest_protocol);
    CHECK(code_of(Json::parse(R"({"v":1})")) == ErrorCode::guest_protocol);
    CHECK(code_of(Json::parse(R"({"v":1,"columns":[1]})")) == ErrorCode::guest_protocol);
    Json json = sample();
    json["preview"][1].push_back(1);
    CHECK(code_of(json) == ErrorCode::guest_protocol);
    json = sample();
    json["rows_total"] = 1;
    CHECK(code_of(json) == ErrorCode::guest_protocol);
    json = sample();
    json["columns"] = Json(limits::table_columns_max + 1, Json::object());
    CHECK(code_of(json) == ErrorCode::guest_protocol);
    json = sample();
    for (std::size_t i = 0; i < limits::table_preview_rows_max; ++i) {
        json["preview"].push_back(Json::array({1, 2}));
    }
    CHECK(code_of(json) == ErrorCode::guest_protocol);
    for (const char* path : {"/etc/passwd", "/run/cellblock/artifacts/../zygote.sock",
                             "/run/cellblock/artifacts/", "/run/cellblock/artifacts/a/b",
                             "/run/cellblock/artifacts/.x", "/run/cellblock/artifacts/a b"}) {
        json = sample();
        json["data"]["path"] = path;
        CHECK(code_of(json) == ErrorCode::guest_protocol);
    }
    for (const char* content : {"", "!!!", "AB=="}) {
        json = sample();
        json["data"]["base64"] = content;
        CAPTURE(content);
        CHECK(parse_table(json).has_value() == (std::string_view(content) == "AB=="));
    }
    json = sample();
    json["data"]["format"] = "pickle";
    CHECK(code_of(json) == ErrorCode::guest_protocol);
}

TEST_CASE("wrong statistics are left out, not fatal") {
    Json json = sample();
    json["columns"][0]["stats"] =
        Json::parse(R"({"mean":"x","distinct":-1,"top":[["a"],["b",-2],"c",["d",1]],"min":[1]})");
    json["columns"][0]["nulls"] = "many";
    const auto table = parse_table(json);
    REQUIRE(table);
    const ColumnStats& stats = *table->columns[0].stats;
    CHECK_FALSE(stats.mean);
    CHECK_FALSE(stats.distinct);
    REQUIRE(stats.top.size() == 1);
    CHECK(stats.top[0].first == "d");
    CHECK_FALSE(table->columns[0].nulls);
}

TEST_CASE("the summary keeps to its size, whatever the width") {
    const auto small = table_summary(*parse_table(sample()), 64 * limits::KiB);
    CHECK(small["schema"].size() == 2);
    CHECK(small["preview"].size() == 3);
    CHECK(small["rows"] == 2000000);
    const auto again = parse_table_summary(small);
    REQUIRE(again);
    CHECK(again->preview == parse_table(sample())->preview);
    CHECK(again->columns_total == 2);
    CHECK(again->rows_total == 2000000);
    CHECK_FALSE(parse_table_summary(Json(3)).has_value());
    Json wide = sample();
    wide["columns"] = Json(2000, wide["columns"][1]);
    wide["preview"] = Json(3, Json(2000, "some text of a cell"));
    const auto table = parse_table(wide);
    REQUIRE(table);
    for (const std::size_t budget :
         {std::size_t{0}, std::size_t{300}, 2 * limits::KiB, 20 * limits::KiB}) {
        const Json summary = table_summary(*table, budget);
        CHECK(summary["columns"] == 2000);
        CHECK(dump_ascii(summary).size() <= std::max(budget, std::size_t{400}));
        for (const Json& row : summary["preview"]) CHECK(row.size() == summary["schema"].size());
    }
}

TEST_CASE("cells as text") {
    CHECK(cell_text(nullptr) == "");
    CHECK(cell_text("a") == "a");
    CHECK(cell_text(true) == "true");
    CHECK(cell_text(0.1) == "0.1");
    CHECK(cell_text(9007199254740993) == "9007199254740993");
}
