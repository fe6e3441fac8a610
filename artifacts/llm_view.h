// One compact Markdown document for an execution, within a byte budget: what a language model
// reads.
//
// The budget goes by worth: the error first (its last frames), then results and tables, then the
// head and tail of what was printed. Pictures and charts are told in words and referred to by URL.
// Whatever is cut says how much is missing, and where the whole is when it is stored. Text of the
// guest stands in code fences or is escaped, so that it cannot pose as the document's own
// structure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "artifacts/artifact.h"
#include "artifacts/capture.h"

namespace cellblock::artifacts {

struct LlmResult {
    const Captured* captured = nullptr;  // not null; outlives the call
    std::vector<Artifact> artifacts;     // those of its parts that were stored
    bool is_main_result = false;

    LlmResult() = default;
};

struct LlmText {
    std::string text;               // what is at hand: all, or the beginning
    std::uint64_t total_bytes = 0;  // what was printed in all
    std::string url;                // the whole, when it is stored; may be empty

    LlmText() = default;
};

struct LlmError {
    std::string name;
    std::string value;
    std::string traceback;

    LlmError() = default;
};

struct LlmInput {
    std::optional<LlmError> error;
    std::vector<LlmResult> results;
    LlmText standard_output;
    LlmText standard_error;
    std::vector<Artifact> files;  // of the execution as a whole: spilled output, new files
    std::string url_prefix = "/artifacts/";

    LlmInput() = default;
};

// Never longer than max_bytes (raised to llm_view_min_bytes); valid UTF-8.
std::string llm_view(const LlmInput& input, std::size_t max_bytes);

}  // namespace cellblock::artifacts
