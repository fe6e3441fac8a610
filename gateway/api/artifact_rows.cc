// GET /artifacts/{id}/rows: pages of a stored table, without a kernel and without loading it.
//
//   offset, limit            which rows (limit 100 unless said, 1000 at most)
//   columns=a,b              which columns, in this order; repeatable
//   sort=amount, sort=-day   missing cells last; repeatable, the most important first
//   filter=city:eq:Oslo      eq ne lt le gt ge contains isnull notnull; repeatable, all must hold
//
// Answer: {"total", "matched", "offset", "limit", "columns": [{"name", "type", "kind"}],
// "rows": [[cell, ...]]}; cells as artifacts/arrow/cell.h says. 413 past the bounds of
// artifacts/table_limits.h.
#include "artifacts/serving.h"
#include "artifacts/table_file.h"
#include "artifacts/table_limits.h"
#include "artifacts/table_query.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/bind.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

Result<artifacts::RowQuery> row_query(const Request& request) {
    artifacts::RowQuery query;
    CB_TRY_ASSIGN(offset, number_in_query(request, "offset", 0));
    CB_TRY_ASSIGN(limit, number_in_query(request, "limit", limits::table_page_rows_default));
    query.offset = offset;
    query.limit = std::min(limit, limits::table_page_rows_max);
    query.columns = request.query().all("columns");
    query.sort = request.query().all("sort");
    query.filter = request.query().all("filter");
    // "columns=" asks for nothing in particular.
    std::erase(query.columns, "");
    std::erase(query.sort, "");
    std::erase(query.filter, "");
    return query;
}

Result<std::string> rows_of(artifacts::OpenArtifact opened, const artifacts::RowQuery& query) {
    CB_TRY_ASSIGN(file, artifacts::open_table(std::move(opened)));
    return artifacts::rows_as_json(file, query);
}

asio::awaitable<Result<void>> get_rows(Services& services, Request& request,
                                       ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(query, row_query(request));
    CB_CO_TRY_ASSIGN(opened, co_await open_artifact(services, request));
    auto read = [opened = std::move(opened), query]() mutable {
        return rows_of(std::move(opened), query);
    };
    CB_CO_TRY_ASSIGN(rows, co_await services.workers.run(std::move(read)));
    const std::string type =
        set_headers(request, writer, artifacts::view_headers("application/json", "rows.json"));
    co_return co_await writer.send(200, type, rows);
}

}  // namespace

void add_artifact_rows_routes(http::Router& router, Services& services) {
    const http::RouteOptions options;
    router.add("GET", "/artifacts/{id}/rows", options, bind(services, get_rows));
}

}  // namespace cellblock::gateway::api
