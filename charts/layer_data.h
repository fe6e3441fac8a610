// A layer's columns by name. Which names there are is the kind's business (charts/kinds.h); a
// column that is not there reads as an empty one, so that writers need no special case.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "charts/kinds.h"

namespace cellblock::charts {

using Column = std::vector<double>;  // NaN: missing; infinities are the data's own

struct Grid {
    std::size_t rows = 0, columns = 0;
    Column values;  // row-major

    double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

struct Stack {
    std::string group;
    std::optional<double> order;
    bool normalize = false;
};

class DataParser;

class LayerData {
  public:
    const Column& numbers(std::string_view name) const;
    const std::vector<std::string>& texts(std::string_view name) const;
    const std::vector<Column>& lists(std::string_view name) const;
    const Grid& grid(std::string_view name) const;
    const std::vector<std::vector<std::string>>& words(std::string_view name) const;
    std::optional<double> number(std::string_view name) const;
    bool flag(std::string_view name) const;
    std::string word(std::string_view name) const;
    const std::optional<Stack>& stack() const { return stack_; }
    bool has(std::string_view name) const;

    // How many numbers and strings are in it.
    std::size_t values() const { return values_; }

  private:
    friend class DataParser;
    template <typename T>
    using ByName = std::map<std::string, T, std::less<>>;

    ByName<Column> numbers_;
    ByName<std::vector<std::string>> texts_;
    ByName<std::vector<Column>> lists_;
    ByName<Grid> grids_;
    ByName<std::vector<std::vector<std::string>>> words_;
    ByName<double> number_;
    ByName<bool> flags_;
    ByName<std::string> word_;
    std::optional<Stack> stack_;
    std::size_t values_ = 0;
};

// The data of one layer, checked against its kind. too_large past limits::chart_layer_values_max,
// guest_protocol when it does not fit. What changes shape on the way: iso-lines become the columns
// path_level, path_x, path_y; {x, y, v} becomes z_x, z_y and the grid z; boxen's levels become
// levels_lo and levels_hi; counts become the texts artists and the numbers artist_counts.
Result<LayerData> parse_layer_data(Kind kind, const Json& data);
// What the lengths of columns alone do not say: rising edges, sizes of grids, shares up to 1.
Result<void> check_layer_data(Kind kind, const LayerData& data);

Json to_json(const LayerData& data, Kind kind);
Json column_json(const Column& column);

}  // namespace cellblock::charts
