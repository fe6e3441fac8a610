// E2B's own chart tests, asked of to_e2b: figures drawn as there, expectations as there.
#include "charts/e2b.h"

#include <algorithm>

#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

bool all_strings(const Json& list) {
    return std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_string(); });
}
bool all_numbers(const Json& list) {
    return std::all_of(list.begin(), list.end(), [](const Json& item) { return item.is_number(); });
}

Json column(const Json& elements, const char* name) {
    Json result = Json::array();
    for (const Json& element : elements) result.push_back(element.at(name));
    return result;
}

void check_keys(const Json& chart) {
    const std::string type = chart.at("type");
    CAPTURE(type);
    CHECK(chart.contains("title"));
    CHECK(chart.at("elements").is_array());
    if (type == "superchart") {
        for (const Json& inner : chart["elements"]) check_keys(inner);
        return;
    }
    if (type == "line" || type == "scatter" || type == "bar" || type == "box_and_whisker") {
        for (const char* key : {"x_label", "y_label", "x_unit", "y_unit"})
            CHECK(chart.contains(key));
    }
    if (type == "line" || type == "scatter") {
        for (const char* key :
             {"x_ticks", "x_tick_labels", "x_scale", "y_ticks", "y_tick_labels", "y_scale"}) {
            CHECK(chart.contains(key));
        }
        for (const Json& element : chart["elements"]) {
            CHECK(element.at("label").is_string());
            for (const Json& point : element.at("points")) CHECK(point.size() == 2);
        }
    }
}

}  // namespace

TEST_CASE("every sample becomes a chart with all of E2B's keys") {
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const Json chart = to_e2b(sample(name));
        if (name == "blank") {
            CHECK(chart == Json::object());
        } else {
            check_keys(chart);
        }
    }
}

TEST_CASE("line chart with dates") {
    const Json chart = to_e2b(sample("line"));
    CHECK(chart["type"] == "line");
    CHECK(chart["title"] == "Plot of sin(x) and cos(x)");
    CHECK(chart["x_label"] == "Time (s)");
    CHECK(chart["y_label"] == "Amplitude (Hz)");
    CHECK(chart["x_unit"] == "s");
    CHECK(chart["y_unit"] == "Hz");
    CHECK(chart["x_scale"] == "datetime");
    CHECK(chart["y_scale"] == "linear");
    CHECK(all_strings(chart["x_ticks"]));
    CHECK(std::string(chart["x_ticks"].at(0)).ends_with("+00:00"));
    CHECK(all_numbers(chart["y_ticks"]));
    CHECK(all_strings(chart["x_tick_labels"]));
    REQUIRE(chart["elements"].size() == 2);
    CHECK(chart["elements"][0]["label"] == "sin(x)");
    CHECK(chart["elements"][1]["label"] == "cos(x)");
    REQUIRE(chart["elements"][0]["points"].size() == 100);
    CHECK(chart["elements"][0]["points"][0] == Json::array({"2023-09-01", 0.0}));
    CHECK(chart["elements"][1]["points"][0][1] == doctest::Approx(1.0));
}

TEST_CASE("times, gaps and reference lines") {
    const Json chart = to_e2b(sample("dates"));
    CHECK(chart["type"] == "line");
    CHECK(chart["y_unit"] == "°C");
    REQUIRE(chart["elements"].size() == 1);
    const Json& points = chart["elements"][0]["points"];
    CHECK(points[0] == Json::array({"2024-01-01T12:00:00", 1.5}));
    CHECK(points[2][1].is_null());
    CHECK(points[4][0] == "2024-01-05T12:00:00");
}

TEST_CASE("log chart") {
    const Json chart = to_e2b(sample("log"));
    CHECK(chart["type"] == "line");
    CHECK(chart["x_scale"] == "linear");
    CHECK(chart["y_scale"] == "log");
    CHECK(chart["y_unit"] == "log scale");
    CHECK(chart["x_unit"].is_null());
    REQUIRE(chart["elements"].size() == 1);
    CHECK(chart["elements"][0]["label"] == "y = e^x");
    CHECK(chart["elements"][0]["points"].size() == 100);
}

TEST_CASE("categories on the y axis are the plotted strings") {
    const Json chart = to_e2b(sample("categorical"));
    CHECK(chart["x_scale"] == "linear");
    CHECK(chart["y_scale"] == "categorical");
    CHECK(chart["y_tick_labels"] == Json({"A", "B", "C", "D", "E"}));
    CHECK(chart["elements"][0]["points"][1] == Json::array({2.0, "B"}));
    CHECK(chart["elements"][0]["label"] == "Line 0");
}

TEST_CASE("scatter chart") {
    const Json chart = to_e2b(sample("scatter"));
    CHECK(chart["type"] == "scatter");
    CHECK(chart["title"].is_null());
    REQUIRE(chart["elements"].size() == 2);
    CHECK(chart["elements"][0]["label"] == "Dataset 1");
    CHECK(chart["elements"][0]["points"].size() == 5);
    CHECK(chart["elements"][1]["points"].size() == 10);
    CHECK(chart["elements"][1]["points"][3] == Json::array({3.0, 9.0}));
}

