// Figure -> CSV (see csv.h). Each layer becomes rows of named cells; the table's columns are the
// union of the names.
#include "charts/csv.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "charts/text.h"

namespace cellblock::charts {

namespace {

using Row = std::map<std::string, std::string, std::less<>>;

class Table {
  public:
    void add(Row row) {
        for (const auto& [name, value] : row) {
            if (!places_.contains(name)) {
                places_.emplace(name, columns_.size());
                columns_.push_back(name);
            }
        }
        rows_.push_back(std::move(row));
    }
    void declare(std::string name) {
        if (places_.emplace(name, columns_.size()).second) columns_.push_back(std::move(name));
    }
    std::string text() const;

  private:
    std::vector<std::string> columns_;
    std::map<std::string, std::size_t, std::less<>> places_;
    std::vector<Row> rows_;
};

std::string quoted(const std::string& value, bool number) {
    std::string text = value;
    if (!number && !text.empty() &&
        std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) {
        text.insert(text.begin(), '\'');
    }
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char letter : text) {
        if (letter == '"') result += '"';
        result += letter;
    }
    return result + "\"";
}

bool reads_as_number(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789.eE+-") == std::string::npos &&
           text.find_first_of("0123456789") != std::string::npos;
}

std::string Table::text() const {
    std::string result;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        result += (i == 0 ? "" : ",") + quoted(columns_[i], false);
    }
    result += "\r\n";
    for (const Row& row : rows_) {
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (i > 0) result += ',';
            const auto cell = row.find(columns_[i]);
            if (cell != row.end()) result += quoted(cell->second, reads_as_number(cell->second));
        }
        result += "\r\n";
    }
    return result;
}

std::string cell(double value) {
    return std::isfinite(value) ? exact_number(value) : std::string();
}

std::string cell(const Axis& axis, double value) {
    if (!std::isfinite(value)) return {};
    if (axis.scale == Scale::datetime) {
        std::string text = axis_time(axis, value);
        if (!text.empty()) return text;
    }
    for (std::size_t i = 0; i < axis.categories.size(); ++i) {
        if (axis.positions[i] == value) return axis.categories[i];
    }
    return exact_number(value);
}

// Which axis a numbers column is measured on; nullptr for plain numbers.
const Axis* axis_of(const Panel& panel, const Layer& layer, std::string_view name) {
    const auto is = [name](std::initializer_list<std::string_view> names) {
        for (const std::string_view known : names) {
            if (known == name) return true;
        }
        return false;
    };
    switch (layer.kind) {
        case Kind::bar:
        case Kind::stem:
            if (is({"pos"})) return &position_axis(panel, layer);
            return is({"base", "err_lo", "err_hi"}) ? &value_axis(panel, layer) : nullptr;
        case Kind::area:
        case Kind::band:
            if (is({"x"})) return &position_axis(panel, layer);
            return is({"lo", "hi"}) ? &value_axis(panel, layer) : nullptr;
        case Kind::hist:
            return nullptr;
        case Kind::gantt:
            if (is({"row"})) return &panel.y;
            return is({"start", "end"}) ? &panel.x : nullptr;
        case Kind::candlestick:
            return is({"t"}) ? &panel.x : nullptr;
        case Kind::box:
        case Kind::violin:
        case Kind::boxen:
            return is({"pos"}) ? &position_axis(panel, layer) : nullptr;
        default:
            if (is({"x", "x_lo", "x_hi"})) return &x_axis(panel, layer);
            return is({"y", "y_lo", "y_hi"}) ? &y_axis(panel, layer) : nullptr;
    }
}

