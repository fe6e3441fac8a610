// Parsing what a guest sends: honest models, and every way of lying that has a rule against it.
#include "charts/model.h"

#include <cmath>

#include "base/limits.h"
#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

Json figure_with(Json layer) {
    return {{"v", 1},
            {"panels", Json::array({{{"id", "p0"}, {"layers", Json::array({std::move(layer)})}}})}};
}

Json layer_of(const char* kind, Json data) {
    return {{"id", "l0"}, {"kind", kind}, {"data", std::move(data)}};
}

Layer parsed_layer(const char* kind, Json data) {
    auto figure = parse_figure(figure_with(layer_of(kind, std::move(data))));
    REQUIRE_MESSAGE(figure.has_value(), figure.error().text());
    return figure->panels.at(0).layers.at(0);
}

void check_refused(const char* kind, Json data, const std::string& why) {
    CAPTURE(kind);
    const Layer layer = parsed_layer(kind, std::move(data));
    CHECK(layer.kind == Kind::unknown);
    CHECK_MESSAGE(layer.error.find(why) != std::string::npos, layer.error);
}

ErrorCode code_of(const Json& value) {
    const auto figure = parse_figure(value);
    REQUIRE(!figure.has_value());
    return figure.error().code;
}

}  // namespace

TEST_CASE("every sample is read, and reads the same after it was written") {
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const Figure figure = sample(name);
        for (const Panel& panel : figure.panels) {
            for (const Layer& layer : panel.layers) {
                CAPTURE(layer.id);
                CHECK_MESSAGE(layer.error.empty(), layer.error);
                CHECK(to_string(layer.kind) == layer.kind_name);
            }
        }
        const Json written = to_json(figure);
        const auto again = parse_figure(written);
        REQUIRE(again.has_value());
        CHECK(to_json(*again) == written);
    }
}

TEST_CASE("columns: lists with missing values, and packed numbers") {
    const Layer list =
        parsed_layer("line", {{"x", {1, 2, 3, 4}}, {"y", {1.5, nullptr, "inf", "NaN"}}});
    CHECK(list.kind == Kind::line);
    CHECK(list.data.numbers("y")[0] == 1.5);
    CHECK(std::isnan(list.data.numbers("y")[1]));
    CHECK(std::isinf(list.data.numbers("y")[2]));
    CHECK(std::isnan(list.data.numbers("y")[3]));
    CHECK(list.data.numbers("nothing").empty());

    const Json packed{{"b64", "AAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhA"}, {"dtype", "f8"}, {"n", 3}};
    CHECK(parsed_layer("line", {{"x", packed}, {"y", packed}}).data.numbers("x") ==
          Column{1, 2, 3});
    const Json whole{{"b64", "AQAAAP////8="}, {"dtype", "i4"}, {"n", 2}};
    CHECK(parsed_layer("line", {{"x", whole}, {"y", whole}}).data.numbers("y") == Column{1, -1});
}

TEST_CASE("data that does not fit its kind makes the layer unknown, with the reason") {
    check_refused("bar", {{"pos", {0, 1}}, {"value", {1, 2}}, {"err_lo", {0.1, 0.1}}}, "err_hi");
    check_refused("errorbar", {{"x", {0, 1}}, {"y", {1, 2}}, {"y_lo", {0.1, 0.1}}}, "y_hi");
    check_refused("line", {{"x", {1, 2}}}, "\"y\" is missing");
    check_refused("line", {{"x", {1, 2}}, {"y", {1}}},
                  "has 1 values where the other columns have 2");
    check_refused("line", {{"x", {1, "two"}}, {"y", {1, 2}}}, "no number");
    check_refused("line", {{"x", 7}, {"y", {1}}}, "not a list of numbers");
    check_refused("line", Json::array(), "not an object");
    const Json wrong_count{{"b64", "AAAAAAAA8D8="}, {"dtype", "f8"}, {"n", 2}};
    check_refused("line", {{"x", wrong_count}, {"y", {1, 2}}}, "not as many values");
    const Json wrong_type{{"b64", "AAAAAAAA8D8="}, {"dtype", "f16"}, {"n", 1}};
    check_refused("line", {{"x", wrong_type}, {"y", {1}}}, "unknown dtype");
    const Json torn{{"b64", "AAAAAAAA8D"}, {"dtype", "f8"}, {"n", 1}};
    check_refused("line", {{"x", torn}, {"y", {1}}}, "base64");
    check_refused("hist", {{"edges", {0, 1}}, {"count", {1, 2}}}, "one value more");
    check_refused("hist", {{"edges", {0, 2, 1}}, {"count", {1, 2}}}, "must rise");
    check_refused("heatmap", {{"v", {{1, 2}, {3}}}}, "unequal length");
    check_refused("heatmap", {{"v", {{1, 2}}}, {"x_edges", {0, 1}}}, "one value more");
    check_refused("pie", {{"label", {"a"}}, {"frac", {1.5}}}, "more than 1");
    check_refused("pie", {{"label", {"a"}}, {"frac", {-0.5}}}, "negative");
    check_refused("violin",
                  {{"label", {"a"}},
                   {"pos", {1}},
                   {"coords", Json::array({{1, 2}})},
                   {"half_lo", Json::array({{1}})},
                   {"half_hi", Json::array({{1, 2}})}},
                  "as long as");
    CHECK(parsed_layer("sunburst", Json::object()).kind == Kind::unknown);
    CHECK(parsed_layer("sunburst", Json::object()).error == "unknown kind");
    const Layer nameless = parsed_layer("", Json::object());
    CHECK(nameless.kind_name == "unknown");
    CHECK(nameless.error == "the layer names no kind");
}

