// Plotly figures: the plotted numbers, axes of their own for each panel, texts that are no HTML.
// With CHART_SPECS_DIR set, every sample's figure is written there, for plotly to validate.
#include "charts/plotly.h"

#include <cstdlib>

#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

std::vector<Json> traces_of(const std::string& name, const std::string& type) {
    std::vector<Json> found;
    const Json figure = to_plotly(sample(name));
    for (const Json& trace : figure["data"]) {
        if (trace["type"] == type) found.push_back(trace);
    }
    return found;
}

}  // namespace

TEST_CASE("every sample is a figure with data and layout") {
    const char* directory = std::getenv("CHART_SPECS_DIR");
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const Json figure = to_plotly(sample(name));
        CHECK(figure["data"].is_array());
        CHECK(figure["layout"].is_object());
        const bool empty = name == "blank" || name == "unknown";
        if (!empty) CHECK(!figure["data"].empty());
        for (const Json& trace : figure["data"]) CHECK(!trace.contains("hovertemplate"));
        if (directory != nullptr)
            std::ofstream(std::string(directory) + "/" + name + ".plotly.json") << figure.dump();
    }
}

TEST_CASE("bars stand exactly where they stood, with their names on the ticks") {
    const auto bars = traces_of("bar_grouped", "bar");
    REQUIRE(bars.size() == 2);
    CHECK(bars[0]["x"] == Json({-0.2, 0.8, 1.8}));
    CHECK(bars[0]["y"] == Json({3.0, 4.0, 5.0}));
    CHECK(bars[0]["width"] == Json({0.4, 0.4, 0.4}));
    CHECK(bars[0]["error_y"]["array"][1] == doctest::Approx(0.2));
    const Json layout = to_plotly(sample("bar_grouped"))["layout"];
    CHECK(layout["barmode"] == "overlay");
    CHECK(layout["xaxis"]["ticktext"] == Json({"Oslo", "Rome", "Bonn"}));
    CHECK(layout["xaxis"]["tickvals"] == Json({0.0, 1.0, 2.0}));
    const auto lying = traces_of("bar_stacked_lying", "bar");
    CHECK(lying[1]["orientation"] == "h");
    CHECK(lying[1]["base"][2] == 3.0);
    CHECK(lying[1]["x"][2] == 6.0);
}

TEST_CASE("times are ISO, logarithmic limits exponents, gaps stay gaps") {
    const auto lines = traces_of("dates", "scatter");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0]["x"][0] == "2024-01-01T12:00:00");
    CHECK(lines[0]["y"][2].is_null());
    const Json twin = to_plotly(sample("twin"))["layout"];
    CHECK(twin["yaxis101"]["type"] == "log");
    CHECK(twin["yaxis101"]["overlaying"] == "y");
    CHECK(twin["yaxis101"]["range"][1] == doctest::Approx(2.1));
    const Json shapes = to_plotly(sample("dates"))["layout"]["shapes"];
    REQUIRE(shapes.size() == 2);
    CHECK(shapes[0]["y0"] == 2.0);
    CHECK(shapes[0]["xref"] == "x domain");
}

TEST_CASE("boxes are given, not computed anew; pies turn as they were drawn") {
    const auto boxes = traces_of("box", "box");
    REQUIRE(boxes.size() == 1);
    CHECK(boxes[0]["q1"] == Json({85.0, 84.75, 79.0}));
    CHECK(boxes[0]["y"] == Json::parse("[[],[76.0],[]]"));
    const auto pie = traces_of("pie", "pie");
    REQUIRE(pie.size() == 1);
    CHECK(pie[0]["values"] == Json({90.0, 10.0}));
    CHECK(pie[0]["rotation"] == doctest::Approx(36));  // ends at 414 degrees: 36 after the top
}

TEST_CASE("panels have axes and places of their own") {
    const Json figure = to_plotly(sample("superchart"));
    CHECK(figure["layout"]["xaxis"]["domain"][1].get<double>() <
          figure["layout"]["xaxis2"]["domain"][0].get<double>());
    CHECK(figure["data"].back()["xaxis"] == "x2");
}

TEST_CASE("the guest's text is no HTML") {
    const Json panel{{"id", "p0"},
                     {"title", "<a href='javascript:x'>t</a>"},
                     {"layers", Json::array({{{"id", "l0"},
                                              {"kind", "line"},
                                              {"label", "<b>"},
                                              {"data", {{"x", {1}}, {"y", {2}}}}}})}};
    const auto figure = parse_figure(Json{{"v", 1}, {"panels", Json::array({panel})}});
    REQUIRE(figure.has_value());
    Json shown = to_plotly(*figure);
    shown["layout"].erase("meta");  // for readers of the JSON: never drawn
    CHECK(shown.dump().find('<') == std::string::npos);
}

}  // namespace cellblock::charts
