#include "artifacts/aligned_text.h"

#include <doctest/doctest.h>

#include <sstream>

#include "artifacts/text.h"
#include "tests/unit/artifacts/tables.h"

using namespace cellblock;
using namespace cellblock::artifacts;

TEST_CASE("numbers to the right, text to the left, wide characters counted") {
    const Table table = table_of(R"({"v":1,"rows_total":3,"columns":[
        {"name":"city","kind":"text"},{"name":"n","kind":"integer"}],
        "preview":[["Oslo",1],["東京",12345],["a\u001b[31mb",null]]})");
    CHECK(to_aligned_text(table) ==
          "city        n\n"
          "Oslo        1\n"
          "東京    12345\n"
          "a[31mb\n"
          "3 rows × 2 columns\n");
}

TEST_CASE("a wide table fits the terminal and says what is missing") {
    const Table table = huge_table();
    for (const std::size_t width : {std::size_t{20}, std::size_t{80}, std::size_t{200}}) {
        AlignedOptions options;
        options.width = width;
        std::istringstream lines(to_aligned_text(table, options));
        std::string line;
        std::string last;
        while (std::getline(lines, line)) {
            if (line.starts_with("Showing")) last = line;
            if (last.empty()) CHECK(display_width(line) <= std::max<std::size_t>(width, 24));
        }
        CHECK(last.find("of 2,000,000 rows") != std::string::npos);
        CHECK(last.find("of 5,000 columns") != std::string::npos);
    }
}

TEST_CASE("long cells are cut") {
    Json json = Json::parse(R"({"v":1,"rows_total":1,"columns":[{"name":"a"}],"preview":[["x"]]})");
    json["preview"][0][0] = std::string(1000, 'y');
    AlignedOptions options;
    options.max_cell_width = 10;
    CHECK(to_aligned_text(*parse_table(json), options) == "a\nyyyyyyyyy…\n1 row × 1 column\n");
}
