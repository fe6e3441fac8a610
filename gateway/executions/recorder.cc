#include "gateway/executions/recorder.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "gateway/executions/wire_lines.h"
#include "gateway/sandboxes/guest_files.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using artifacts::Artifact;
using artifacts::ArtifactInfo;
using artifacts::PendingArtifact;
using kernel_proxy::CellError;
using kernel_proxy::ClearOutput;
using kernel_proxy::Display;
using kernel_proxy::Dropped;
using kernel_proxy::ExecutionStarted;
using kernel_proxy::Finished;
using kernel_proxy::StreamText;

namespace {

ArtifactInfo text_info(const Recorder::Owner& owner) {
    ArtifactInfo info;
    info.kind = artifacts::ArtifactKind::text;
    info.mime = "text/plain";
    info.name = "output.txt";
    info.execution_id = owner.execution_id;
    info.sandbox_id = owner.sandbox_id;
    info.tenant = owner.tenant;
    return info;
}

std::vector<Json> one(Json line) {
    std::vector<Json> lines;
    lines.push_back(std::move(line));
    return lines;
}

// E2B's clients take `data` for the whole table. Where it is not, `extra` says so, which they show
// too, with the artifact that has all rows: it is named here, before it is stored.
void say_data_cut(artifacts::Captured& display) {
    const auto& table = display.table;
    if (!table || !table->e2b_rows || !display.result_fields.contains("data")) return;
    Json cut = {{"rows", *table->e2b_rows}};
    if (table->rows_total) cut["rows_total"] = *table->rows_total;
    const auto whole = std::ranges::find(display.artifacts, "table", &PendingArtifact::field);
    if (whole != display.artifacts.end()) {
        whole->id = new_short_id();
        cut["artifact"] = std::string(artifacts::artifact_url_prefix) + whole->id;
    }
    display.result_fields["extra"]["data_cut"] = std::move(cut);
}

}  // namespace

Recorder::Recorder(artifacts::Store& store, WorkerPool& workers, std::shared_ptr<Sandbox> sandbox,
                   Owner owner)
    : store_(store),
      workers_(workers),
      sandbox_(std::move(sandbox)),
      owner_(std::move(owner)),
      text_(store, workers, text_info(owner_)) {}

asio::awaitable<std::vector<Json>> Recorder::take(kernel_proxy::OutputEvent event) {
    if (auto* text = std::get_if<StreamText>(&event)) {
        const std::string shown = co_await text_.take(std::move(text->text));
        co_return shown.empty() ? std::vector<Json>() : one(wire::text(text->name, shown));
    }
    if (auto* display = std::get_if<Display>(&event)) {
        co_return take_display(std::move(*display));
    }
    if (auto* finished = std::get_if<Finished>(&event)) {
        co_return co_await take_end(std::move(*finished));
    }
    if (const auto* started = std::get_if<ExecutionStarted>(&event))
        co_return one(wire::started(*started));
    if (const auto* error = std::get_if<CellError>(&event)) co_return one(wire::error(*error));
    if (const auto* clear = std::get_if<ClearOutput>(&event))
        co_return one(wire::clear_output(*clear));
    co_return one(wire::dropped(std::get<Dropped>(event).reason));
}

std::vector<Json> Recorder::take_display(Display display) {
    RecordedDisplay recorded;
    recorded.kind = display.kind;
    recorded.display_id = display.display_id;
    recorded.captured = artifacts::capture(display.data, display.metadata, ++display_count_);
    for (const std::string& warning : recorded.captured.warnings) {
        log::info("display_part_dropped",
                  {{"execution_id", owner_.execution_id}, {"reason", warning}});
    }
    recorded.cuts = display_budget_.apply(recorded.captured);
    say_data_cut(recorded.captured);
    std::vector<Json> lines;
    if (!recorded.captured.result_fields.is_null()) {
        lines.push_back(wire::result(display, recorded.captured.result_fields));
        if (display.kind != kernel_proxy::DisplayKind::update && !display.display_id.empty()) {
            lines.push_back(wire::display_id(display.display_id));
        }
    }
    displays_.push_back(std::move(recorded));
    artifacts_due_ = true;
    return lines;
}

