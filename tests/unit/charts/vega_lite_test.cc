// Specifications: data inside, numbers as plotted, and nothing of the guest's where code could be.
// With CHART_SPECS_DIR set, every sample's specification is written there, for a renderer to try.
#include "charts/vega_lite.h"

#include <cstdlib>
#include <functional>

#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

// All unit specifications (what has a mark), wherever they are.
std::vector<Json> units_of(const Json& spec) {
    std::vector<Json> result;
    if (spec.contains("mark")) result.push_back(spec);
    for (const char* group : {"layer", "hconcat", "vconcat"}) {
        if (!spec.contains(group)) continue;
        for (const Json& part : spec[group]) {
            for (Json& unit : units_of(part)) result.push_back(std::move(unit));
        }
    }
    return result;
}

std::vector<Json> units_named(const std::string& name) {
    return units_of(to_vega_lite(sample(name)));
}

std::vector<Json> units_with(const std::string& name, const std::string& mark) {
    std::vector<Json> result;
    for (Json& unit : units_named(name)) {
        if (unit["mark"]["type"] == mark) result.push_back(std::move(unit));
    }
    return result;
}

void each_key(const Json& value, const std::function<void(const std::string&)>& visit) {
    if (value.is_object()) {
        for (const auto& [key, item] : value.items()) {
            visit(key);
            each_key(item, visit);
        }
    } else if (value.is_array()) {
        for (const Json& item : value) each_key(item, visit);
    }
}

}  // namespace

TEST_CASE("every sample has a specification with its data inside") {
    const char* directory = std::getenv("CHART_SPECS_DIR");
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const Json spec = to_vega_lite(sample(name));
        CHECK(spec["$schema"] == "https://vega.github.io/schema/vega-lite/v5.json");
        CHECK(spec["description"].is_string());
        for (const Json& unit : units_of(spec)) {
            if (name != "blank") CHECK(!unit["data"]["values"].empty());
        }
        each_key(spec, [](const std::string& key) {
            for (const char* code : {"expr", "labelExpr", "calculate", "filter", "transform",
                                     "signal", "url", "href"}) {
                CHECK(key != code);
            }
        });
        if (directory != nullptr)
            std::ofstream(std::string(directory) + "/" + name + ".vl.json") << spec.dump();
    }
}

TEST_CASE("bars stand in the bands of their categories, with their own edges") {
    const auto bars = units_with("bar_grouped", "bar");
    REQUIRE(bars.size() == 2);
    CHECK(bars[0]["data"]["values"][1] ==
          Json{{"at", "Rome"}, {"lo", 0.0}, {"hi", 4.0}, {"group", 0}, {"series", "2024"}});
    CHECK(bars[1]["data"]["values"][1] ==
          Json{{"at", "Rome"}, {"lo", 0.0}, {"hi", 6.0}, {"group", 1}, {"series", "2025"}});
    CHECK(bars[0]["encoding"]["xOffset"]["field"] == "group");
    CHECK(bars[0]["encoding"]["color"]["scale"]["domain"] == Json({"2024", "2025"}));
    CHECK(bars[0]["encoding"]["color"]["title"] == "Year");
    CHECK(bars[0]["encoding"]["x"]["scale"]["domain"] == Json({"Oslo", "Rome", "Bonn"}));
    const auto rules = units_with("bar_grouped", "rule");
    REQUIRE(rules.size() == 1);
    CHECK(rules[0]["data"]["values"][2]["lo"] == doctest::Approx(4.7));

    const auto lying = units_with("bar_stacked_lying", "bar");
    REQUIRE(lying.size() == 2);
    CHECK(lying[1]["data"]["values"][2] ==
          Json{{"at", "z"}, {"lo", 3.0}, {"hi", 9.0}, {"series", "b"}});
    CHECK(lying[1]["encoding"]["x"]["stack"].is_null());
    CHECK(lying[1]["encoding"]["y"]["scale"]["reverse"] == true);  // the first bar is at the bottom
}

TEST_CASE("lines break at missing values; times are on a UTC scale") {
    const auto lines = units_with("dates", "line");
    REQUIRE(lines.size() == 1);
    const Json& rows = lines[0]["data"]["values"];
    REQUIRE(rows.size() == 4);
    CHECK(rows[0]["x"] == 1704110400000.0);
    CHECK(rows[1]["run"] == 0);
    CHECK(rows[2]["run"] == 1);
    CHECK(lines[0]["encoding"]["x"]["type"] == "temporal");
    CHECK(lines[0]["encoding"]["x"]["scale"]["type"] == "utc");
    CHECK(units_with("log", "line")[0]["encoding"]["y"]["scale"]["type"] == "log");
    CHECK(units_with("step", "line")[0]["mark"]["interpolate"] == "step-after");
    CHECK(units_with("step", "line")[1]["mark"]["interpolate"] == "step");
}

