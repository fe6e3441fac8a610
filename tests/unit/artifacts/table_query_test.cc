#include "artifacts/table_query.h"

#include <doctest/doctest.h>

#include "artifacts/table_limits.h"
#include "base/json.h"
#include "table_samples.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

Json rows(const std::string& name, const RowQuery& query) {
    arrow::ArrowFile file = table_samples::open(name);
    const auto text = rows_as_json(file, query);
    REQUIRE_MESSAGE(text.has_value(), text.error().text());
    auto json = parse_json(*text, JsonLimits{limits::table_page_max_bytes * 2}, "the rows");
    REQUIRE_MESSAGE(json.has_value(), json.error().text());
    return std::move(*json);
}

std::string error_of(const std::string& name, const RowQuery& query) {
    arrow::ArrowFile file = table_samples::open(name);
    const auto text = rows_as_json(file, query);
    return text ? "(none)" : text.error().text();
}

// The column "n" of the answer: which rows they are.
std::vector<int> numbers(const Json& answer) {
    std::vector<int> found;
    for (const Json& row : answer.at("rows")) found.push_back(row.at(0).get<int>());
    return found;
}

RowQuery page(std::uint64_t offset, std::size_t limit) {
    RowQuery query;
    query.offset = offset;
    query.limit = limit;
    query.columns = {"n"};
    return query;
}

using Numbers = std::vector<int>;

}  // namespace

TEST_CASE("a page goes over the borders of batches and ends with the table") {
    CHECK(numbers(rows("sales", page(62, 4))) == Numbers{62, 63, 64, 65});
    const Json last = rows("sales", page(998, 100));
    CHECK(numbers(last) == Numbers{998, 999});
    CHECK(last.at("total") == 1000);
    CHECK(last.at("matched") == 1000);
    CHECK(last.at("offset") == 998);
    CHECK(last.at("limit") == 100);
    CHECK(rows("sales", page(5000, 10)).at("rows").empty());
    CHECK(rows("sales", page(0, 0)).at("rows").empty());
}

TEST_CASE("columns come in the order asked for, with name, type and kind") {
    RowQuery query = page(1, 1);
    query.columns = {"city,n", "day"};
    const Json answer = rows("sales", query);
    CHECK(answer.at("rows").dump() == R"([["Rome",1,"1970-01-02T00:00:00+00:00"]])");
    CHECK(answer.at("columns").dump() ==
          R"([{"name":"city","type":"category<text>","kind":"category"},)"
          R"({"name":"n","type":"int64","kind":"integer"},)"
          R"({"name":"day","type":"timestamp[us, UTC]","kind":"datetime"}])");
    query.columns = {};
    CHECK(rows("sales", query).at("columns").size() == 5);
}

TEST_CASE("names with commas, colons and a minus are found as they are") {
    RowQuery query;
    query.columns = {"a:b,c,-a"};
    query.filter = {"a:b,c:eq:=1+1"};
    query.sort = {"-a"};
    const Json answer = rows("names", query);
    CHECK(answer.at("rows").dump() == R"([["=1+1",null]])");
    query.filter.clear();
    CHECK(rows("names", query).at("rows").dump() == R"([["<b>|","x,y"],["=1+1",null]])");
    query.columns.clear();
    CHECK(rows("names", query).at("columns").at(0).at("index") == true);
}

