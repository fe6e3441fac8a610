// Fields of the guest's JSON (see json_fields.h).
#include "charts/json_fields.h"

#include "base/limits.h"
#include "charts/text.h"

namespace cellblock::charts {

const Json* find(const Json& object, const char* name) {
    if (!object.is_object()) return nullptr;
    const auto found = object.find(name);
    return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::optional<std::string> text_of(const Json& object, const char* name) {
    const Json* value = find(object, name);
    if (value == nullptr || !value->is_string()) return std::nullopt;
    std::string text = clean_text(value->get_ref<const std::string&>());
    if (text.empty()) return std::nullopt;
    return text;
}

std::string word_of(const Json& object, const char* name) {
    const Json* value = find(object, name);
    return value != nullptr && value->is_string() ? clean_word(value->get_ref<const std::string&>())
                                                  : std::string();
}

std::string color_of(const Json& object) {
    const Json* value = find(object, "color");
    return value != nullptr && value->is_string()
               ? clean_color(value->get_ref<const std::string&>())
               : std::string();
}

std::optional<double> number_of(const Json& object, const char* name) {
    const Json* value = find(object, name);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    const double number = value->get<double>();
    return std::isfinite(number) ? std::optional(number) : std::nullopt;
}

bool flag_of(const Json& object, const char* name) {
    const Json* value = find(object, name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
}

std::optional<std::uint64_t> count_of(const Json& object, const char* name) {
    const auto number = number_of(object, name);
    if (!number || *number < 0 || *number > 9e15) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
}

std::vector<std::string> texts_of(const Json& object, const char* name) {
    std::vector<std::string> result;
    const Json* value = find(object, name);
    if (value == nullptr || !value->is_array()) return result;
    for (const Json& item : *value) {
        if (result.size() >= limits::chart_list_max) break;
        result.push_back(item.is_string() ? clean_text(item.get_ref<const std::string&>())
                                          : std::string());
    }
    return result;
}

std::vector<double> list_of(const Json& object, const char* name) {
    std::vector<double> result;
    const Json* value = find(object, name);
    if (value == nullptr || !value->is_array()) return result;
    for (const Json& item : *value) {
        if (result.size() >= limits::chart_list_max) break;
        result.push_back(item.is_number() ? item.get<double>() : std::nan(""));
    }
    return result;
}

std::map<std::string, std::string> pairs_of(const Json& object, const char* name) {
    std::map<std::string, std::string> result;
    const Json* value = find(object, name);
    if (value == nullptr || !value->is_object()) return result;
    for (const auto& [key, item] : value->items()) {
        if (result.size() >= 16) break;
        if (item.is_string()) {
            result.emplace(clean_text(key), clean_text(item.get_ref<const std::string&>()));
        }
    }
    return result;
}

}  // namespace cellblock::charts
