// A stored chart in the form that somebody asks for: the one list of formats, with their names and
// MIME types. Pure; called on worker threads, because a large chart takes a while.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/limits.h"

namespace cellblock::artifacts {

enum class ChartFormat {
    model,
    vega_lite,
    echarts,
    plotly,
    svg,
    markdown,
    csv,
    description,
    text,
};

// "vega-lite", "svg", ...: invalid_argument with all names for an unknown one.
Result<ChartFormat> chart_format_from(std::string_view name);

struct ChartOptions {
    std::string theme = "auto";      // svg: "auto", "light", "dark"
    std::optional<double> width_px;  // svg
    std::size_t columns = 80;        // text: the terminal's
    bool colored = false;            // text: with escape sequences for colours
    std::size_t markdown_rows = 40;

    ChartOptions() = default;
};

struct ChartView {
    std::string mime;
    std::string name;  // for saving: "chart.svg"
    std::string body;
};

// A stored model has its numbers written out, where the guest may have packed them: 25 bytes each
// at most against 11.
inline constexpr std::size_t chart_stored_max_bytes = 4 * limits::chart_json_max_bytes;

// `model` is a stored chart's content. guest_protocol when it is none.
Result<ChartView> render_chart(std::string_view model, ChartFormat format,
                               const ChartOptions& options = {});

}  // namespace cellblock::artifacts
