#include "base/json.h"

#include <utility>

namespace cellblock {
namespace {

// Counts nesting without building anything, so that a deep document is refused before it is built.
bool deeper_than(std::string_view text, std::size_t max_depth) {
    std::size_t depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (in_string) {
            if (c == '\\') {
                ++i;
            } else if (c == '"') {
                in_string = false;
            }
        } else if (c == '"') {
            in_string = true;
        } else if (c == '[' || c == '{') {
            if (++depth > max_depth) return true;
        } else if ((c == ']' || c == '}') && depth > 0) {
            --depth;
        }
    }
    return false;
}

Error wrong_type(std::string_view field, std::string_view expected, const Json& value) {
    return Error(ErrorCode::invalid_argument, "field '" + std::string(field) + "' must be " +
                                                  std::string(expected) + ", not " +
                                                  value.type_name());
}

const Json* find(const Json& object, std::string_view field) {
    if (!object.is_object()) return nullptr;
    const auto at = object.find(field);
    return at == object.end() || at->is_null() ? nullptr : &*at;
}

template <typename T>
Result<T> require(Result<std::optional<T>> value, std::string_view field) {
    if (!value) return fail(std::move(value).error());
    if (!*value) {
        return fail(ErrorCode::invalid_argument, "field '" + std::string(field) + "' is missing");
    }
    return std::move(**value);
}

}  // namespace

Result<Json> parse_json(std::string_view text, JsonLimits limits, std::string_view what) {
    if (text.size() > limits.max_bytes) {
        return fail(ErrorCode::too_large,
                    std::string(what) + " has " + std::to_string(text.size()) +
                        " bytes; the limit is " + std::to_string(limits.max_bytes));
    }
    if (deeper_than(text, limits.max_depth)) {
        return fail(ErrorCode::invalid_argument, std::string(what) + " is nested deeper than " +
                                                     std::to_string(limits.max_depth) + " levels");
    }
    try {
        return Json::parse(text);
    } catch (const Json::parse_error& error) {
        return fail(
            ErrorCode::invalid_argument,
            std::string(what) + " is not JSON: error at byte " + std::to_string(error.byte));
    } catch (const Json::exception&) {  // a number out of range and the like
        return fail(ErrorCode::invalid_argument, std::string(what) + " is not JSON");
    }
}

std::string dump_ascii(const Json& value) {
    return value.dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<std::optional<std::string>> optional_string(const Json& object, std::string_view field) {
    const Json* value = find(object, field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) return fail(wrong_type(field, "a string", *value));
    return value->get<std::string>();
}

Result<std::optional<std::int64_t>> optional_integer(const Json& object, std::string_view field) {
    const Json* value = find(object, field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_integer()) return fail(wrong_type(field, "an integer", *value));
    if (value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX) {
        return fail(ErrorCode::invalid_argument, "field '" + std::string(field) + "' is too large");
    }
    return value->get<std::int64_t>();
}

Result<std::optional<double>> optional_number(const Json& object, std::string_view field) {
    const Json* value = find(object, field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) return fail(wrong_type(field, "a number", *value));
    return value->get<double>();
}

Result<std::optional<bool>> optional_boolean(const Json& object, std::string_view field) {
    const Json* value = find(object, field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) return fail(wrong_type(field, "true or false", *value));
    return value->get<bool>();
}

Result<std::string> required_string(const Json& object, std::string_view field) {
    return require(optional_string(object, field), field);
}

Result<std::int64_t> required_integer(const Json& object, std::string_view field) {
    return require(optional_integer(object, field), field);
}

Result<std::uint64_t> required_count(const Json& object, std::string_view field) {
    CB_TRY_ASSIGN(value, required_integer(object, field));
    if (value >= 0) return static_cast<std::uint64_t>(value);
    return fail(ErrorCode::invalid_argument,
                "field '" + std::string(field) + "' must not be negative");
}

}  // namespace cellblock
