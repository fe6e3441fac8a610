// Figure -> rows of text cells (see rows.h). Two passes over the layers: the first names the
// columns, the second fills one row after the other.
#include "charts/rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "charts/text.h"

namespace cellblock::charts {

namespace {

using Visit = std::function<void(const std::vector<std::string>&)>;

// The columns by name, and the row that is being filled.
class Table {
  public:
    explicit Table(std::vector<std::string>& columns) : columns_(columns) {
        for (std::size_t i = 0; i < columns_.size(); ++i) places_.emplace(columns_[i], i);
    }
    void declare(std::string name) {
        if (places_.emplace(name, columns_.size()).second) columns_.push_back(std::move(name));
    }
    // The first pass only declares.
    bool fills() const { return visit_ != nullptr; }
    void fill(const Visit& visit) {
        visit_ = &visit;
        cells_.assign(columns_.size(), {});
    }
    void begin_layer(const Panel& panel, const Layer& layer) {
        layer_cells_ = {panel.title.value_or(panel.id), layer.label.value_or(layer.id),
                        std::string(to_string(layer.kind))};
    }
    void put(std::string_view name, std::string cell) {
        cells_[places_.find(name)->second] = std::move(cell);
    }
    void end_row() {
        std::copy(layer_cells_.begin(), layer_cells_.end(), cells_.begin());
        (*visit_)(cells_);
        for (std::string& cell : cells_) cell.clear();
    }

  private:
    std::vector<std::string>& columns_;
    std::map<std::string, std::size_t, std::less<>> places_;
    const Visit* visit_ = nullptr;
    std::vector<std::string> cells_;
    std::vector<std::string> layer_cells_;  // panel, layer, kind
};

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

void add_columns(Table& table, const Panel& panel, const Layer& layer) {
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
    if (!table.fills()) return;
    for (std::size_t i = 0; i < count; ++i) {
        for (const FieldRule& rule : fields_of(layer.kind)) {
            const Column& numbers = layer.data.numbers(rule.name);
            const auto& texts = layer.data.texts(rule.name);
            if (rule.shape == Shape::colors || rule.length == Length::free) continue;
            if (i < numbers.size()) {
                const Axis* axis = axis_of(panel, layer, rule.name);
                table.put(rule.name, axis == nullptr ? cell(numbers[i]) : cell(*axis, numbers[i]));
            } else if (i < texts.size()) {
                table.put(rule.name, texts[i]);
            }
        }
        const Column& category = layer.data.numbers("cat");
        const auto& names = position_axis(panel, layer).categories;
        if (i < category.size() && category[i] >= 0 &&
            category[i] < static_cast<double>(names.size())) {
            table.put("cat", names[static_cast<std::size_t>(category[i])]);
        }
        table.end_row();
    }
}

void add_bins(Table& table, const Panel& panel, const Layer& layer) {
    const Column& edges = layer.data.numbers("edges");
    const Column& count = layer.data.numbers("count");
    const Axis& axis = position_axis(panel, layer);
    for (const char* name : {"bin_start", "bin_end", "count"}) table.declare(name);
    if (!table.fills()) return;
    for (std::size_t i = 0; i < count.size(); ++i) {
        table.put("bin_start", cell(axis, edges[i]));
        table.put("bin_end", cell(axis, edges[i + 1]));
        table.put("count", cell(count[i]));
        table.end_row();
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

void add_grid(Table& table, const Panel& panel, const Layer& layer) {
    const Grid& grid = layer.data.grid("v");
    for (const char* name : {"x", "y", "v"}) table.declare(name);
    if (!table.fills()) return;
    for (std::size_t row_index = 0; row_index < grid.rows; ++row_index) {
        for (std::size_t i = 0; i < grid.columns; ++i) {
            table.put("x", edge_name(layer, "x_cats", "x_edges", panel.x, i));
            table.put("y", edge_name(layer, "y_cats", "y_edges", panel.y, row_index));
            table.put("v", cell(grid.at(row_index, i)));
            table.end_row();
        }
    }
}

void add_words(Table& table, const Layer& layer) {
    std::vector<std::string> columns = layer.data.texts("columns");
    std::set<std::string> taken{"panel", "layer", "kind"};
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::string& name = columns[i];
        if (name.empty()) name = "column_" + std::to_string(i);
        // Two cells of a row never share a column, and ours come first.
        while (!taken.insert(name).second) name += "_";
        table.declare(name);
    }
    if (!table.fills()) return;
    for (const auto& words : layer.data.words("rows")) {
        for (std::size_t i = 0; i < words.size(); ++i) {
            table.put(columns[i], words[i]);
        }
        table.end_row();
    }
}

void add_layer(Table& table, const Panel& panel, const Layer& layer) {
    table.begin_layer(panel, layer);
    if (layer.kind == Kind::hist) {
        add_bins(table, panel, layer);
    } else if (layer.kind == Kind::heatmap || layer.kind == Kind::hist2d) {
        add_grid(table, panel, layer);
    } else if (layer.kind == Kind::table) {
        add_words(table, layer);
    } else {
        add_columns(table, panel, layer);
    }
}

}  // namespace

DataRows::DataRows(const Figure& figure) : figure_(figure), columns_{"panel", "layer", "kind"} {
    Table table(columns_);
    for (const Panel& panel : figure.panels) {
        for (const Layer& layer : panel.layers) add_layer(table, panel, layer);
    }
}

void DataRows::for_each(const Visit& visit) const {
    std::vector<std::string> columns = columns_;
    Table table(columns);
    table.fill(visit);
    for (const Panel& panel : figure_.panels) {
        for (const Layer& layer : panel.layers) add_layer(table, panel, layer);
    }
}

bool reads_as_number(const std::string& cell) {
    return !cell.empty() && cell.find_first_not_of("0123456789.eE+-") == std::string::npos &&
           cell.find_first_of("0123456789") != std::string::npos;
}

}  // namespace cellblock::charts