void add_columns(Table& table, const Panel& panel, const Layer& layer, const Row& start) {
    std::size_t count = 0;
    for (const FieldRule& rule : fields_of(layer.kind)) {
        if (rule.length == Length::free) continue;
        count = std::max(
            {count, layer.data.numbers(rule.name).size(), layer.data.texts(rule.name).size()});
    }
    for (const FieldRule& rule : fields_of(layer.kind)) {
        if (!layer.data.numbers(rule.name).empty() || !layer.data.texts(rule.name).empty()) {
            if (rule.shape != Shape::colors) table.declare(std::string(rule.name));
        }
    }
    for (std::size_t i = 0; i < count; ++i) {
        Row row = start;
        for (const FieldRule& rule : fields_of(layer.kind)) {
            const Column& numbers = layer.data.numbers(rule.name);
            const auto& texts = layer.data.texts(rule.name);
            const std::string name(rule.name);
            if (rule.shape == Shape::colors || rule.length == Length::free) continue;
            if (i < numbers.size()) {
                const Axis* axis = axis_of(panel, layer, rule.name);
                row[name] = axis == nullptr ? cell(numbers[i]) : cell(*axis, numbers[i]);
            } else if (i < texts.size()) {
                row[name] = texts[i];
            }
        }
        const Column& category = layer.data.numbers("cat");
        const auto& names = position_axis(panel, layer).categories;
        if (i < category.size() && category[i] >= 0 &&
            category[i] < static_cast<double>(names.size())) {
            row["cat"] = names[static_cast<std::size_t>(category[i])];
        }
        table.add(std::move(row));
    }
}

void add_bins(Table& table, const Panel& panel, const Layer& layer, const Row& start) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    const Axis& axis = position_axis(panel, layer);
    for (const char* name : {"bin_start", "bin_end", "count"}) table.declare(name);
    for (std::size_t i = 0; i < count.size(); ++i) {
        Row row = start;
        row["bin_start"] = cell(axis, edges[i]);
        row["bin_end"] = cell(axis, edges[i + 1]);
        row["count"] = cell(count[i]);
        table.add(std::move(row));
    }
}

std::string edge_name(const Layer& layer, std::string_view cats, std::string_view edges,
                      const Axis& axis, std::size_t i) {
    const auto& names = layer.data.texts(cats);
    if (i < names.size()) return names[i];
    const Column& borders = layer.data.numbers(edges);
    if (i + 1 < borders.size()) return cell(axis, (borders[i] + borders[i + 1]) / 2);
    return std::to_string(i);
}

void add_grid(Table& table, const Panel& panel, const Layer& layer, const Row& start) {
    const Grid& grid = layer.data.grid("v");
    for (const char* name : {"x", "y", "v"}) table.declare(name);
    for (std::size_t row_index = 0; row_index < grid.rows; ++row_index) {
        for (std::size_t i = 0; i < grid.columns; ++i) {
            Row row = start;
            row["x"] = edge_name(layer, "x_cats", "x_edges", panel.x, i);
            row["y"] = edge_name(layer, "y_cats", "y_edges", panel.y, row_index);
            row["v"] = cell(grid.at(row_index, i));
            table.add(std::move(row));
        }
    }
}

void add_words(Table& table, const Layer& layer, const Row& start) {
    std::vector<std::string> columns = layer.data.texts("columns");
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].empty()) columns[i] = "column_" + std::to_string(i);
        table.declare(columns[i]);
    }
    for (const auto& words : layer.data.words("rows")) {
        Row row = start;
        for (std::size_t i = 0; i < words.size(); ++i) {
            row[columns[i]] = words[i];
        }
        table.add(std::move(row));
    }
}

}  // namespace

std::string to_csv(const Figure& figure) {
    Table table;
    for (const char* name : {"panel", "layer", "kind"}) table.declare(name);
    for (const Panel& panel : figure.panels) {
        for (const Layer& layer : panel.layers) {
            Row start{{"panel", panel.title.value_or(panel.id)},
                      {"layer", layer.label.value_or(layer.id)},
                      {"kind", std::string(to_string(layer.kind))}};
            if (layer.kind == Kind::hist) {
                add_bins(table, panel, layer, start);
            } else if (layer.kind == Kind::heatmap || layer.kind == Kind::hist2d) {
                add_grid(table, panel, layer, start);
            } else if (layer.kind == Kind::table) {
                add_words(table, layer, start);
            } else {
                add_columns(table, panel, layer, start);
            }
        }
    }
    return table.text();
}

}  // namespace cellblock::charts