TEST_CASE("histograms and areas keep their edges") {
    const auto bins = units_with("hist", "rect");
    REQUIRE(bins.size() == 1);
    CHECK(bins[0]["data"]["values"][1] == Json{{"a", 3.0}, {"b", 5.0}, {"lo", 0.0}, {"hi", 5.0}});
    const auto areas = units_with("stackplot", "area");
    REQUIRE(areas.size() == 3);
    CHECK(areas[2]["data"]["values"][2]["lo"] == 4.0);
    CHECK(areas[2]["data"]["values"][2]["hi"] == 6.0);
    CHECK(areas[2]["encoding"]["y"]["stack"].is_null());
}

TEST_CASE("heat maps by name, with their texts and colour scale") {
    const auto cells = units_with("heatmap", "rect");
    REQUIRE(cells.size() == 1);
    CHECK(cells[0]["data"]["values"].size() == 9);
    CHECK(cells[0]["encoding"]["color"]["scale"]["domain"] == Json({-1.0, 1.0}));
    CHECK(cells[0]["encoding"]["color"]["title"] == "r");
    CHECK(units_with("heatmap", "text")[0]["data"]["values"][1]["text"] == "0.2");
}

TEST_CASE("pies turn as they were drawn") {
    const auto arcs = units_with("pie", "arc");
    REQUIRE(arcs.size() == 1);
    const Json& first = arcs[0]["data"]["values"][0];
    // From 90 degrees (the top) 324 degrees against the clock: from -324 degrees to the top.
    CHECK(first["theta2"] == doctest::Approx(0));
    CHECK(first["theta"] == doctest::Approx(-324 * 3.14159265358979 / 180));
}

TEST_CASE("twin axes have scales of their own; panels stand side by side") {
    const Json twin = to_vega_lite(sample("twin"));
    CHECK(twin["resolve"]["scale"]["y"] == "independent");
    CHECK(twin["layer"].size() == 2);
    const Json figure = to_vega_lite(sample("superchart"));
    CHECK(figure["title"] == "Multiple Charts Example");
    CHECK(figure["vconcat"].size() == 1);
    CHECK(figure["vconcat"][0]["hconcat"].size() == 2);
    CHECK(figure["vconcat"][0]["hconcat"][1]["title"] == "Scatter Plot");
}

TEST_CASE("a box has its mean, when it was drawn with one") {
    CHECK(units_with("box", "point").size() == 1);  // an outlier
    Json model = Json::parse(sample_text("box"));
    model["panels"][0]["layers"][0]["data"]["mean"] = {87, 88, 81.5};
    const auto units = units_of(to_vega_lite(*parse_figure(std::string_view(model.dump()))));
    std::vector<double> means;
    for (const Json& unit : units) {
        if (unit["mark"]["type"] != "point" || unit["data"]["values"].size() != 3) continue;
        for (const Json& row : unit["data"]["values"]) means.push_back(row["v"]);
    }
    CHECK(means == std::vector<double>{87, 88, 81.5});
}

TEST_CASE("a hexagon is as wide and as high as its cell") {
    const Json unit = units_named("hexbin").at(0);
    const Json model = Json::parse(sample_text("hexbin"));
    const Json& data = model["panels"][0]["layers"][0]["data"];
    const Json& panel = model["panels"][0];
    const auto pixels = [&](const char* axis, const char* side, double size) {
        const Json& lim = panel[axis]["lim"];
        return data[side].get<double>() / (lim[1].get<double>() - lim[0].get<double>()) * size;
    };
    const Json spec = to_vega_lite(sample("hexbin"));
    const double up = pixels("y", "dy", spec["height"]);
    const double across = pixels("x", "dx", spec["width"]);
    CHECK(unit["mark"]["size"].get<double>() == doctest::Approx(up * up));
    const auto shape = unit["mark"]["shape"].get<std::string>();
    const double half = std::stod(shape.substr(shape.find('L') + 1));
    CHECK(half == doctest::Approx(across / up));
}

TEST_CASE("what Vega-Lite cannot draw says so") {
    const auto units = units_named("scatter3d");
    REQUIRE(units.size() == 1);
    CHECK(units[0]["mark"]["type"] == "text");
    CHECK(to_vega_lite(sample("scatter3d"))["usermeta"]["panels_not_drawn"] == 1);
    CHECK_FALSE(to_vega_lite(sample("bar")).contains("usermeta"));
}

}  // namespace cellblock::charts
