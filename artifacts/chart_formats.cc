#include "artifacts/chart_formats.h"

#include <array>
#include <utility>

#include "artifacts/chart_part.h"
#include "artifacts/chart_table.h"
#include "artifacts/markdown.h"
#include "base/json.h"
#include "charts/csv.h"
#include "charts/describe.h"
#include "charts/echarts.h"
#include "charts/model.h"
#include "charts/plotly.h"
#include "charts/svg.h"
#include "charts/terminal.h"
#include "charts/vega_lite.h"

namespace cellblock::artifacts {
namespace {

struct Form {
    ChartFormat format;
    std::string_view name;
    std::string_view mime;
    std::string_view file;
};
constexpr std::array forms = {
    Form{ChartFormat::model, "model", "application/vnd.cellblock.chart+json", "chart.json"},
    Form{ChartFormat::vega_lite, "vega-lite", "application/vnd.vegalite.v5+json", "chart.vl.json"},
    Form{ChartFormat::echarts, "echarts", "application/json", "chart.echarts.json"},
    Form{ChartFormat::plotly, "plotly", "application/vnd.plotly.v1+json", "chart.plotly.json"},
    Form{ChartFormat::svg, "svg", "image/svg+xml", "chart.svg"},
    Form{ChartFormat::markdown, "markdown", "text/markdown; charset=utf-8", "chart.md"},
    Form{ChartFormat::csv, "csv", "text/csv; charset=utf-8", "chart.csv"},
    Form{ChartFormat::description, "description", "text/plain; charset=utf-8", "chart.txt"},
    Form{ChartFormat::text, "text", "text/plain; charset=utf-8", "chart.txt"},
};

const Form& form_of(ChartFormat format) {
    for (const Form& form : forms) {
        if (form.format == format) return form;
    }
    return forms.front();
}

Result<std::string> svg_of(const charts::Figure& figure, const ChartOptions& options) {
    charts::SvgOptions svg;
    const auto theme = charts::theme_from(options.theme);
    if (!theme) {
        return fail(ErrorCode::invalid_argument, "'theme' must be auto, light or dark");
    }
    svg.theme = *theme;
    svg.width_px = options.width_px;
    return charts::to_svg(figure, svg);
}

std::string markdown_of(const charts::Figure& figure, const ChartOptions& options) {
    MarkdownOptions markdown;
    markdown.max_rows = options.markdown_rows;
    return to_markdown(chart_table(figure, options.markdown_rows), markdown);
}

std::string text_of(const charts::Figure& figure, const ChartOptions& options) {
    charts::TerminalOptions terminal;
    terminal.columns = options.columns;
    terminal.ink = options.colored ? charts::TerminalOptions::Ink::colored
                                   : charts::TerminalOptions::Ink::plain;
    return charts::to_terminal(figure, terminal);
}

Result<std::string> body_of(const charts::Figure& figure, ChartFormat format,
                            const ChartOptions& options) {
    switch (format) {
        case ChartFormat::model:
            return dump_ascii(charts::to_json(figure));
        case ChartFormat::vega_lite:
            return dump_ascii(charts::to_vega_lite(figure));
        case ChartFormat::echarts:
            return dump_ascii(charts::to_echarts(figure));
        case ChartFormat::plotly:
            return dump_ascii(charts::to_plotly(figure));
        case ChartFormat::svg:
            return svg_of(figure, options);
        case ChartFormat::markdown:
            return markdown_of(figure, options);
        case ChartFormat::csv:
            return charts::to_csv(figure);
        case ChartFormat::description:
            return charts::describe(figure) + "\n";
        case ChartFormat::text:
            return text_of(figure, options);
    }
    return fail(ErrorCode::internal, "a chart format without a writer");
}

}  // namespace

Result<ChartFormat> chart_format_from(std::string_view name) {
    std::string names;
    for (const Form& form : forms) {
        if (form.name == name) return form.format;
        names += (names.empty() ? "" : ", ") + std::string(form.name);
    }
    return fail(ErrorCode::invalid_argument, "'format' is none that charts have",
                "give one of: " + names);
}

Result<ChartView> render_chart(std::string_view model, ChartFormat format,
                               const ChartOptions& options) {
    const JsonLimits bounds{chart_stored_max_bytes, limits::chart_json_max_depth};
    CB_TRY_ASSIGN(json, parse_json(model, bounds, "a stored chart"));
    CB_TRY_ASSIGN(figure, charts::parse_figure(json));
    CB_TRY_ASSIGN(body, body_of(figure, format, options));
    const Form& form = form_of(format);
    return ChartView{std::string(form.mime), std::string(form.file), std::move(body)};
}

}  // namespace cellblock::artifacts
