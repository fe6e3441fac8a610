#include "artifacts/table_writers.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "artifacts/table_limits.h"
#include "base/json.h"
#include "table_samples.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

std::string written(const std::string& name, TableFormat format,
                    std::uint64_t max_rows = UINT64_MAX) {
    TableWriter writer(table_samples::open(name), format, max_rows);
    std::string all;
    while (true) {
        const auto piece = writer.next();
        REQUIRE_MESSAGE(piece.has_value(), piece.error().text());
        if (piece->empty()) return all;
        all += *piece;
    }
}

std::size_t lines(const std::string& text) {
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("CSV quotes what could be taken apart, and tells an empty text from null") {
    CHECK(written("names", TableFormat::csv) ==
          "a,\"a:b,c\",-a\n"
          "1,=1+1,\n"
          "2,<b>|,\"x,y\"\n");
    const std::string kinds = written("kinds", TableFormat::csv);
    CHECK(kinds.find("\"😀 \"\"q\"\"\n\"") != std::string::npos);
    CHECK(kinds.find(",\"\",0x,") != std::string::npos);  // empty text, empty bytes
    CHECK(lines(written("sales", TableFormat::csv)) == 1001);
}

TEST_CASE("the only cell of a row is quoted when it is empty, so that no line is") {
    CHECK(written("alone", TableFormat::csv) == "s\nx\n\"\"\n\"\"\n");
}

TEST_CASE("JSON is valid and complete") {
    const auto json = parse_json(written("sales", TableFormat::json), JsonLimits{1 << 20}, "rows");
    REQUIRE(json.has_value());
    REQUIRE(json->size() == 1000);
    const std::string_view expected = R"({"n":9,"amount":null,"name":"name 00009","city":"Oslo",)"
                                      R"("day":"1970-01-10T00:00:00+00:00"})";
    CHECK(json->at(9).dump() == expected);
    CHECK(parse_json(written("kinds", TableFormat::json), JsonLimits{1 << 20}, "k")->size() == 3);
    CHECK(written("sales", TableFormat::json, 0) == "[]\n");
}

TEST_CASE("HTML shows the guest's text as text") {
    const std::string html = written("names", TableFormat::html);
    CHECK(html.find("<b>") == std::string::npos);
    CHECK(html.find("&lt;b&gt;|") != std::string::npos);
    CHECK(html.find("<th class=\"n\">a</th>") != std::string::npos);
    CHECK(html.ends_with("<p>2 rows.</p></body></html>\n"));
}

TEST_CASE("Markdown has some rows and says of how many") {
    const std::string markdown = written("sales", TableFormat::markdown, 2);
    CHECK(markdown ==
          "| n | amount | name | city | day |\n"
          "| ---: | ---: | --- | --- | --- |\n"
          "| 0 | 0.0 | name 00000 | Oslo | 1970-01-01T00:00:00+00:00 |\n"
          "| 1 | 9.25 | name 00001 | Rome | 1970-01-02T00:00:00+00:00 |\n"
          "\nThe first 2 of 1,000 rows.\n");
    CHECK(written("names", TableFormat::markdown).find("| &lt;b>\\| |") != std::string::npos);
}

TEST_CASE("a table without columns or rows is still a document of its format") {
    CHECK(table_format_from("csv") == TableFormat::csv);
    CHECK(table_format_from("md") == TableFormat::markdown);
    CHECK(!table_format_from("exe").has_value());
    CHECK(mime_of(TableFormat::html) == "text/html");
}
