#include "gateway/executions/llm_document.h"

#include <map>
#include <utility>

#include "base/unicode.h"

namespace cellblock::gateway {

using artifacts::LlmResult;
using kernel_proxy::DisplayKind;

void LlmDocument::add(const Json& line) {
    const std::string& type = line.at("type").get_ref<const std::string&>();
    const bool is_output =
        type == "stdout" || type == "stderr" || type == "result" || type == "error";
    if (is_output && std::exchange(clear_with_next_, false)) clear();
    if (type == "stdout" || type == "stderr") {
        artifacts::LlmText& text = type == "stdout" ? standard_output_ : standard_error_;
        const std::string& part = line.at("text").get_ref<const std::string&>();
        text.text += part;
        text.total_bytes += part.size();
    } else if (type == "result" || type == "display_update") {
        ++displays_seen_;
    } else if (type == "clear_output") {
        clear_with_next_ = line.at("wait").get<bool>();
        if (!clear_with_next_) clear();
    } else if (type == "error" && !error_) {
        error_.emplace();
        error_->name = line.at("name");
        error_->value = line.at("value");
        error_->traceback = line.at("traceback");
    } else if (type == "detached") {
        const std::string& id = line.at("job_id").get_ref<const std::string&>();
        note_ = "The cell is still running, as job `" + id + "`: GET /jobs/" + id +
                " tells how it is.\n\n";
    } else if (type == "truncated" && !line.contains("field")) {
        add_truncated(line);
    }
}

void LlmDocument::clear() {
    standard_output_ = {};
    standard_error_ = {};
    displays_cleared_ = displays_seen_;
}

// The budget for text is one for both streams; what is missing is told with the standard output.
void LlmDocument::add_truncated(const Json& line) {
    const auto total = line.at("total_bytes").get<std::uint64_t>();
    const auto inline_bytes = line.at("inline_bytes").get<std::uint64_t>();
    standard_output_.total_bytes += total - inline_bytes;
    const auto id = line.find("artifact_id");
    if (id != line.end()) standard_output_.url = "/artifacts/" + id->get<std::string>();
}

std::vector<LlmResult> LlmDocument::final_results(const Recorder& recorder) const {
    std::vector<LlmResult> results;
    std::map<std::string, std::size_t> place_of;  // by display id
    std::size_t number = 0;
    for (const RecordedDisplay& display : recorder.displays()) {
        if (number++ < displays_cleared_) continue;
        LlmResult result;
        result.captured = &display.captured;
        result.artifacts = display.artifacts;
        result.is_main_result = display.kind == DisplayKind::result;
        const auto known = place_of.find(display.display_id);
        if (display.kind == DisplayKind::update && known != place_of.end()) {
            results[known->second] = std::move(result);
            continue;
        }
        if (!display.display_id.empty()) place_of[display.display_id] = results.size();
        results.push_back(std::move(result));
    }
    return results;
}

std::string LlmDocument::render(std::vector<LlmResult> results, std::size_t budget_bytes) const {
    artifacts::LlmInput input;
    input.error = error_;
    input.standard_output = standard_output_;
    input.standard_error = standard_error_;
    input.results = std::move(results);
    if (note_.empty()) return artifacts::llm_view(input, budget_bytes);
    // The least view may be larger than what the note leaves of a small budget.
    const std::string view = artifacts::llm_view(input, budget_bytes - note_.size());
    return note_ + std::string(cut_utf8(view, budget_bytes - note_.size()));
}

std::string LlmDocument::render(const Recorder& recorder, std::size_t budget_bytes) const {
    return render(final_results(recorder), budget_bytes);
}

Json LlmDocument::render_parts(const Recorder& recorder, std::size_t budget_bytes,
                               ImageShape shape) const {
    std::vector<LlmResult> results = final_results(recorder);
    ImageParts images(shape);
    for (const LlmResult& result : results) images.add(*result.captured);
    return message_of(render(std::move(results), budget_bytes), images);
}

}  // namespace cellblock::gateway
