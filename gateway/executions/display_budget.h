// What of the displays of one execution goes to the caller inline. Text past its budget is cut,
// other fields past theirs are left out; the whole of each is an artifact, and a `truncated` line
// says so.
//
// Without it one result of 60 MB would be one line of 60 MB. Pictures, pages and data have a larger
// budget of their own, because clients show them from the line. Owner: the Recorder. No I/O.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "artifacts/capture.h"
#include "base/limits.h"

namespace cellblock::gateway {

struct CutField {
    std::string field;             // "text", "html", "png", ...
    std::size_t inline_bytes = 0;  // what the caller got
    std::size_t total_bytes = 0;
    // Of the display's artifacts, the one that holds the whole.
    std::size_t artifact = 0;

    CutField() = default;
};

class DisplayBudget {
  public:
    // Cuts the display's fields, adds the artifacts that it lacks, and tells what was cut.
    std::vector<CutField> apply(artifacts::Captured& display);

    struct Left {
        std::size_t text_bytes = limits::execution_inline_text_max_bytes;
        std::size_t rich_bytes = limits::execution_inline_rich_max_bytes;
        Left() = default;
    };
    Left left() const {
        Left left;
        left.text_bytes = text_left_;
        left.rich_bytes = rich_left_;
        return left;
    }
    void restore(const Left& left) {
        text_left_ = left.text_bytes;
        rich_left_ = left.rich_bytes;
    }

  private:
    std::size_t text_left_ = limits::execution_inline_text_max_bytes;
    std::size_t rich_left_ = limits::execution_inline_rich_max_bytes;
};

}  // namespace cellblock::gateway
