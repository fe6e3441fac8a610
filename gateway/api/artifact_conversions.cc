// GET /artifacts/{id}.{csv,json,html,md,arrow,parquet,xlsx}: a stored table in another format.
//
// csv, json, html, md (rows=100 of it unless said) are written here, piece by piece. arrow is the
// stored file. parquet and xlsx are made in a throw-away sandbox (gateway/executions/conversion.h).
#include <memory>

#include "artifacts/serving.h"
#include "artifacts/table_file.h"
#include "artifacts/table_limits.h"
#include "artifacts/table_writers.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/services.h"
#include "gateway/executions/conversion.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using artifacts::TableFormat;
using artifacts::TableWriter;
using http::Request;
using http::ResponseWriter;

namespace {

// "table-3.arrow" -> "table-3.csv"
std::string name_with(std::string_view name, std::string_view extension) {
    return std::string(name.substr(0, name.rfind('.'))) + "." + std::string(extension);
}

Result<std::shared_ptr<TableWriter>> table_writer(artifacts::OpenArtifact opened,
                                                  TableFormat format, std::uint64_t max_rows) {
    CB_TRY_ASSIGN(file, artifacts::open_table(std::move(opened)));
    return std::make_shared<TableWriter>(std::move(file), format, max_rows);
}

asio::awaitable<Result<void>> send_written(Services& services, artifacts::OpenArtifact opened,
                                           TableFormat format, std::uint64_t max_rows,
                                           std::string name, const Request& request,
                                           ResponseWriter& writer) {
    auto open = [opened = std::move(opened), format, max_rows]() mutable {
        return table_writer(std::move(opened), format, max_rows);
    };
    CB_CO_TRY_ASSIGN(table, co_await services.workers.run(std::move(open)));
    const auto next = [table] { return table->next(); };
    // The first piece before the head, so that a table that cannot be read has a proper error.
    CB_CO_TRY_ASSIGN(piece, co_await services.workers.run(next));
    const std::string type =
        set_headers(request, writer, artifacts::view_headers(artifacts::mime_of(format), name));
    CB_CO_TRY(co_await writer.start(200, type));
    while (!piece.empty()) {
        CB_CO_TRY(co_await writer.write(piece));
        auto following = co_await services.workers.run(next);
        if (!following) {
            writer.abort();  // half a table must not look complete
            co_return fail(following.error().in("converting a table"));
        }
        piece = std::move(*following);
    }
    co_return co_await writer.finish();
}

// Tables only: "plot.csv" of a chart has a route of its own.
Result<void> check_table(const artifacts::Artifact& artifact) {
    if (artifact.info.kind == artifacts::ArtifactKind::table) return {};
    return fail(ErrorCode::invalid_argument,
                "artifact \"" + artifact.id + "\" is no table and has no other formats",
                "GET /artifacts/" + artifact.id + " has its content, and of a chart " +
                    "/artifacts/" + artifact.id + "/chart?format=... has views");
}

// One of the conversions that may run at once.
class ConversionSlot {
  public:
    explicit ConversionSlot(std::size_t& running) : running_(running) { ++running_; }
    ConversionSlot(const ConversionSlot&) = delete;
    ConversionSlot& operator=(const ConversionSlot&) = delete;
    ~ConversionSlot() { --running_; }

  private:
    std::size_t& running_;
};

asio::awaitable<Result<void>> send_made(Services& services, artifacts::OpenArtifact opened,
                                        ConversionTarget target, std::string name,
                                        const Request& request, ResponseWriter& writer) {
    if (services.conversions_running >= limits::table_conversions_max) {
        co_return fail(ErrorCode::too_many, "other tables are being converted",
                       "try again in a minute; csv, json and arrow need not wait");
    }
    const ConversionSlot slot(services.conversions_running);
    const std::string type =
        set_headers(request, writer, artifacts::view_headers(mime_of(target), name));
    ConversionSource source;
    source.size_bytes = opened.artifact.size_bytes;
    source.fd = std::move(opened.fd);
    Conversion conversion(services.sandboxes, services.workers, services.sandbox_defaults);
    auto sink = [&writer, &type](ByteView bytes) -> asio::awaitable<Result<void>> {
        if (!writer.started()) {
            CB_CO_TRY(co_await writer.start(200, type));
        }
        co_return co_await writer.write(as_text(bytes));
    };
    auto made = co_await conversion.run(std::move(source), target, sink);
    if (!made) {
        if (writer.started()) writer.abort();
        co_return fail(std::move(made).error());
    }
    co_return co_await writer.finish();
}

}  // namespace

asio::awaitable<Result<void>> send_converted(Services& services, Request& request,
                                             ResponseWriter& writer) {
    const std::string& named = request.param("id");
    const std::size_t dot = named.find('.');
    std::string id = named.substr(0, dot);
    const std::string wanted = named.substr(dot + 1);
    CB_CO_TRY_ASSIGN(opened, co_await open_artifact(services, std::move(id), request.tenant()));
    CB_CO_TRY(check_table(opened.artifact));
    std::string name = name_with(opened.artifact.info.name, wanted);
    // The content as it is stored: Arrow, or CSV of an image without pyarrow.
    if (artifacts::extension_of(opened.artifact.info.mime) == "." + wanted) {
        co_return co_await send_content(std::move(opened), request, writer);
    }
    const auto format = artifacts::table_format_from(wanted);
    const auto target = conversion_target_from(wanted);
    if (!format && !target) {
        co_return fail(ErrorCode::not_found, "tables have no format '" + wanted.substr(0, 20) + "'",
                       "formats are csv, json, html, md, arrow, parquet and xlsx");
    }
    if (request.method() == "HEAD") {  // nothing needs to be converted for it
        const auto mime = format ? artifacts::mime_of(*format) : mime_of(*target);
        const std::string type = set_headers(request, writer, artifacts::view_headers(mime, name));
        CB_CO_TRY(co_await writer.start(200, type));
        co_return co_await writer.finish();
    }
    if (target) {
        co_return co_await send_made(services, std::move(opened), *target, std::move(name), request,
                                     writer);
    }
    std::uint64_t rows = UINT64_MAX;
    if (*format == TableFormat::markdown) {
        CB_CO_TRY_ASSIGN(asked,
                         number_in_query(request, "rows", limits::table_markdown_rows_default));
        rows = std::min(asked, limits::table_page_rows_max);
    }
    co_return co_await send_written(services, std::move(opened), *format, rows, std::move(name),
                                    request, writer);
}

}  // namespace cellblock::gateway::api
