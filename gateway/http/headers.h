// HTTP header fields: names compare without case, order and duplicates are kept.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cellblock::gateway::http {

inline char ascii_lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
inline bool equal_ignoring_case(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return ascii_lower(x) == ascii_lower(y); });
}
inline std::string to_lower(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(), ascii_lower);
    return lower;
}
// Without the spaces and tabs at both ends.
inline std::string_view trim(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

class Headers {
  public:
    using Item = std::pair<std::string, std::string>;

    void add(std::string_view name, std::string_view value) { items_.emplace_back(name, value); }
    // Replaces every field of that name.
    void set(std::string_view name, std::string_view value) {
        remove(name);
        add(name, value);
    }
    void remove(std::string_view name) {
        std::erase_if(items_, [name](const Item& i) { return equal_ignoring_case(i.first, name); });
    }
    // The first field of that name.
    std::optional<std::string_view> get(std::string_view name) const {
        for (const Item& item : items_) {
            if (equal_ignoring_case(item.first, name)) return item.second;
        }
        return std::nullopt;
    }
    bool has(std::string_view name) const { return get(name).has_value(); }
    // Whether the comma-separated list of that name holds `token` (Connection, Accept, ...).
    bool lists(std::string_view name, std::string_view token) const {
        for (const Item& item : items_) {
            if (!equal_ignoring_case(item.first, name)) continue;
            std::string_view rest = item.second;
            while (!rest.empty()) {
                const std::size_t comma = rest.find(',');
                if (equal_ignoring_case(trim(rest.substr(0, comma)), token)) return true;
                rest =
                    comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
            }
        }
        return false;
    }
    const std::vector<Item>& items() const { return items_; }

  private:
    std::vector<Item> items_;
};

}  // namespace cellblock::gateway::http
