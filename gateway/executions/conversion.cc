#include "gateway/executions/conversion.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "artifacts/store.h"
#include "artifacts/text.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"
#include "gateway/sandboxes/guest_files.h"
#include "kernel-proxy/execution.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using kernel_proxy::CellError;
using kernel_proxy::Execution;
using kernel_proxy::Finished;
using kernel_proxy::Outcome;

namespace {

// What a guest of 512 MiB can hold several times over; larger tables have the Arrow file.
constexpr std::uint64_t source_max_bytes = 128 * limits::MiB;
constexpr std::uint64_t result_max_bytes = 512 * limits::MiB;
constexpr std::chrono::seconds cell_timeout{300};
constexpr std::chrono::seconds sandbox_timeout{600};
constexpr std::size_t piece_bytes = limits::http_piece_bytes;
constexpr const char* source_path = "/home/user/table.arrow";
constexpr const char* result_path = "/home/user/table.converted";

struct TargetName {
    ConversionTarget target;
    std::string_view extension;
    std::string_view mime;
};
constexpr std::array targets = {
    TargetName{ConversionTarget::parquet, "parquet", "application/vnd.apache.parquet"},
    TargetName{ConversionTarget::xlsx, "xlsx",
               "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"},
};

const TargetName& name_of(ConversionTarget target) {
    return *std::find_if(targets.begin(), targets.end(),
                         [target](const TargetName& known) { return known.target == target; });
}

std::string code_for(ConversionTarget target) {
    return "from cellblock_artifacts.convert import convert\nconvert(\"" +
           std::string(source_path) + "\", \"" + result_path + "\", \"" +
           std::string(name_of(target).extension) + "\")";
}

// How the cell ended; its error is the guest's text.
asio::awaitable<Result<void>> wait_for(Execution& execution) {
    std::string raised;
    while (true) {
        auto event = co_await execution.next(Deadline::max());
        if (!event) co_return fail(ErrorCode::cancelled, "the conversion was cancelled");
        if (const auto* error = std::get_if<CellError>(&*event)) {
            raised = artifacts::one_line(error->name + ": " + error->value, 300);
        }
        const auto* finished = std::get_if<Finished>(&*event);
        if (finished == nullptr) continue;
        if (finished->outcome == Outcome::ok) co_return Result<void>{};
        if (finished->outcome == Outcome::error) {
            co_return fail(ErrorCode::not_supported, "the table cannot be converted: " + raised,
                           "csv, json and arrow take every table");
        }
        co_return fail(finished->error.in("converting the table"));
    }
}

}  // namespace

std::optional<ConversionTarget> conversion_target_from(std::string_view extension) {
    for (const TargetName& known : targets) {
        if (known.extension == extension) return known.target;
    }
    return std::nullopt;
}

std::string_view mime_of(ConversionTarget target) {
    return name_of(target).mime;
}

Conversion::Conversion(SandboxManager& sandboxes, WorkerPool& workers, SandboxSpec spec)
    : sandboxes_(sandboxes), workers_(workers), spec_(std::move(spec)) {
    spec_.timeout = sandbox_timeout;
    spec_.on_timeout = OnTimeout::kill;
    spec_.metadata = {{"purpose", "conversion"}};
}

asio::awaitable<Result<void>> Conversion::run(ConversionSource source, ConversionTarget target,
                                              const Sink& sink) {
    if (source.size_bytes > source_max_bytes) {
        co_return fail(ErrorCode::too_large, "the table is too large to be converted in a sandbox",
                       "csv, json and arrow are written for tables of any size");
    }
    CB_CO_TRY_ASSIGN(sandbox, co_await sandboxes_.create(spec_));
    const std::string id = sandbox->id();
    auto converted = co_await run_in(std::move(sandbox), std::move(source), target, sink);
    const auto removed = co_await sandboxes_.remove(id);
    // It may have ended by itself; otherwise its deadline is the last resort.
    if (!removed) log::info("conversion_sandbox_not_removed", {{"error", removed.error().text()}});
    co_return converted;
}

asio::awaitable<Result<void>> Conversion::run_in(SandboxPointer sandbox, ConversionSource source,
                                                 ConversionTarget target, const Sink& sink) {
    CB_CO_TRY(co_await upload(*sandbox, std::move(source)));
    CB_CO_TRY(co_await convert(*sandbox, target));
    co_return co_await download(*sandbox, sink);
}

asio::awaitable<Result<void>> Conversion::upload(Sandbox& sandbox, ConversionSource source) {
    const auto stream = create_guest_file(sandbox.link(), source_path);
    const auto fd = std::make_shared<const Fd>(std::move(source.fd));
    for (std::uint64_t at = 0; at < source.size_bytes;) {
        auto read = [fd, at]() -> Result<Bytes> {
            Bytes piece(piece_bytes);
            CB_TRY_ASSIGN(count, artifacts::read_at(*fd, at, piece));
            piece.resize(count);
            return piece;
        };
        auto piece = co_await workers_.run(std::move(read));
        if (piece && piece->empty()) piece = fail(ErrorCode::io, "a stored table became shorter");
        if (!piece) {
            stream->reset(piece.error());
            co_return fail(std::move(piece).error());
        }
        at += piece->size();
        // A write that fails early has its reason in the agent's answer.
        if (!co_await stream->write(*piece)) break;
    }
    if (!stream->error()) {
        CB_CO_TRY(co_await stream->finish());
    }
    CB_CO_TRY(co_await guest_file_written(stream));
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Conversion::convert(Sandbox& sandbox, ConversionTarget target) {
    CB_CO_TRY_ASSIGN(context, co_await sandbox.default_context("python"));
    kernel_proxy::ExecuteRequest cell;
    cell.id = new_short_id();
    cell.code = code_for(target);
    cell.timeout = cell_timeout;
    CB_CO_TRY_ASSIGN(execution, context->kernel->execute(std::move(cell)));
    auto ended = co_await wait_for(*execution);
    execution->abandon();
    co_return ended;
}

asio::awaitable<Result<void>> Conversion::download(Sandbox& sandbox, const Sink& sink) {
    CB_CO_TRY_ASSIGN(file, co_await open_guest_file(sandbox.link(), result_path));
    std::uint64_t bytes = 0;
    while (true) {
        CB_CO_TRY_ASSIGN(piece, co_await file.stream->read_some());
        if (piece.empty()) break;
        bytes += piece.size();
        if (bytes > result_max_bytes) {
            co_return fail(ErrorCode::too_large, "the converted table is too large");
        }
        CB_CO_TRY(co_await sink(piece));
    }
    if (bytes == 0) co_return fail(ErrorCode::guest_protocol, "the sandbox made an empty file");
    co_return Result<void>{};
}

}  // namespace cellblock::gateway
