// Aligned columns for terminals.
#pragma once

#include <string>
#include <vector>

namespace cellblock::gateway::cli {

// The first row is the titles. To standard output.
void print_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace cellblock::gateway::cli