asio::awaitable<std::vector<Json>> Recorder::keep_artifacts() {
    std::vector<Json> lines;
    if (!std::exchange(artifacts_due_, false)) co_return lines;
    RecordedDisplay& recorded = displays_.back();
    for (std::size_t index = 0; index < recorded.captured.artifacts.size(); ++index) {
        PendingArtifact& pending = recorded.captured.artifacts[index];
        auto stored = co_await store(pending);
        if (stored) {
            lines.push_back(wire::artifact(*stored, pending.preview));
        } else {
            lines.push_back(wire::dropped(stored.error().in("storing " + pending.name).text()));
        }
        for (const CutField& cut : recorded.cuts) {
            if (cut.artifact == index) lines.push_back(wire::truncated(cut, stored));
        }
        if (stored) recorded.artifacts.push_back(std::move(*stored));
    }
    for (const std::string& notice : recorded.captured.notices) {
        lines.push_back(wire::dropped(notice));
    }
    co_return lines;
}

asio::awaitable<std::vector<Json>> Recorder::take_end(Finished finished) {
    std::vector<Json> lines;
    if (const auto truncated = co_await text_.finish()) {
        if (truncated->artifact)
            lines.push_back(wire::artifact(*truncated->artifact, Json::object()));
        lines.push_back(wire::truncated(*truncated));
    }
    if (Json error = wire::end_error(finished); !error.is_null()) lines.push_back(std::move(error));
    lines.push_back(wire::end());
    co_return lines;
}

ArtifactInfo Recorder::info_of(const PendingArtifact& pending) const {
    ArtifactInfo info;
    info.id = pending.id;
    info.kind = pending.kind;
    info.mime = pending.mime;
    info.name = pending.name;
    info.execution_id = owner_.execution_id;
    info.sandbox_id = owner_.sandbox_id;
    info.tenant = owner_.tenant;
    info.metadata = pending.preview;
    return info;
}

asio::awaitable<Result<Artifact>> Recorder::store(PendingArtifact& pending) {
    if (!pending.guest_path.empty()) co_return co_await fetch(pending);
    auto put = [this, bytes = std::move(pending.bytes), info = info_of(pending)] {
        return store_.put(bytes, info);
    };
    co_return co_await workers_.run(std::move(put));
}

// A table's full data, and what a cell wrote, lie in the guest as files: to the store piece by
// piece.
asio::awaitable<Result<Artifact>> Recorder::fetch(PendingArtifact& pending) {
    if (sandbox_->gone()) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    CB_CO_TRY_ASSIGN(file, co_await open_guest_file(sandbox_->link(), pending.guest_path));
    auto begin = [this, info = info_of(pending)] { return store_.begin(info); };
    CB_CO_TRY_ASSIGN(writer, co_await workers_.run(std::move(begin)));
    while (true) {
        CB_CO_TRY_ASSIGN(chunk, co_await file.stream->read_some());
        if (chunk.empty()) break;
        auto append = [&writer, chunk = std::move(chunk)] { return writer.append(chunk); };
        CB_CO_TRY(co_await workers_.run(std::move(append)));
    }
    auto finish = [&writer, preview = pending.preview] { return writer.finish(preview); };
    auto stored = co_await workers_.run(std::move(finish));
    if (pending.guest_copy == artifacts::GuestCopy::stays) co_return stored;
    guest_copies_.push_back(pending.guest_path);
    co_return stored;
}

// They only take room of the guest's disk; that one stays is no reason to fail.
asio::awaitable<void> Recorder::release_guest_copies() {
    for (std::string& path : std::exchange(guest_copies_, {})) {
        if (!sandbox_ || sandbox_->gone()) co_return;
        const auto removed = co_await remove_guest_file(sandbox_->link(), std::move(path));
        if (!removed) log::info("guest_artifact_not_removed", {{"error", removed.error().text()}});
    }
}

RecorderState Recorder::state() const {
    RecorderState state;
    state.text = text_.used();
    state.displays_left = display_budget_.left();
    state.display_count = display_count_;
    return state;
}

asio::awaitable<void> Recorder::restore(RecorderState state, std::string inline_text,
                                        std::string kept_text) {
    display_budget_.restore(state.displays_left);
    display_count_ = state.display_count;
    co_await text_.restore(state.text, std::move(inline_text), std::move(kept_text));
}

}  // namespace cellblock::gateway
