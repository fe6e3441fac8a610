#include "gateway/cli/progress_bar.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cellblock::gateway::cli {
namespace {

constexpr std::size_t bar_cells = 24;
// Without a terminal: a line when the step changes, and otherwise this often.
constexpr std::chrono::seconds plain_interval{15};
constexpr std::chrono::milliseconds redraw_interval{100};

std::size_t terminal_width() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20) return size.ws_col;
    return 80;
}

// Printable ASCII and UTF-8 only: details may come from package names and tool output.
std::string printable(const std::string& text) {
    std::string clean;
    for (const char c : text) {
        const auto u = static_cast<unsigned char>(c);
        clean += u < 0x20 || u == 0x7f ? ' ' : c;
    }
    return clean;
}

}  // namespace

std::string elapsed_text(std::chrono::seconds elapsed) {
    const auto s = elapsed.count();
    char text[32];
    if (s < 60) {
        std::snprintf(text, sizeof text, "%llds", static_cast<long long>(s));
    } else if (s < 3600) {
        std::snprintf(text, sizeof text, "%lldm%02llds", static_cast<long long>(s / 60),
                      static_cast<long long>(s % 60));
    } else {
        std::snprintf(text, sizeof text, "%lldh%02lldm", static_cast<long long>(s / 3600),
                      static_cast<long long>(s / 60 % 60));
    }
    return text;
}

std::string progress_line(const Progress& progress, std::chrono::seconds elapsed,
                          std::size_t width) {
    std::string line = "[";
    if (progress.fraction >= 0) {
        const double fraction = std::min(progress.fraction, 1.0);
        const auto full = static_cast<std::size_t>(fraction * bar_cells);
        line += std::string(full, '=');
        if (full < bar_cells) line += ">" + std::string(bar_cells - full - 1, ' ');
        char percent[16];
        std::snprintf(percent, sizeof percent, "] %3.0f%%", fraction * 100);
        line += percent;
    } else {
        // Unknown: a mark that walks with the seconds.
        std::string cells(bar_cells, ' ');
        cells[static_cast<std::size_t>(elapsed.count()) % bar_cells] = '*';
        line += cells + "]     ";
    }
    line += "  " + elapsed_text(elapsed) + "  " + printable(progress.step);
    if (!progress.detail.empty()) line += ": " + printable(progress.detail);
    if (line.size() > width) {
        line.resize(width);
        // Not in the middle of a UTF-8 character.
        while (!line.empty() && (static_cast<unsigned char>(line.back()) & 0xc0) == 0x80) {
            line.pop_back();
        }
        if (!line.empty() && static_cast<unsigned char>(line.back()) >= 0xc0) line.pop_back();
    }
    return line;
}

ProgressBar::ProgressBar() : terminal_(::isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
    if (drawn_) std::fputc('\n', stderr);
}

void ProgressBar::clear() {
    if (terminal_ && drawn_) std::fputs("\r\033[K", stderr);
    drawn_ = false;
}

void ProgressBar::say(const std::string& sentence) {
    clear();
    std::fprintf(stderr, "%s\n", printable(sentence).c_str());
}

void ProgressBar::show(const Progress& progress) {
    const auto now = std::chrono::steady_clock::now();
    const auto elapsed = std::chrono::duration_cast<std::chrono::seconds>(now - begin_);
    const bool new_step = progress.step != step_;
    const auto since = now - last_;
    if (!new_step && since < (terminal_ ? redraw_interval : plain_interval)) return;
    step_ = progress.step;
    last_ = now;
    if (terminal_) {
        const std::string line = progress_line(progress, elapsed, terminal_width() - 1);
        std::fprintf(stderr, "\r%s\033[K", line.c_str());
        std::fflush(stderr);
        drawn_ = true;
        return;
    }
    const std::string detail = progress.detail.empty() ? "" : ": " + printable(progress.detail);
    std::fprintf(stderr, "%6s  %s%s\n", elapsed_text(elapsed).c_str(),
                 printable(progress.step).c_str(), detail.c_str());
}

}  // namespace cellblock::gateway::cli
