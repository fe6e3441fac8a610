// A layer's columns out of JSON, checked (see layer_data.h). Everything here is hostile input: no
// allocation goes by a number that the guest chose, only by what was really sent.
#include "charts/layer_data.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/base64.h"
#include "base/bytes.h"
#include "base/limits.h"
#include "charts/text.h"

namespace cellblock::charts {

namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();

tl::unexpected<Error> bad(std::string_view field, std::string_view why) {
    return fail(ErrorCode::guest_protocol,
                "chart data \"" + std::string(field) + "\" " + std::string(why));
}

template <typename T>
void unpack(const Bytes& bytes, Column& result) {
    static_assert(std::endian::native == std::endian::little);
    for (std::size_t i = 0; i + sizeof(T) <= bytes.size(); i += sizeof(T)) {
        T value;
        std::memcpy(&value, bytes.data() + i, sizeof(T));
        result.push_back(static_cast<double>(value));
    }
}

}  // namespace

// Reads the fields of one layer; counts every value against the layer's budget.
class DataParser {
  public:
    explicit DataParser(const Json& source) : source_(source) {}

    Result<LayerData> parse(Kind kind);

  private:
    Result<void> field(const FieldRule& rule, const Json& value);
    Result<void> simple(const FieldRule& rule, const Json& value);
    Result<void> row_length(const FieldRule& rule, std::size_t length);
    Result<void> spend(std::size_t count);
    Result<double> scalar(std::string_view name, const Json& value);
    Result<Column> column(std::string_view name, const Json& value);
    Result<Column> packed(std::string_view name, const Json& value);
    Result<std::vector<std::string>> texts(const FieldRule& rule, const Json& value);
    Result<std::vector<Column>> lists(std::string_view name, const Json& value);
    Result<Grid> grid(std::string_view name, const Json& value);
    Result<void> words(std::string_view name, const Json& value);
    Result<void> stack(const Json& value);
    Result<void> levels(const Json& value);
    Result<void> paths(const Json& value);
    Result<void> z_grid(const Json& value);
    Result<void> counts(const Json& value);

    const Json& source_;
    LayerData data_;
    std::optional<std::size_t> rows_;
};

Result<void> DataParser::spend(std::size_t count) {
    data_.values_ += count;
    if (data_.values_ > limits::chart_layer_values_max) {
        return fail(ErrorCode::too_large,
                    "a chart layer has more than " +
                        std::to_string(limits::chart_layer_values_max) + " values",
                    "Plot fewer points.");
    }
    return {};
}

Result<double> DataParser::scalar(std::string_view name, const Json& value) {
    if (value.is_number()) return value.get<double>();
    if (value.is_null()) return missing;
    if (value.is_string()) {
        const auto& word = value.get_ref<const std::string&>();
        if (word == "NaN") return missing;
        if (word == "inf") return std::numeric_limits<double>::infinity();
        if (word == "-inf") return -std::numeric_limits<double>::infinity();
    }
    return bad(name, "has a value that is no number");
}

Result<Column> DataParser::packed(std::string_view name, const Json& value) {
    const auto text = value.find("b64");
    const auto dtype = value.find("dtype");
    const auto count = value.find("n");
    if (text == value.end() || !text->is_string() || dtype == value.end() || !dtype->is_string() ||
        count == value.end() || !count->is_number_integer()) {
        return bad(name, "is neither a list nor {b64, dtype, n}");
    }
    const auto& encoded = text->get_ref<const std::string&>();
    auto bytes = base64_decode(encoded);
    if (!bytes) return bad(name, "is not valid base64");
    const auto& type = dtype->get_ref<const std::string&>();
    Column result;
    std::size_t size = 0;
    if (type == "f8") {
        size = 8;
        unpack<double>(*bytes, result);
    } else if (type == "f4") {
        size = 4;
        unpack<float>(*bytes, result);
    } else if (type == "i4") {
        size = 4;
        unpack<std::int32_t>(*bytes, result);
    } else if (type == "u1") {
        size = 1;
        unpack<std::uint8_t>(*bytes, result);
    } else {
        return bad(name, "has an unknown dtype");
    }
    if (bytes->size() % size != 0 ||
        std::cmp_not_equal(result.size(), count->get<std::int64_t>())) {
        return bad(name, "has not as many values as it says");
    }
    CB_TRY(spend(result.size()));
    return result;
}

