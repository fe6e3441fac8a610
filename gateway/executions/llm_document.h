// The answer to "view": "llm": what an execution's lines and displays come to, as one Markdown
// document. Collects the lines as they come; artifacts::llm_view decides what fits the budget. One
// per execution.
//
// What the reader sees is the end of it: an update replaces the display that it names, and what
// clear_output took away is not told.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "artifacts/llm_view.h"
#include "base/json.h"
#include "gateway/executions/llm_images.h"
#include "gateway/executions/recorder.h"

namespace cellblock::gateway {

class LlmDocument {
  public:
    // A line of gateway/executions/wire_lines.h.
    void add(const Json& line);
    // The cell raised, or had a typed end.
    bool failed() const { return error_.has_value(); }
    // `recorder` is the one whose lines were added.
    std::string render(const Recorder& recorder, std::size_t budget_bytes) const;
    // {"content": [text part, image parts...]}: the document and its pictures as one message of a
    // chat API.
    Json render_parts(const Recorder& recorder, std::size_t budget_bytes, ImageShape shape) const;

  private:
    void add_truncated(const Json& line);
    void clear();
    std::vector<artifacts::LlmResult> final_results(const Recorder& recorder) const;
    std::string render(std::vector<artifacts::LlmResult> results, std::size_t budget_bytes) const;

    artifacts::LlmText standard_output_;
    artifacts::LlmText standard_error_;
    std::optional<artifacts::LlmError> error_;
    std::string note_;  // that the cell goes on, or could not be let go of
    std::size_t displays_seen_ = 0;
    std::size_t displays_cleared_ = 0;  // the first of them are gone
    bool clear_with_next_ = false;
};

}  // namespace cellblock::gateway
