// Braille cells (see terminal_canvas.h).
#include "charts/terminal_canvas.h"

#include <algorithm>
#include <cmath>

#include "base/unicode.h"
#include "charts/colors.h"

namespace cellblock::charts {

namespace {

constexpr char32_t braille_blank = 0x2800;
// The bit of each dot, by its row and column in the cell.
constexpr std::uint8_t dot_bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

// The part of a segment inside of the canvas (Liang and Barsky); false when none is.
bool clip(double& x0, double& y0, double& x1, double& y1, double width, double height) {
    double from = 0, to = 1;
    const double dx = x1 - x0, dy = y1 - y0;
    const auto edge = [&](double towards, double distance) {
        if (towards == 0) return distance >= 0;
        const double part = distance / towards;
        if (towards < 0) from = std::max(from, part);
        if (towards > 0) to = std::min(to, part);
        return from <= to;
    };
    if (!edge(-dx, x0) || !edge(dx, width - x0) || !edge(-dy, y0) || !edge(dy, height - y0)) {
        return false;
    }
    x1 = x0 + to * dx;
    y1 = y0 + to * dy;
    x0 += from * dx;
    y0 += from * dy;
    return true;
}

}  // namespace

std::string inked(std::string_view text, const std::string& color, TerminalOptions::Ink mode) {
    if (mode == TerminalOptions::Ink::plain || color.size() != 7 || color[0] != '#') {
        return std::string(text);
    }
    const Rgb rgb = rgb_of(color);
    const auto part = [](double value) { return std::to_string(std::lround(value)); };
    return "\x1b[38;2;" + part(rgb.red) + ";" + part(rgb.green) + ";" + part(rgb.blue) + "m" +
           std::string(text) + "\x1b[39m";
}

TerminalCanvas::TerminalCanvas(std::size_t columns, std::size_t rows)
    : columns_(columns), rows_(rows), cells_(columns * rows) {}

TerminalCanvas::Cell* TerminalCanvas::at(long column, long row) {
    if (column < 0 || row < 0 || column >= static_cast<long>(columns_) ||
        row >= static_cast<long>(rows_)) {
        return nullptr;
    }
    return &cells_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
}

void TerminalCanvas::dot(long x, long y, const std::string& color) {
    if (x < 0 || y < 0) return;
    Cell* cell = at(x / 2, y / 4);
    if (cell == nullptr) return;
    cell->dots |= dot_bits[y % 4][x % 2];
    cell->color = color;
}

void TerminalCanvas::line(double x0, double y0, double x1, double y1, const std::string& color) {
    if (!std::isfinite(x0 + y0 + x1 + y1)) return;
    const auto width = static_cast<double>(dots_wide() - 1);
    const auto height = static_cast<double>(dots_high() - 1);
    if (!clip(x0, y0, x1, y1, width, height)) return;
    const auto steps = static_cast<long>(std::ceil(std::max(std::abs(x1 - x0), std::abs(y1 - y0))));
    for (long i = 0; i <= steps; ++i) {
        const double part = steps == 0 ? 0 : static_cast<double>(i) / static_cast<double>(steps);
        dot(std::lround(x0 + (x1 - x0) * part), std::lround(y0 + (y1 - y0) * part), color);
    }
}

void TerminalCanvas::put(long column, long row, std::string_view character,
                         const std::string& color) {
    Cell* cell = at(column, row);
    if (cell == nullptr) return;
    cell->character = std::string(character);
    cell->color = color;
}

bool TerminalCanvas::words(long column, long row, std::string_view text) {
    const auto width = static_cast<long>(display_width(text));
    if (at(column, row) == nullptr || at(column + std::max(width, 1L) - 1, row) == nullptr) {
        return false;
    }
    for (long i = -1; i <= width; ++i) {
        const Cell* cell = at(column + i, row);
        if (cell != nullptr && (!cell->character.empty() || cell->covered)) return false;
    }
    for (std::size_t position = 0; position < text.size();) {
        const CodePoint point = code_point_at(text, position);
        const std::string_view letter = text.substr(position, point.size_bytes);
        position += point.size_bytes;
        const std::size_t size = display_width(letter);
        if (size == 0) continue;
        put(column, row, letter, {});
        if (size > 1) at(column + 1, row)->covered = true;
        column += static_cast<long>(size);
    }
    return true;
}

std::string TerminalCanvas::row_text(std::size_t row, TerminalOptions::Ink mode) const {
    std::string text;
    std::string run, color;  // cells of one colour go out together
    const auto flush = [&] {
        text += inked(run, color, mode);
        run.clear();
    };
    for (std::size_t column = 0; column < columns_; ++column) {
        const Cell& cell = cells_[row * columns_ + column];
        if (cell.covered) continue;
        if (cell.color != color) {
            flush();
            color = cell.color;
        }
        if (!cell.character.empty()) {
            run += cell.character;
        } else if (cell.dots == 0) {
            run += ' ';
        } else {
            append_utf8(run, braille_blank + cell.dots);
        }
    }
    flush();
    return text;
}

}  // namespace cellblock::charts
