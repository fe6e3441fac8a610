// A rectangle of terminal cells, each with two by four braille dots or a character (internal to the
// terminal_*.cc files).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "charts/terminal.h"

namespace cellblock::charts {

// A text in a colour ("#rrggbb"), where colours are wanted and it has one.
std::string inked(std::string_view text, const std::string& color, TerminalOptions::Ink mode);

class TerminalCanvas {
  public:
    TerminalCanvas(std::size_t columns, std::size_t rows);

    // In dots from the upper left corner; what lies outside is cut.
    long dots_wide() const { return static_cast<long>(columns_) * 2; }
    long dots_high() const { return static_cast<long>(rows_) * 4; }
    void dot(long x, long y, const std::string& color);
    void line(double x0, double y0, double x1, double y1, const std::string& color);
    // One character in place of the dots of a cell, with a column and a row.
    void put(long column, long row, std::string_view character, const std::string& color);
    // Words from a cell on, where nothing but dots is in the way. False when there was no room.
    bool words(long column, long row, std::string_view text);

    std::string row_text(std::size_t row, TerminalOptions::Ink mode) const;

  private:
    struct Cell {
        std::uint8_t dots = 0;
        std::string character;  // empty: the dots
        std::string color;
        bool covered = false;  // the second half of a wide character
    };
    Cell* at(long column, long row);

    std::size_t columns_, rows_;
    std::vector<Cell> cells_;
};

}  // namespace cellblock::charts
