#include "gateway/executions/llm_document.h"

#include <utility>

namespace cellblock::gateway {

void LlmDocument::add(const Json& line) {
    const std::string& type = line.at("type").get_ref<const std::string&>();
    if (type == "stdout" || type == "stderr") {
        artifacts::LlmText& text = type == "stdout" ? standard_output_ : standard_error_;
        const std::string& part = line.at("text").get_ref<const std::string&>();
        text.text += part;
        text.total_bytes += part.size();
    } else if (type == "error" && !error_) {
        error_.emplace();
        error_->name = line.at("name");
        error_->value = line.at("value");
        error_->traceback = line.at("traceback");
    } else if (type == "truncated") {
        add_truncated(line);
    }
}

// The budget for text is one for both streams; what is missing is told with the standard output.
void LlmDocument::add_truncated(const Json& line) {
    const auto total = line.at("total_bytes").get<std::uint64_t>();
    const auto inline_bytes = line.at("inline_bytes").get<std::uint64_t>();
    standard_output_.total_bytes += total - inline_bytes;
    const auto id = line.find("artifact_id");
    if (id != line.end()) standard_output_.url = "/artifacts/" + id->get<std::string>();
}

std::string LlmDocument::render(const Recorder& recorder, std::size_t budget_bytes) const {
    artifacts::LlmInput input;
    input.error = error_;
    input.standard_output = standard_output_;
    input.standard_error = standard_error_;
    for (const RecordedDisplay& display : recorder.displays()) {
        artifacts::LlmResult result;
        result.captured = &display.captured;
        result.artifacts = display.artifacts;
        result.is_main_result = display.kind == kernel_proxy::DisplayKind::result;
        input.results.push_back(std::move(result));
    }
    return artifacts::llm_view(input, budget_bytes);
}

}  // namespace cellblock::gateway
