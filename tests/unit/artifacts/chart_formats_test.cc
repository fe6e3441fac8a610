// A stored chart in every form that is served.
#include "artifacts/chart_formats.h"

#include <doctest/doctest.h>

#include "artifacts/capture.h"
#include "base/json.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

constexpr std::string_view bars =
    R"~({"v":1,"panels":[{"id":"p0","title":"Sales",
        "x":{"scale":"categorical","categories":["Oslo","Rome"]},"y":{"label":"Income (EUR)"},
        "layers":[{"id":"l0","kind":"bar","label":"2025",
        "data":{"pos":[0,1],"cat":[0,1],"value":[3.5,2],"base":[0,0]}}]}]})~";

ChartView view_of(std::string_view format, const ChartOptions& options = {}) {
    const auto known = chart_format_from(format);
    REQUIRE(known.has_value());
    auto view = render_chart(bars, *known, options);
    REQUIRE(view.has_value());
    return std::move(*view);
}

}  // namespace

TEST_CASE("every format has its MIME type and the plotted numbers") {
    CHECK(view_of("model").body.find("\"value\":[3.5,2.0]") != std::string::npos);
    CHECK(view_of("vega-lite").mime == "application/vnd.vegalite.v5+json");
    CHECK(Json::parse(view_of("plotly").body)["data"][0]["y"] == Json({3.5, 2.0}));
    CHECK(Json::parse(view_of("echarts").body)["series"][0]["data"].size() == 2);
    CHECK(view_of("svg").mime == "image/svg+xml");
    CHECK(view_of("svg").body.starts_with("<svg"));
    CHECK(view_of("csv").body.find("Sales,2025,bar,Oslo,3.5") != std::string::npos);
    CHECK(view_of("description").body.starts_with("Bar chart \"Sales\""));
    CHECK(view_of("text").body.find("Oslo █") != std::string::npos);
}

TEST_CASE("a chart's rows as Markdown leave out what is the same everywhere") {
    const std::string rows = view_of("markdown").body;
    CHECK(rows.starts_with("| pos | value | base | cat |"));
    CHECK(rows.find("| Oslo | 3.5 | 0 | Oslo |") != std::string::npos);
    ChartOptions options;
    options.markdown_rows = 1;
    CHECK(view_of("markdown", options).body.find("1 of 2 rows") != std::string::npos);
}

TEST_CASE("unknown formats and themes, and what is no chart, are refused with a reason") {
    const auto unknown = chart_format_from("gif");
    REQUIRE_FALSE(unknown.has_value());
    CHECK(unknown.error().code == ErrorCode::invalid_argument);
    CHECK(unknown.error().advice.find("vega-lite") != std::string::npos);
    ChartOptions options;
    options.theme = "pink";
    CHECK_FALSE(render_chart(bars, ChartFormat::svg, options).has_value());
    CHECK_FALSE(render_chart("{]", ChartFormat::svg).has_value());
    CHECK_FALSE(render_chart("{\"v\":2}", ChartFormat::svg).has_value());
}

TEST_CASE("a captured chart is described, and its picture gets the sentence as alternative text") {
    const Json bundle{{std::string(chart_mime), Json::parse(bars)},
                      {"image/png",
                       "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
                       "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}};
    const Captured captured = capture(bundle, Json::object(), 1);
    CHECK(captured.chart_description.starts_with("Bar chart \"Sales\""));
    for (const PendingArtifact& artifact : captured.artifacts) {
        if (artifact.kind != ArtifactKind::image) continue;
        CHECK(artifact.preview["alt"].get<std::string>().starts_with("Bar chart \"Sales\""));
    }
    CHECK(captured.artifacts.size() == 2);
}