TEST_CASE("unknown keys are dropped, text is cleaned") {
    Json layer = layer_of("line", {{"x", {1}}, {"y", {2}}, {"evil", {1, 2, 3}}});
    layer["label"] = std::string("a\x01\x1b[31mb") + std::string(5000, 'c');
    layer["color"] = "red;}";
    layer["extra"] = {{"deep", 1}};
    const auto figure = parse_figure(figure_with(layer));
    REQUIRE(figure.has_value());
    const Layer& parsed = figure->panels[0].layers[0];
    CHECK(parsed.label->size() == limits::chart_string_max_bytes);
    CHECK(parsed.label->starts_with("a  [31mbc"));
    CHECK(parsed.color.empty());
    const std::string text = to_json(*figure).dump();
    CHECK(text.find("evil") == std::string::npos);
    CHECK(text.find("extra") == std::string::npos);
}

TEST_CASE("a cut string ends at a code point") {
    Json layer = layer_of("line", {{"x", {1}}, {"y", {2}}});
    std::string label(limits::chart_string_max_bytes - 1, 'x');
    layer["label"] = label + "é";
    const auto figure = parse_figure(figure_with(layer));
    REQUIRE(figure.has_value());
    CHECK(*figure->panels[0].layers[0].label == label);
}

TEST_CASE("what is no chart, or too much of one, is refused") {
    CHECK(code_of(Json::array()) == ErrorCode::guest_protocol);
    CHECK(code_of({{"v", 1}}) == ErrorCode::guest_protocol);
    CHECK(code_of({{"v", 2}, {"panels", Json::array()}}) == ErrorCode::not_supported);
    CHECK(code_of({{"v", 1}, {"panels", {1}}}) == ErrorCode::guest_protocol);

    Json panels = Json::array();
    for (std::size_t i = 0; i <= limits::chart_panels_max; ++i) {
        panels.push_back({{"id", "p" + std::to_string(i)}, {"layers", Json::array()}});
    }
    CHECK(code_of({{"v", 1}, {"panels", panels}}) == ErrorCode::too_large);
    panels.erase(panels.begin() + 1, panels.end());
    panels.push_back(panels[0]);  // the same id twice
    CHECK(code_of({{"v", 1}, {"panels", panels}}) == ErrorCode::guest_protocol);

    Json layers = Json::array();
    for (std::size_t i = 0; i <= limits::chart_layers_max; ++i) {
        Json layer = layer_of("line", {{"x", Json::array()}, {"y", Json::array()}});
        layer["id"] = "l" + std::to_string(i);
        layers.push_back(std::move(layer));
    }
    CHECK(code_of({{"v", 1}, {"panels", Json::array({{{"id", "p0"}, {"layers", layers}}})}}) ==
          ErrorCode::too_large);

    const Json wide = Json(Json::array_t(limits::chart_layer_values_max / 2 + 1, 0));
    CHECK(code_of(figure_with(layer_of("line", {{"x", wide}, {"y", wide}}))) ==
          ErrorCode::too_large);
}

TEST_CASE("text is bounded before it is parsed") {
    CHECK(!parse_figure(std::string_view("{")).has_value());
    const std::string deep = std::string(100, '[') + std::string(100, ']');
    CHECK(!parse_figure(std::string_view(deep)).has_value());
    const std::string huge(limits::chart_json_max_bytes + 1, ' ');
    const auto figure = parse_figure(std::string_view(huge));
    REQUIRE(!figure.has_value());
    CHECK(figure.error().code == ErrorCode::too_large);
}

TEST_CASE("references that lead nowhere are dropped") {
    const Json value{
        {"v", 1},
        {"panels", Json::array({{{"id", "p0"},
                                 {"layers", Json::array()},
                                 {"inset_of", "p9"},
                                 {"shares_x", {"p1", "p7"}}},
                                {{"id", "p1"}, {"layers", Json::array()}, {"inset_of", "p0"}}})}};
    const auto figure = parse_figure(value);
    REQUIRE(figure.has_value());
    CHECK(figure->panels[0].inset_of.empty());
    CHECK(figure->panels[0].shares_x == std::vector<std::string>{"p1"});
    CHECK(figure->panels[1].inset_of == "p0");
}

}  // namespace cellblock::charts
