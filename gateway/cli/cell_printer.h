// Prints the lines of POST /execute on a terminal as they arrive: text as it is, pictures saved to
// files whose paths are shown, errors to standard error.
//
// Pure but for the files it writes and the two streams it is given. One execution each.
#pragma once

#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::gateway::cli {

class CellPrinter {
  public:
    // `folder` is made when the first file is saved. `base_url` completes artifact links.
    CellPrinter(std::filesystem::path folder, std::string base_url, std::FILE* out, std::FILE* err);

    // Bytes of the stream, cut anywhere.
    void feed(std::string_view bytes);

    // The cell ended with an error.
    bool failed() const { return failed_; }
    // The stream came to its proper end.
    bool ended() const { return ended_; }

  private:
    void line(std::string_view text);
    void result(const Json& line);
    void artifact(const Json& line);
    void error(const Json& line);
    void save(const Json& content, const char* extension, bool base64);
    void print(std::FILE* to, const std::string& text);

    const std::filesystem::path folder_;
    const std::string base_url_;
    std::FILE* out_;
    std::FILE* err_;
    std::string partial_;
    int files_ = 0;
    bool failed_ = false;
    bool ended_ = false;
    bool out_at_line_start_ = true;
};

}  // namespace cellblock::gateway::cli
