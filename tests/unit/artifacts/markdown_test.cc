#include "artifacts/markdown.h"

#include <doctest/doctest.h>

#include "tests/unit/artifacts/tables.h"

using namespace cellblock;
using namespace cellblock::artifacts;

TEST_CASE("a whole table") {
    CHECK(to_markdown(small_table()) ==
          "| city | total_bill |\n"
          "| --- | ---: |\n"
          "| Oslo | 1.5 |\n"
          "| Rome |  |\n"
          "\n"
          "2 rows × 2 columns.\n");
}

TEST_CASE("text of the guest cannot leave its cell or become markup") {
    CHECK(escape_markdown("a|b") == "a\\|b");
    CHECK(escape_markdown("a\\|b") == "a\\\\\\|b");
    CHECK(escape_markdown("x\ny") == "x y");
    CHECK(escape_markdown("<img src=x>") == "&lt;img src=x>");
    CHECK(escape_markdown("&lt;") == "&amp;lt;");
    CHECK(escape_markdown("a & b") == "a & b");
    CHECK(escape_markdown("[text](http://x)") == "[text\\](http://x)");
    CHECK(escape_markdown("[1, 2]") == "[1, 2]");
    CHECK(escape_markdown("total_bill") == "total_bill");
    CHECK(escape_markdown("_em_") == "\\_em\\_");
    CHECK(escape_markdown("`code` **b**") == "\\`code\\` \\*\\*b\\*\\*");
    CHECK(escape_markdown("# title") == "\\# title");
    const Table table = table_of(R"({"v":1,"rows_total":1,"columns":[{"name":"a|b"}],
        "preview":[["x|y\n| z"]]})");
    CHECK(to_markdown(table).find("| a\\|b |\n| --- |\n| x\\|y \\| z |\n") == 0);
}

TEST_CASE("what is left out is marked and counted") {
    MarkdownOptions options;
    options.max_rows = 5;
    options.max_columns = 3;
    const std::string markdown = to_markdown(huge_table(), options);
    CHECK(markdown ==
          "| column 0 | column 1 | … | column 999 |\n"
          "| ---: | --- | --- | --- |\n"
          "| row 0 | row 0 | … | row 0 |\n"
          "| row 1 | row 1 | … | row 1 |\n"
          "| row 2 | row 2 | … | row 2 |\n"
          "| row 3 | row 3 | … | row 3 |\n"
          "| … | … | … | … |\n"
          "| row 14 | row 14 | … | row 14 |\n"
          "\n"
          "Showing 5 of 2,000,000 rows and 3 of 5,000 columns. Not captured in full: only the "
          "first 2000 columns are described.\n");
}

TEST_CASE("any budget is kept") {
    const Table table = huge_table();
    for (std::size_t budget = 0; budget < 20'000; budget += 37) {
        MarkdownOptions options;
        options.max_bytes = budget;
        CHECK(to_markdown(table, options).size() <= budget);
        CHECK(columns_as_markdown(table, budget).size() <= budget);
    }
}

TEST_CASE("empty tables") {
    const Table none = table_of(R"({"v":1,"rows_total":3,"columns":[],"preview":[[],[],[]]})");
    CHECK(to_markdown(none) == "3 rows × 0 columns.\n");
    const Table no_rows =
        table_of(R"({"v":1,"rows_total":0,"columns":[{"name":"a"}],"preview":[]})");
    CHECK(to_markdown(no_rows) == "| a |\n| --- |\n\n0 rows × 1 column.\n");
    const Table unknown =
        table_of(R"({"v":1,"rows_total":null,"columns":[{"name":"a"}],"preview":[[1]]})");
    CHECK(to_markdown(unknown) ==
          "| a |\n| --- |\n| 1 |\n| … |\n\nShowing 1 of at least 1 rows.\n");
}

TEST_CASE("columns with their statistics") {
    const Table table = table_of(R"({"v":1,"rows_total":9,"columns":[
        {"name":"k","dtype":"object","kind":"text","index":true,"nulls":0},
        {"name":"n","dtype":"int64","kind":"integer","nulls":1200,"note":"stored as text: mixed",
         "stats":{"exact":false,"min":1,"max":9.5,"mean":4.123456789,"distinct":7,
                  "top":[["a|",3],[true,2]]}}],"preview":[]})");
    CHECK(columns_as_markdown(table, 1000) ==
          "- k: object, row label\n"
          "- n: int64, 1,200 missing, from 1 to 9.5, mean 4.12346, 7 different, most often a\\| "
          "(3), true (2) (over a sample); stored as text: mixed\n");
    CHECK(columns_as_markdown(table, 60) == "- k: object, row label\n- and 1 more columns\n");
}
