// Prints the lines of POST /execute on a terminal as they arrive: text as it is, tables aligned,
// charts as plots of characters, pictures saved to files whose paths are shown, errors to standard
// error.
//
// Pure but for the files it writes, the two streams it is given and what it fetches. One execution
// each.
#pragma once

#include <cstdio>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"

namespace cellblock::gateway::cli {

struct PrinterOptions {
    std::filesystem::path folder;  // for pictures; made when the first one is saved
    std::string base_url;          // completes artifact links
    std::size_t columns = 80;      // of the terminal
    bool is_colored = false;       // escape sequences for colours are welcome
    // GET of a path of the gateway: its body, or nothing when it failed. Without it charts are
    // pictures only.
    std::function<std::optional<std::string>(const std::string& path)> fetch;

    PrinterOptions() = default;
};

class CellPrinter {
  public:
    CellPrinter(PrinterOptions options, std::FILE* out, std::FILE* err);

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
    void chart(const std::string& url);
    void text(const Json& line);
    void flush_text();
    void error(const Json& line);
    void print_block(const std::string& text);
    void save(const Json& content, const char* extension, bool base64);
    void print(std::FILE* to, const std::string& text);

    const PrinterOptions options_;
    std::FILE* out_;
    std::FILE* err_;
    std::string partial_;
    std::optional<Json> waiting_;  // a result whose table, if it is one, comes with the next line
    int files_ = 0;
    bool failed_ = false;
    bool ended_ = false;
    bool out_at_line_start_ = true;
};

}  // namespace cellblock::gateway::cli
