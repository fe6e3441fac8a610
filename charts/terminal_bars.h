// Layers that read best as rows of blocks (internal to the terminal_*.cc files).
#pragma once

#include <string>

#include "charts/model.h"
#include "charts/terminal.h"

namespace cellblock::charts {

// Whether a panel is bars, bins, slices or boxes only, and few enough to list.
bool is_listed(const Panel& panel);
std::string listed_text(const Panel& panel, const TerminalOptions& options);

// Heat maps as shades of one cell each, where they are not too large for it.
bool is_shaded(const Panel& panel, const TerminalOptions& options);
std::string shaded_text(const Panel& panel, const TerminalOptions& options);

// The text on one line, and as much of it as fits into so many columns.
std::string fitted_columns(const std::string& text, std::size_t columns);
// ... with spaces before or behind up to that width.
std::string padded_left(const std::string& text, std::size_t columns);
std::string padded_right(const std::string& text, std::size_t columns);

}  // namespace cellblock::charts
