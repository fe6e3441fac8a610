// A layer's columns: access, the checks that one table of columns cannot say, and the way back to
// JSON (see layer_data.h).
#include "charts/layer_data.h"

#include <algorithm>
#include <cmath>

namespace cellblock::charts {

namespace {

tl::unexpected<Error> bad(std::string_view field, std::string_view why) {
    return fail(ErrorCode::guest_protocol,
                "chart data \"" + std::string(field) + "\" " + std::string(why));
}

bool rises(const Column& edges) {
    return std::adjacent_find(edges.begin(), edges.end(), [](double left, double right) {
               return !(left < right);
           }) == edges.end();
}

Result<void> check_edges(const LayerData& data, std::string_view name, std::size_t cells) {
    const Column& edges = data.numbers(name);
    if (edges.empty()) return {};
    if (edges.size() != cells + 1)
        return bad(name, "must have one value more than there are cells");
    if (!rises(edges)) return bad(name, "must rise");
    return {};
}

template <typename Map, typename Value>
const Value& lookup(const Map& map, std::string_view name, const Value& fallback) {
    const auto found = map.find(name);
    return found == map.end() ? fallback : found->second;
}

// Error bars and the like have two ends or none: writers read both by one index.
Result<void> check_pairs(Kind kind, const LayerData& data) {
    for (const FieldRule& rule : fields_of(kind)) {
        if (rule.shape != Shape::numbers || !rule.name.ends_with("_lo")) continue;
        const std::string other = std::string(rule.name.substr(0, rule.name.size() - 2)) + "hi";
        if (data.numbers(rule.name).size() != data.numbers(other).size()) {
            return bad(rule.name, "must be as long as " + other);
        }
    }
    return {};
}

}  // namespace

Result<void> check_layer_data(Kind kind, const LayerData& data) {
    CB_TRY(check_pairs(kind, data));
    if (kind == Kind::hist) {
        const std::size_t bins = data.numbers("count").size();
        if (bins > 0 && data.numbers("edges").empty()) return bad("edges", "must border every bin");
        return check_edges(data, "edges", bins);
    }
    if (kind == Kind::heatmap || kind == Kind::hist2d) {
        const Grid& v = data.grid("v");
        CB_TRY(check_edges(data, "x_edges", v.columns));
        CB_TRY(check_edges(data, "y_edges", v.rows));
        if (!data.texts("x_cats").empty() && data.texts("x_cats").size() != v.columns) {
            return bad("x_cats", "must name every column");
        }
        if (!data.texts("y_cats").empty() && data.texts("y_cats").size() != v.rows) {
            return bad("y_cats", "must name every row");
        }
        const auto& words = data.words("text");
        if (!words.empty() && (words.size() != v.rows || words.front().size() != v.columns)) {
            return bad("text", "must have the grid's size");
        }
    }
    if (kind == Kind::violin) {
        for (std::size_t i = 0; i < data.lists("coords").size(); ++i) {
            const std::size_t size = data.lists("coords")[i].size();
            if (data.lists("half_lo")[i].size() != size ||
                data.lists("half_hi")[i].size() != size) {
                return bad("coords", "must be as long as half_lo and half_hi");
            }
        }
    }
    if (kind == Kind::pie) {
        double sum = 0;
        for (const double part : data.numbers("frac")) {
            if (!(part >= 0)) return bad("frac", "must not be negative or missing");
            sum += part;
        }
        if (sum > 1.000001) return bad("frac", "adds up to more than 1");
    }
    if (kind == Kind::table && !data.words("rows").empty() &&
        data.words("rows").front().size() != data.texts("columns").size()) {
        return bad("rows", "must be as wide as columns");
    }
    if (kind == Kind::surface && data.has("z")) {
        const Grid& z = data.grid("z");
        if (data.grid("x").rows != z.rows || data.grid("y").rows != z.rows ||
            data.grid("x").columns != z.columns || data.grid("y").columns != z.columns) {
            return bad("z", "must have the size of x and y");
        }
    }
    return {};
}

const Column& LayerData::numbers(std::string_view name) const {
    static const Column none;
    return lookup(numbers_, name, none);
}
const std::vector<std::string>& LayerData::texts(std::string_view name) const {
    static const std::vector<std::string> none;
    return lookup(texts_, name, none);
}
const std::vector<Column>& LayerData::lists(std::string_view name) const {
    static const std::vector<Column> none;
    return lookup(lists_, name, none);
}
const Grid& LayerData::grid(std::string_view name) const {
    static const Grid none;
    return lookup(grids_, name, none);
}
const std::vector<std::vector<std::string>>& LayerData::words(std::string_view name) const {
    static const std::vector<std::vector<std::string>> none;
    return lookup(words_, name, none);
}
std::optional<double> LayerData::number(std::string_view name) const {
    const auto found = number_.find(name);
    return found == number_.end() ? std::nullopt : std::optional(found->second);
}
bool LayerData::flag(std::string_view name) const {
    return lookup(flags_, name, false);
}
std::string LayerData::word(std::string_view name) const {
    return lookup(word_, name, std::string());
}
bool LayerData::has(std::string_view name) const {
    return numbers_.contains(name) || texts_.contains(name) || lists_.contains(name) ||
           grids_.contains(name) || words_.contains(name) || number_.contains(name);
}

namespace {

Json number_json(double value) {
    if (std::isnan(value)) return nullptr;
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json rows_json(const Grid& grid) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < grid.rows; ++row) {
        Json line = Json::array();
        for (std::size_t i = 0; i < grid.columns; ++i) line.push_back(number_json(grid.at(row, i)));
        rows.push_back(std::move(line));
    }
    return rows;
}

Json lists_json(const std::vector<Column>& lists) {
    Json result = Json::array();
    for (const Column& list : lists) result.push_back(column_json(list));
    return result;
}

Json pairs_json(const Column& first, const Column& second) {
    Json result = Json::array();
    for (std::size_t i = 0; i < first.size() && i < second.size(); ++i) {
        result.push_back(Json::array({number_json(first[i]), number_json(second[i])}));
    }
    return result;
}

Json paths_json(const LayerData& data) {
    Json result = Json::array();
    const Column& level = data.numbers("path_level");
    for (std::size_t i = 0; i < level.size(); ++i) {
        result.push_back({{"level", number_json(level[i])},
                          {"pts", pairs_json(data.lists("path_x")[i], data.lists("path_y")[i])}});
    }
    return result;
}

Json field_json(const LayerData& data, const FieldRule& rule) {
    switch (rule.shape) {
        case Shape::numbers:
            return data.has(rule.name) ? column_json(data.numbers(rule.name)) : Json();
        case Shape::texts:
        case Shape::colors:
            return data.has(rule.name) ? Json(data.texts(rule.name)) : Json();
        case Shape::lists:
            return data.has(rule.name) ? lists_json(data.lists(rule.name)) : Json();
        case Shape::grid:
            return data.has(rule.name) ? rows_json(data.grid(rule.name)) : Json();
        case Shape::words:
            return data.has(rule.name) ? Json(data.words(rule.name)) : Json();
        case Shape::number: {
            const auto value = data.number(rule.name);
            return value ? Json(*value) : Json();
        }
        case Shape::flag:
            return Json(data.flag(rule.name));
        case Shape::word: {
            const std::string value = data.word(rule.name);
            return value.empty() ? Json() : Json(value);
        }
        case Shape::stack: {
            const auto& stack = data.stack();
            if (!stack) return {};
            if (!stack->order) return stack->group;
            return {
                {"group", stack->group}, {"order", *stack->order}, {"normalize", stack->normalize}};
        }
        case Shape::levels: {
            Json result = Json::array();
            const auto& low = data.lists("levels_lo");
            for (std::size_t i = 0; i < low.size(); ++i) {
                result.push_back(pairs_json(low[i], data.lists("levels_hi")[i]));
            }
            return result;
        }
        case Shape::paths:
            return data.has("path_level") ? paths_json(data) : Json();
        case Shape::z_grid:
            if (!data.has("z")) return {};
            return {{"x", column_json(data.numbers("z_x"))},
                    {"y", column_json(data.numbers("z_y"))},
                    {"v", rows_json(data.grid("z"))}};
        case Shape::counts: {
            Json result = Json::object();
            const auto& artists = data.texts("artists");
            for (std::size_t i = 0; i < artists.size(); ++i) {
                result[artists[i]] = number_json(data.numbers("artist_counts")[i]);
            }
            return result;
        }
    }
    return {};
}

}  // namespace

Json column_json(const Column& column) {
    Json result = Json::array();
    for (const double value : column) result.push_back(number_json(value));
    return result;
}

Json to_json(const LayerData& data, Kind kind) {
    Json result = Json::object();
    for (const FieldRule& rule : fields_of(kind)) {
        Json value = field_json(data, rule);
        if (!value.is_null()) result[std::string(rule.name)] = std::move(value);
    }
    return result;
}

}  // namespace cellblock::charts
