// The chart model as text for a terminal: bars as blocks with their names and values, everything
// else as a plot of braille dots with axes. No escape sequence of the guest gets through; colours
// only when asked for.
#pragma once

#include <cstddef>
#include <string>

#include "charts/model.h"

namespace cellblock::charts {

struct TerminalOptions {
    enum class Ink { plain, colored };
    std::size_t columns = 80;  // of the terminal
    std::size_t rows = 16;     // of one plot, without its labels
    Ink ink = Ink::plain;

    TerminalOptions() = default;
};

std::string to_terminal(const Figure& figure, const TerminalOptions& options = {});

}  // namespace cellblock::charts