TEST_CASE("filters compare numbers, texts, categories and moments as what they are") {
    const auto matched = [](std::vector<std::string> filter) {
        RowQuery query = page(0, 1000);
        query.filter = std::move(filter);
        const Json answer = rows("sales", query);
        CHECK(answer.at("matched") == answer.at("rows").size());
        return numbers(answer);
    };
    CHECK(matched({"n:lt:3"}) == Numbers{0, 1, 2});
    CHECK(matched({"n:le:2.5"}) == Numbers{0, 1, 2});
    CHECK(matched({"n:gt:996.5", "n:ne:998"}) == Numbers{997, 999});
    CHECK(matched({"n:eq:2.5"}).empty());
    CHECK(matched({"n:ge:-1", "n:lt:1"}) == Numbers{0});
    CHECK(matched({"name:eq:name 00007"}) == Numbers{7});
    CHECK(matched({"name:contains:0012"}).size() == 11);  // 00012 and 00120 to 00129
    CHECK(matched({"city:eq:Rome", "n:lt:5"}) == Numbers{1, 4});
    CHECK(matched({"city:contains:ão", "n:lt:3"}) == Numbers{2});
    CHECK(matched({"amount:isnull", "n:lt:30"}) == Numbers{9, 19, 29});
    CHECK(matched({"amount:notnull", "n:lt:3"}) == Numbers{0, 1, 2});
    CHECK(matched({"amount:eq:9.25"}) == Numbers{1});
    CHECK(matched({"day:lt:1970-01-03"}) == Numbers{0, 1});
    CHECK(matched({"day:eq:1970-01-02T01:00:00+01:00"}) == Numbers{1});
    CHECK(matched({"n:contains:99", "n:lt:200"}) == Numbers{99, 199});
}

TEST_CASE("a filtered page has its place among the matches") {
    RowQuery query = page(2, 3);
    query.filter = {"city:eq:Oslo"};
    const Json answer = rows("sales", query);
    CHECK(numbers(answer) == Numbers{6, 9, 12});
    CHECK(answer.at("matched") == 334);
    CHECK(answer.at("total") == 1000);
}

TEST_CASE("sorting puts missing cells last in both directions and keeps ties in row order") {
    RowQuery query = page(0, 3);
    query.sort = {"-n"};
    CHECK(numbers(rows("sales", query)) == Numbers{999, 998, 997});
    query.sort = {"city", "-n"};
    CHECK(numbers(rows("sales", query)) == Numbers{999, 996, 993});
    query.sort = {"city"};
    CHECK(numbers(rows("sales", query)) == Numbers{0, 3, 6});
    query.sort = {"name"};
    query.offset = 500;
    CHECK(numbers(rows("sales", query)) == Numbers{500, 501, 502});
    for (const char* order : {"amount", "-amount"}) {
        query.sort = {order};
        query.offset = 897;
        query.limit = 1000;
        const Numbers last = numbers(rows("sales", query));
        REQUIRE(last.size() == 103);
        CHECK(last[2] % 10 != 9);
        CHECK(last[3] == 9);
        CHECK(last.back() == 999);
    }
}

TEST_CASE("what is wrong with a query is said") {
    const auto with = [](auto change) {
        RowQuery query;
        change(query);
        return error_of("sales", query);
    };
    CHECK(with([](RowQuery& q) { q.sort = {"nope"}; }).starts_with("there is no column 'nope'"));
    CHECK(with([](RowQuery& q) { q.columns = {"n,nope"}; }).find("no column") != std::string::npos);
    CHECK(with([](RowQuery& q) { q.filter = {"n"}; }).find("operators are") != std::string::npos);
    CHECK(with([](RowQuery& q) { q.filter = {"n:like:3"}; }).find("operators") !=
          std::string::npos);
    CHECK(with([](RowQuery& q) { q.filter = {"x:eq:3"}; }).starts_with("there is no column 'x'"));
    CHECK(with([](RowQuery& q) { q.filter = {"n:eq:many"}; }) ==
          "'many' cannot be compared with column 'n' (int64) (it takes a number)");
    CHECK(with([](RowQuery& q) { q.filter = {"day:gt:monday"}; }).find("2024-02-29") !=
          std::string::npos);
    CHECK(with([](RowQuery& q) { q.sort = std::vector<std::string>(5, "n"); }) != "(none)");
    CHECK(with([](RowQuery& q) { q.filter = std::vector<std::string>(17, "n:eq:1"); }) != "(none)");
}