TEST_CASE("bar charts: plain, grouped with error bars, stacked and lying") {
    const Json plain = to_e2b(sample("bar"));
    CHECK(plain["type"] == "bar");
    CHECK(plain["title"] == "Book Sales by Authors");
    CHECK(column(plain["elements"], "value") == Json({100.0, 200.0, 300.0, 400.0}));
    CHECK(column(plain["elements"], "label") ==
          Json({"Author A", "Author B", "Author C", "Author D"}));
    CHECK(column(plain["elements"], "group") ==
          Json({"Books Sold", "Books Sold", "Books Sold", "Books Sold"}));

    const Json grouped = to_e2b(sample("bar_grouped"));
    CHECK(grouped["type"] == "bar");
    CHECK(grouped["y_unit"] == "EUR");
    CHECK(column(grouped["elements"], "label") ==
          Json({"Oslo", "Rome", "Bonn", "Oslo", "Rome", "Bonn"}));
    CHECK(column(grouped["elements"], "group") ==
          Json({"2024", "2024", "2024", "2025", "2025", "2025"}));
    CHECK(grouped["elements"][1]["err"][0] == doctest::Approx(3.8));
    CHECK(grouped["elements"][1]["err"][1] == doctest::Approx(4.2));

    const Json lying = to_e2b(sample("bar_stacked_lying"));
    CHECK(lying["x_label"] == "Thing");  // swapped, as E2B does
    CHECK(lying["y_label"] == "Mass (kg)");
    CHECK(lying["y_unit"] == "kg");
    CHECK(column(lying["elements"], "value") == Json({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}));
    CHECK(column(lying["elements"], "base") == Json({0.0, 0.0, 0.0, 1.0, 2.0, 3.0}));
}

TEST_CASE("a histogram is bars named by their bins") {
    const Json chart = to_e2b(sample("hist"));
    CHECK(chart["type"] == "bar");
    CHECK(chart["kind"] == "hist");
    CHECK(column(chart["elements"], "label") == Json({"1 to 3", "3 to 5", "5 to 7", "7 to 9"}));
    CHECK(column(chart["elements"], "value") == Json({3.0, 5.0, 1.0, 1.0}));
}

TEST_CASE("pie chart") {
    const Json chart = to_e2b(sample("pie"));
    CHECK(chart["type"] == "pie");
    CHECK(chart["elements"][0] == Json{{"label", "No"}, {"angle", 324.0}, {"radius", 1.0}});
    CHECK(chart["elements"][1] == Json{{"label", "No, in blue"}, {"angle", 36.0}, {"radius", 1.0}});
}

TEST_CASE("box plot") {
    const Json chart = to_e2b(sample("box"));
    CHECK(chart["type"] == "box_and_whisker");
    CHECK(chart["x_label"] == "Class");
    const Json& boxes = chart["elements"];
    CHECK(column(boxes, "label") == Json({"Class A", "Class B", "Class C"}));
    CHECK(column(boxes, "min") == Json({78.0, 84.0, 75.0}));
    CHECK(column(boxes, "first_quartile") == Json({85.0, 84.75, 79.0}));
    CHECK(column(boxes, "median") == Json({88.0, 88.0, 82.0}));
    CHECK(column(boxes, "third_quartile") == Json({90.0, 90.5, 86.0}));
    CHECK(column(boxes, "max") == Json({92.0, 95.0, 88.0}));
    CHECK(boxes[1]["outliers"] == Json::array({76.0}));
    CHECK(boxes[0]["outliers"] == Json::array());
    CHECK(to_e2b(sample("box_lying"))["y_label"] == "Score");
}

TEST_CASE("super chart") {
    const Json chart = to_e2b(sample("superchart"));
    CHECK(chart["type"] == "superchart");
    CHECK(chart["title"] == "Multiple Charts Example");
    REQUIRE(chart["elements"].size() == 2);
    CHECK(chart["elements"][0]["type"] == "line");
    CHECK(chart["elements"][0]["title"] == "Sine Wave");
    CHECK(chart["elements"][0]["x_label"].is_null());
    CHECK(chart["elements"][0]["elements"][0]["points"].size() == 100);
    CHECK(chart["elements"][1]["type"] == "scatter");
    CHECK(chart["elements"][1]["x_label"] == "X");
}

TEST_CASE("what E2B has no type for is unknown, with our kind beside it") {
    const Json circles = to_e2b(sample("unknown"));
    CHECK(circles["type"] == "unknown");
    CHECK(circles["title"] == "Two Concentric Circles");
    CHECK(circles["elements"].empty());
    CHECK(to_e2b(sample("heatmap"))["type"] == "unknown");
    CHECK(to_e2b(sample("heatmap"))["kind"] == "heatmap");
    CHECK(to_e2b(sample("polar"))["type"] == "unknown");
    CHECK(to_e2b(sample("violin"))["kind"] == "violin");
}

}  // namespace cellblock::charts
