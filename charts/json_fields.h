// Lenient reading of fields in the guest's JSON: what has the wrong type is as if it were not
// there. Only lengths, counts and a layer's data are worth an error; a missing label is not.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace cellblock::charts {

// The field, or nullptr when it is absent or null, or `object` is no object.
const Json* find(const Json& object, const char* name);
// Cleaned text (charts/text.h); nothing for an empty one.
std::optional<std::string> text_of(const Json& object, const char* name);
std::string word_of(const Json& object, const char* name);
std::string color_of(const Json& object);
// Finite numbers only.
std::optional<double> number_of(const Json& object, const char* name);
std::optional<std::uint64_t> count_of(const Json& object, const char* name);
bool flag_of(const Json& object, const char* name);
// Up to limits::chart_list_max items; an item of the wrong type keeps its place (empty, NaN), so
// that two lists stay side by side.
std::vector<std::string> texts_of(const Json& object, const char* name);
std::vector<double> list_of(const Json& object, const char* name);
std::map<std::string, std::string> pairs_of(const Json& object, const char* name);

template <std::size_t N>
std::optional<std::array<double, N>> numbers_of(const Json* value) {
    if (value == nullptr || !value->is_array() || value->size() != N) return std::nullopt;
    std::array<double, N> result{};
    for (std::size_t i = 0; i < N; ++i) {
        if (!(*value)[i].is_number()) return std::nullopt;
        result[i] = (*value)[i].template get<double>();
        if (!std::isfinite(result[i])) return std::nullopt;
    }
    return result;
}

template <std::size_t N>
std::optional<std::array<double, N>> numbers_of(const Json& object, const char* name) {
    return numbers_of<N>(find(object, name));
}

}  // namespace cellblock::charts
