// How the CLI shows long work: a bar with step and elapsed time on a terminal, plain lines
// elsewhere.
//
// Writes to standard error, so that standard output stays for results. One thread.
#pragma once

#include <chrono>
#include <string>

#include "base/progress.h"

namespace cellblock::gateway::cli {

// "[=====>    ] 50%  2m05s  installing packages: pandas 2.3.3", cut to `width` columns.
std::string progress_line(const Progress& progress, std::chrono::seconds elapsed,
                          std::size_t width);
// "2m05s", "7s", "1h02m"
std::string elapsed_text(std::chrono::seconds elapsed);

class ProgressBar {
  public:
    ProgressBar();
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    // Ends the bar's line.
    ~ProgressBar();

    void show(const Progress& progress);
    // A line that stays, above the bar.
    void say(const std::string& sentence);
    ProgressSink sink() {
        return [this](const Progress& progress) { show(progress); };
    }

  private:
    void clear();

    const bool terminal_;
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point last_;
    std::string step_;
    bool drawn_ = false;
};

}  // namespace cellblock::gateway::cli
