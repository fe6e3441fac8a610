// Options for ECharts: the plotted numbers, and nothing that is code or a template of the guest's.
// With CHART_SPECS_DIR set, every sample's option is written there, for ECharts to render.
#include "charts/echarts.h"

#include <cstdlib>

#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

std::vector<Json> series_of(const std::string& name, const std::string& type) {
    std::vector<Json> found;
    const Json option = to_echarts(sample(name));
    for (const Json& item : option["series"]) {
        if (item["type"] == type) found.push_back(item);
    }
    return found;
}

}  // namespace

TEST_CASE("every sample is an option with series or a word why not") {
    const char* directory = std::getenv("CHART_SPECS_DIR");
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const Json option = to_echarts(sample(name));
        CHECK(option["aria"]["label"]["description"].is_string());
        if (name != "blank") CHECK((!option["series"].empty() || option.contains("graphic")));
        for (const Json& item : option["series"]) {
            CHECK(item["type"] != "custom");  // needs a function
            const Json formatter = item.value(Json::json_pointer("/label/formatter"), Json("{b}"));
            CHECK(formatter == "{b}");
        }
        if (directory != nullptr)
            std::ofstream(std::string(directory) + "/" + name + ".echarts.json") << option.dump();
    }
}

TEST_CASE("bars stand on their categories; grouped ones side by side") {
    const Json option = to_echarts(sample("bar_grouped"));
    CHECK(option["xAxis"][0]["data"] == Json({"Oslo", "Rome", "Bonn"}));
    const auto bars = series_of("bar_grouped", "bar");
    REQUIRE(bars.size() == 2);
    CHECK(bars[0]["name"] == "2024");
    CHECK(bars[0]["data"][1]["value"] == Json({1, 4.0}));
    CHECK(bars[1]["data"][1]["value"] == Json({1, 6.0}));
    const auto errors = series_of("bar_grouped", "lines");
    REQUIRE(errors.size() == 1);
    CHECK(errors[0]["data"][0]["coords"][0][1] == doctest::Approx(2.9));
}

TEST_CASE("stacked bars stand on an unseen one of the height below them") {
    const auto bars = series_of("bar_stacked_lying", "bar");
    REQUIRE(bars.size() == 3);
    CHECK(bars[1]["itemStyle"]["color"] == "transparent");
    CHECK(bars[1]["data"][2] == Json({3.0, 2}));
    CHECK(bars[2]["data"][2]["value"] == Json({6.0, 2}));
    CHECK(bars[1]["stack"] == bars[2]["stack"]);
}

TEST_CASE("lines keep gaps and times; steps their corners") {
    const auto lines = series_of("dates", "line");
    REQUIRE(!lines.empty());
    const Json* line = nullptr;
    for (const Json& item : lines) {
        if (item["name"] == "temp") line = &item;
    }
    REQUIRE(line != nullptr);
    CHECK((*line)["data"][0] == Json({1704110400000.0, 1.5}));
    CHECK((*line)["data"][2][1].is_null());
    CHECK(to_echarts(sample("dates"))["xAxis"][0]["type"] == "time");
    CHECK(series_of("step", "line")[0]["step"] == "end");
    CHECK(to_echarts(sample("log"))["yAxis"][0]["type"] == "log");
}

TEST_CASE("heat maps go by their colour scale, pies by their angle") {
    const Json option = to_echarts(sample("heatmap"));
    CHECK(option["series"][0]["data"].size() == 9);
    CHECK(option["visualMap"][0]["min"] == -1.0);
    CHECK(option["visualMap"][0]["max"] == 1.0);
    const auto pie = series_of("pie", "pie");
    REQUIRE(pie.size() == 1);
    CHECK(pie[0]["startAngle"] == 90.0);
    CHECK(pie[0]["clockwise"] == false);
    CHECK(pie[0]["data"][0]["value"] == 90.0);
}

TEST_CASE("boxes have five numbers at their category's place") {
    const auto boxes = series_of("box", "boxplot");
    REQUIRE(boxes.size() == 1);
    CHECK(boxes[0]["data"][1] == Json({84.0, 84.75, 88.0, 90.5, 95.0}));
    CHECK(series_of("box", "scatter")[0]["data"][0] == Json({1, 76.0}));
}

}  // namespace cellblock::charts