Result<Column> DataParser::column(std::string_view name, const Json& value) {
    if (value.is_object()) return packed(name, value);
    if (!value.is_array()) return bad(name, "is not a list of numbers");
    CB_TRY(spend(value.size()));
    Column result;
    result.reserve(value.size());
    for (const Json& item : value) {
        CB_TRY_ASSIGN(number, scalar(name, item));
        result.push_back(number);
    }
    return result;
}

Result<std::vector<std::string>> DataParser::texts(const FieldRule& rule, const Json& value) {
    if (!value.is_array()) return bad(rule.name, "is not a list of strings");
    CB_TRY(spend(value.size()));
    std::vector<std::string> result;
    result.reserve(value.size());
    for (const Json& item : value) {
        if (!item.is_string() && !item.is_null())
            return bad(rule.name, "has a value that is no string");
        const std::string text = item.is_null() ? std::string() : item.get<std::string>();
        result.push_back(rule.shape == Shape::colors ? clean_color(text) : clean_text(text));
    }
    return result;
}

Result<std::vector<Column>> DataParser::lists(std::string_view name, const Json& value) {
    if (!value.is_array()) return bad(name, "is not a list of lists");
    CB_TRY(spend(value.size()));
    std::vector<Column> result;
    result.reserve(value.size());
    for (const Json& item : value) {
        CB_TRY_ASSIGN(inner, column(name, item));
        result.push_back(std::move(inner));
    }
    return result;
}

Result<Grid> DataParser::grid(std::string_view name, const Json& value) {
    CB_TRY_ASSIGN(rows, lists(name, value));
    Grid result;
    result.rows = rows.size();
    result.columns = rows.empty() ? 0 : rows.front().size();
    for (const Column& row : rows) {
        if (row.size() != result.columns) return bad(name, "has rows of unequal length");
        result.values.insert(result.values.end(), row.begin(), row.end());
    }
    if (result.values.empty()) return bad(name, "is empty");
    return result;
}

Result<void> DataParser::words(std::string_view name, const Json& value) {
    if (!value.is_array()) return bad(name, "is not a list of rows");
    std::vector<std::vector<std::string>> rows;
    const FieldRule rule{name, Shape::texts};
    for (const Json& item : value) {
        CB_TRY_ASSIGN(row, texts(rule, item));
        if (!rows.empty() && row.size() != rows.front().size()) {
            return bad(name, "has rows of unequal length");
        }
        rows.push_back(std::move(row));
    }
    data_.words_.emplace(name, std::move(rows));
    return {};
}

Result<void> DataParser::stack(const Json& value) {
    Stack result;
    if (value.is_string()) {
        result.group = clean_word(value.get<std::string>());
    } else if (value.is_object()) {
        CB_TRY_ASSIGN(group, required_string(value, "group"));
        CB_TRY_ASSIGN(order, optional_number(value, "order"));
        CB_TRY_ASSIGN(normalize, optional_boolean(value, "normalize"));
        result.group = clean_word(group);
        result.order = order;
        result.normalize = normalize.value_or(false);
    } else {
        return bad("stack", "is neither a name nor an object");
    }
    data_.stack_ = std::move(result);
    return {};
}

Result<void> DataParser::levels(const Json& value) {
    if (!value.is_array()) return bad("levels", "is not a list");
    std::vector<Column> low, high;
    for (const Json& box : value) {
        CB_TRY_ASSIGN(pairs, lists("levels", box));
        Column ends[2];
        for (const Column& pair : pairs) {
            if (pair.size() != 2) return bad("levels", "has an entry that is no [lo, hi]");
            ends[0].push_back(pair[0]);
            ends[1].push_back(pair[1]);
        }
        low.push_back(std::move(ends[0]));
        high.push_back(std::move(ends[1]));
    }
    CB_TRY(row_length({"levels", Shape::lists}, low.size()));
    data_.lists_.emplace("levels_lo", std::move(low));
    data_.lists_.emplace("levels_hi", std::move(high));
    return {};
}

Result<void> DataParser::paths(const Json& value) {
    if (!value.is_array()) return bad("paths", "is not a list");
    CB_TRY(spend(value.size()));
    Column level;
    std::vector<Column> x, y;
    for (const Json& path : value) {
        if (!path.is_object() || !path.contains("level") || !path.contains("pts")) {
            return bad("paths", "has an entry without level and pts");
        }
        CB_TRY_ASSIGN(at, scalar("level", path["level"]));
        CB_TRY_ASSIGN(points, lists("pts", path["pts"]));
        Column path_x, path_y;
        for (const Column& point : points) {
            if (point.size() != 2) return bad("pts", "has a point that is no [x, y]");
            path_x.push_back(point[0]);
            path_y.push_back(point[1]);
        }
        level.push_back(at);
        x.push_back(std::move(path_x));
        y.push_back(std::move(path_y));
    }
    data_.numbers_.emplace("path_level", std::move(level));
    data_.lists_.emplace("path_x", std::move(x));
    data_.lists_.emplace("path_y", std::move(y));
    return {};
}

