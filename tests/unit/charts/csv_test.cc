// The data as a table: values, names of categories, times; and no formula for a spreadsheet.
#include "charts/csv.h"

#include <algorithm>

#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

TEST_CASE("bars with their categories and error bars") {
    CHECK(to_csv(sample("bar")) ==
          "panel,layer,kind,pos,value,base,width,cat\r\n"
          "Book Sales by Authors,Books Sold,bar,Author A,100,0,0.8,Author A\r\n"
          "Book Sales by Authors,Books Sold,bar,Author B,200,0,0.8,Author B\r\n"
          "Book Sales by Authors,Books Sold,bar,Author C,300,0,0.8,Author C\r\n"
          "Book Sales by Authors,Books Sold,bar,Author D,400,0,0.8,Author D\r\n");
    CHECK(to_csv(sample("bar_grouped")).find("2024,bar,-0.2,3,0,0.4,Oslo,2.9,3.1\r\n") !=
          std::string::npos);
}

TEST_CASE("times, missing values, bins and cells") {
    const std::string dates = to_csv(sample("dates"));
    CHECK(dates.find("p0,temp,line,2024-01-01T12:00:00,1.5\r\n") != std::string::npos);
    CHECK(dates.find("p0,temp,line,2024-01-03T12:00:00,\r\n") != std::string::npos);
    CHECK(to_csv(sample("hist")).find("p0,ages,hist,3,5,5\r\n") != std::string::npos);
    CHECK(to_csv(sample("heatmap")).find("heatmap,w,v,0.5\r\n") != std::string::npos);
    CHECK(to_csv(sample("table")).find("table,1,2\r\n") != std::string::npos);
}

TEST_CASE("every sample gives a header and one row for each point") {
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const std::string text = to_csv(sample(name));
        CHECK(text.starts_with("panel,layer,kind"));
        const auto lines = std::count(text.begin(), text.end(), '\n');
        if (name == "superchart") CHECK(lines == 106);
    }
}

TEST_CASE("formulas and quotes are disarmed") {
    const Json figure{
        {"v", 1},
        {"panels",
         Json::array({{{"id", "p0"},
                       {"title", "a \"b\", c"},
                       {"layers", Json::array({{{"id", "l0"},
                                                {"kind", "line"},
                                                {"label", "=cmd()"},
                                                {"data", {{"x", {-1}}, {"y", {2.5}}}}}})}}})}};
    const auto parsed = parse_figure(figure);
    REQUIRE(parsed.has_value());
    CHECK(to_csv(*parsed) == "panel,layer,kind,x,y\r\n\"a \"\"b\"\", c\",'=cmd(),line,-1,2.5\r\n");
}

}  // namespace cellblock::charts
