// The answer to "view": "llm": what an execution's lines and displays come to, as one Markdown
// document. Collects the lines as they come; artifacts::llm_view decides what fits the budget. One
// per execution.
#pragma once

#include <optional>
#include <string>

#include "artifacts/llm_view.h"
#include "base/json.h"
#include "gateway/executions/recorder.h"

namespace cellblock::gateway {

class LlmDocument {
  public:
    // A line of gateway/executions/wire_lines.h.
    void add(const Json& line);
    // `recorder` is the one whose lines were added.
    std::string render(const Recorder& recorder, std::size_t budget_bytes) const;

  private:
    void add_truncated(const Json& line);

    artifacts::LlmText standard_output_;
    artifacts::LlmText standard_error_;
    std::optional<artifacts::LlmError> error_;
};

}  // namespace cellblock::gateway