Result<void> DataParser::z_grid(const Json& value) {
    if (!value.is_object() || !value.contains("x") || !value.contains("y") ||
        !value.contains("v")) {
        return bad("z", "is not {x, y, v}");
    }
    CB_TRY_ASSIGN(x, column("z.x", value["x"]));
    CB_TRY_ASSIGN(y, column("z.y", value["y"]));
    CB_TRY_ASSIGN(v, grid("z.v", value["v"]));
    if (x.size() != v.columns || y.size() != v.rows) return bad("z", "does not fit its axes");
    data_.numbers_.emplace("z_x", std::move(x));
    data_.numbers_.emplace("z_y", std::move(y));
    data_.grids_.emplace("z", std::move(v));
    return {};
}

Result<void> DataParser::counts(const Json& value) {
    if (!value.is_object()) return bad("artists", "is not an object of counts");
    CB_TRY(spend(value.size() * 2));
    std::vector<std::string> names;
    Column numbers;
    for (const auto& [name, count] : value.items()) {
        CB_TRY_ASSIGN(number, scalar("artists", count));
        names.push_back(clean_text(name));
        numbers.push_back(number);
    }
    data_.texts_.emplace("artists", std::move(names));
    data_.numbers_.emplace("artist_counts", std::move(numbers));
    return {};
}

Result<void> DataParser::row_length(const FieldRule& rule, std::size_t length) {
    if (rule.length == Length::free) return {};
    if (!rows_) rows_ = length;
    if (*rows_ == length) return {};
    return bad(rule.name, "has " + std::to_string(length) +
                              " values where the other columns have " + std::to_string(*rows_));
}

Result<void> DataParser::field(const FieldRule& rule, const Json& value) {
    switch (rule.shape) {
        case Shape::numbers: {
            CB_TRY_ASSIGN(result, column(rule.name, value));
            CB_TRY(row_length(rule, result.size()));
            data_.numbers_.emplace(rule.name, std::move(result));
            return {};
        }
        case Shape::texts:
        case Shape::colors: {
            CB_TRY_ASSIGN(result, texts(rule, value));
            CB_TRY(row_length(rule, result.size()));
            data_.texts_.emplace(rule.name, std::move(result));
            return {};
        }
        case Shape::lists: {
            CB_TRY_ASSIGN(result, lists(rule.name, value));
            CB_TRY(row_length(rule, result.size()));
            data_.lists_.emplace(rule.name, std::move(result));
            return {};
        }
        case Shape::grid: {
            CB_TRY_ASSIGN(result, grid(rule.name, value));
            data_.grids_.emplace(rule.name, std::move(result));
            return {};
        }
        case Shape::words:
            return words(rule.name, value);
        case Shape::stack:
            return stack(value);
        case Shape::levels:
            return levels(value);
        case Shape::paths:
            return paths(value);
        case Shape::z_grid:
            return z_grid(value);
        case Shape::counts:
            return counts(value);
        default:
            return simple(rule, value);
    }
}

Result<void> DataParser::simple(const FieldRule& rule, const Json& value) {
    if (rule.shape == Shape::number) {
        CB_TRY_ASSIGN(result, scalar(rule.name, value));
        if (std::isfinite(result)) data_.number_.emplace(rule.name, result);
    } else if (rule.shape == Shape::flag) {
        if (!value.is_boolean()) return bad(rule.name, "is no boolean");
        data_.flags_.emplace(rule.name, value.get<bool>());
    } else {
        if (!value.is_string()) return bad(rule.name, "is no string");
        data_.word_.emplace(rule.name, clean_word(value.get<std::string>()));
    }
    return {};
}

Result<LayerData> DataParser::parse(Kind kind) {
    if (!source_.is_object()) return bad("data", "is not an object");
    for (const FieldRule& rule : fields_of(kind)) {
        const auto found = source_.find(rule.name);
        if (found == source_.end() || found->is_null()) {
            if (rule.need == Need::required) return bad(rule.name, "is missing");
            continue;
        }
        CB_TRY(field(rule, *found));
    }
    CB_TRY(check_layer_data(kind, data_));
    return std::move(data_);
}

Result<LayerData> parse_layer_data(Kind kind, const Json& data) {
    return DataParser(data).parse(kind);
}

}  // namespace cellblock::charts
