// GET /artifacts/{id}/chart?format=…: a stored chart as Vega-Lite, ECharts, Plotly, SVG, Markdown,
// CSV, a description, a plot for a terminal, or the model itself. For svg: theme=auto|light|dark,
// width; for text: columns, color=1; for markdown: rows.
#include "artifacts/chart_formats.h"
#include "artifacts/serving.h"
#include "artifacts/store.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/bind.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

Result<artifacts::ChartOptions> chart_options(const Request& request) {
    artifacts::ChartOptions options;
    options.theme = request.query().get("theme").value_or("auto");
    CB_TRY_ASSIGN(width, number_in_query(request, "width", 0));
    if (width > 0) options.width_px = static_cast<double>(width);
    CB_TRY_ASSIGN(columns, number_in_query(request, "columns", options.columns));
    options.columns = columns;
    CB_TRY_ASSIGN(color, number_in_query(request, "color", 0));
    options.colored = color == 1;
    CB_TRY_ASSIGN(rows, number_in_query(request, "rows", options.markdown_rows));
    options.markdown_rows = std::min(rows, limits::table_preview_rows_max);
    return options;
}

// The whole of a small content; charts are bounded when they are captured.
Result<std::string> content_of(artifacts::OpenArtifact& opened, std::size_t max_bytes) {
    if (opened.artifact.size_bytes > max_bytes) {
        return fail(ErrorCode::too_large, "the artifact is too large to be converted");
    }
    std::string content(static_cast<std::size_t>(opened.artifact.size_bytes), '\0');
    CB_TRY_ASSIGN(size,
                  artifacts::read_at(opened.fd, 0, std::as_writable_bytes(std::span(content))));
    content.resize(size);
    return content;
}

Result<artifacts::ChartView> chart_view(artifacts::OpenArtifact& opened,
                                        artifacts::ChartFormat format,
                                        const artifacts::ChartOptions& options) {
    CB_TRY_ASSIGN(content, content_of(opened, artifacts::chart_stored_max_bytes));
    return artifacts::render_chart(content, format, options);
}

asio::awaitable<Result<void>> get_chart(Services& services, Request& request,
                                        ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(format,
                     artifacts::chart_format_from(request.query().get("format").value_or("model")));
    CB_CO_TRY_ASSIGN(options, chart_options(request));
    CB_CO_TRY_ASSIGN(opened, co_await open_artifact(services, request));
    if (opened.artifact.info.kind != artifacts::ArtifactKind::chart) {
        co_return fail(ErrorCode::invalid_argument,
                       "artifact \"" + opened.artifact.id + "\" is no chart",
                       "GET /artifacts/" + opened.artifact.id + " has its content");
    }
    auto render = [&opened, format, options] { return chart_view(opened, format, options); };
    CB_CO_TRY_ASSIGN(view, co_await services.workers.run(std::move(render)));
    const std::string type =
        set_headers(request, writer, artifacts::view_headers(view.mime, view.name));
    co_return co_await writer.send(200, type, view.body);
}

}  // namespace

void add_artifact_view_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("GET", "/artifacts/{id}/chart", options, bind(services, get_chart));
}

}  // namespace cellblock::gateway::api
