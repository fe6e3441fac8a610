#include "gateway/config/config.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <numeric>

#include <toml++/toml.h>

#include "base/files.h"
#include "gateway/config/kernel_gateway.h"

namespace cellblock::gateway::config {
namespace {

constexpr std::size_t file_max_bytes = 1024 * 1024;

std::filesystem::path user_directory(const char* xdg, const char* below_home, const char* of_root) {
    if (const char* set = std::getenv(xdg); set != nullptr && set[0] == '/') {
        return std::filesystem::path(set) / "cellblock";
    }
    const char* home = std::getenv("HOME");
    if (::geteuid() == 0 || home == nullptr || home[0] != '/') return of_root;
    return std::filesystem::path(home) / below_home / "cellblock";
}

// Levenshtein's distance.
std::size_t distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t k = 0; k < b.size(); ++k) {
            const std::size_t replaced = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({replaced, row[k] + 1, row[k + 1] + 1});
        }
    }
    return row.back();
}

std::string nearest_key(std::string_view name) {
    const Key* best = nullptr;
    std::size_t best_distance = name.size() / 2 + 2;
    for (const Key& key : keys()) {
        const std::size_t d = distance(name, key.name);
        if (d < best_distance) {
            best = &key;
            best_distance = d;
        }
    }
    if (best == nullptr) return "cellblock.toml in the documentation lists all keys";
    return "did you mean \"" + std::string(best->name) + "\"?";
}

tl::unexpected<Error> bad_value(std::string_view source, const std::string& wanted) {
    return fail(ErrorCode::invalid_argument, std::string(source) + ": " + wanted);
}

Result<void> set_string(Config& config, const Key& key, std::string value,
                        std::string_view source) {
    if (!key.choices.empty() &&
        std::find(key.choices.begin(), key.choices.end(), value) == key.choices.end()) {
        std::string wanted = "\"" + value + "\" is not one of";
        for (const std::string_view choice : key.choices) wanted += " " + std::string(choice);
        return bad_value(source, wanted);
    }
    config.*std::get<std::string Config::*>(key.member) = std::move(value);
    return {};
}

Result<void> set_integer(Config& config, const Key& key, std::int64_t value,
                         std::string_view source) {
    if (value < key.min || value > key.max) {
        return bad_value(source, std::to_string(value) + " is not between " +
                                     std::to_string(key.min) + " and " + std::to_string(key.max));
    }
    config.*std::get<std::int64_t Config::*>(key.member) = value;
    return {};
}

std::vector<std::string> split_list(std::string_view text) {
    std::vector<std::string> items;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        std::string_view item = text.substr(0, comma);
        text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
        while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
        while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
        if (!item.empty()) items.emplace_back(item);
    }
    return items;
}

Result<void> set_from_node(Config& config, const Key& key, const toml::node& node,
                           const std::string& place) {
    if (std::holds_alternative<std::int64_t Config::*>(key.member)) {
        if (!node.is_integer()) return bad_value(place, std::string(key.name) + " takes a number");
        return set_integer(config, key, node.as_integer()->get(), place);
    }
    if (std::holds_alternative<std::string Config::*>(key.member)) {
        if (!node.is_string()) {
            return bad_value(place, std::string(key.name) + " takes a text in quotes");
        }
        return set_string(config, key, node.as_string()->get(), place);
    }
    std::vector<std::string> items;
    const toml::array* list = node.as_array();
    if (list == nullptr) return bad_value(place, std::string(key.name) + " takes a list of texts");
    for (const toml::node& item : *list) {
        if (!item.is_string()) {
            return bad_value(place, std::string(key.name) + " takes a list of texts");
        }
        items.push_back(item.as_string()->get());
    }
    config.*std::get<std::vector<std::string> Config::*>(key.member) = std::move(items);
    return {};
}

Result<void> apply_own(Config& config, const std::function<const char*(const char*)>& environment,
                       const std::vector<Flag>& flags) {
    for (const Key& key : keys()) {
        const std::string name = key.environment_name();
        if (const char* value = environment(name.c_str()); value != nullptr) {
            CB_TRY(set_from_text(config, key, value, name));
        }
    }
    for (const Flag& flag : flags) {
        CB_TRY(set_from_text(config, *flag.key, flag.value, flag.key->flag_name()));
    }
    return {};
}

}  // namespace

std::filesystem::path Config::state_directory() const {
    if (!state_dir.empty()) return state_dir;
    return user_directory("XDG_STATE_HOME", ".local/state", "/var/lib/cellblock");
}
std::filesystem::path Config::cache_directory() const {
    if (!cache_dir.empty()) return cache_dir;
    return user_directory("XDG_CACHE_HOME", ".cache", "/var/cache/cellblock");
}
std::filesystem::path Config::token_path() const {
    return token_file.empty() ? state_directory() / "token" : std::filesystem::path(token_file);
}

std::string Key::environment_name() const {
    std::string text = "CELLBLOCK_";
    for (const char c : name) {
        text += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    return text;
}
std::string Key::flag_name() const {
    std::string text = "--" + std::string(name);
    std::replace(text.begin() + 2, text.end(), '_', '-');
    return text;
}

std::string value_text(const Config& config, const Key& key) {
    if (const auto* integer = std::get_if<std::int64_t Config::*>(&key.member)) {
        return std::to_string(config.**integer);
    }
    if (const auto* text = std::get_if<std::string Config::*>(&key.member)) {
        return "\"" + config.**text + "\"";
    }
    std::string list;
    for (const std::string& item :
         config.*std::get<std::vector<std::string> Config::*>(key.member)) {
        list += (list.empty() ? "\"" : ", \"") + item + "\"";
    }
    return "[" + list + "]";
}

Result<void> set_from_text(Config& config, const Key& key, std::string_view text,
                           std::string_view source) {
    if (std::holds_alternative<std::string Config::*>(key.member)) {
        return set_string(config, key, std::string(text), source);
    }
    if (const auto* list = std::get_if<std::vector<std::string> Config::*>(&key.member)) {
        config.** list = split_list(text);
        return {};
    }
    std::int64_t value = 0;
    const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (ec != std::errc() || end != text.data() + text.size()) {
        return bad_value(source, "\"" + std::string(text) + "\" is not a whole number");
    }
    return set_integer(config, key, value, source);
}

Result<void> apply_toml(Config& config, std::string_view text, const std::string& file_name) {
    toml::table table;
    try {
        table = toml::parse(text, file_name);
    } catch (const toml::parse_error& error) {
        return fail(ErrorCode::invalid_argument, file_name + ":" +
                                                     std::to_string(error.source().begin.line) +
                                                     ": " + std::string(error.description()));
    }
    for (const auto& [toml_key, node] : table) {
        const std::string_view name = toml_key.str();
        const std::string place = file_name + ":" + std::to_string(node.source().begin.line);
        const auto key = std::find_if(keys().begin(), keys().end(),
                                      [name](const Key& k) { return k.name == name; });
        if (key == keys().end()) {
            return fail(ErrorCode::invalid_argument,
                        place + ": unknown key \"" + std::string(name) + "\"", nearest_key(name));
        }
        CB_TRY(set_from_node(config, *key, node, place));
    }
    return {};
}

Result<void> check(const Config& config) {
    if (config.tls_certificate.empty() != config.tls_key.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "tls_certificate and tls_key must be given together");
    }
    if (!config.serves_notebook()) return {};
    if (config.seed_notebook.empty()) {
        return fail(ErrorCode::invalid_argument, "api notebook-http serves no notebook",
                    "name one: seed_notebook, or KG_SEED_URI");
    }
    if (config.kernels_max > 0 && config.pool_size > config.kernels_max) {
        return fail(ErrorCode::invalid_argument,
                    "pool_size (KG_PRESPAWN_COUNT) is more than kernels_max allows");
    }
    return {};
}

Result<Config> load(const std::optional<std::filesystem::path>& file,
                    const std::function<const char*(const char*)>& environment,
                    const std::vector<Flag>& flags) {
    Config config;
    std::vector<std::filesystem::path> places;
    if (file) {
        places.push_back(*file);
    } else {
        places.push_back(user_directory("XDG_CONFIG_HOME", ".config", "/etc/cellblock") /
                         "cellblock.toml");
        places.emplace_back("/etc/cellblock/cellblock.toml");
    }
    for (const std::filesystem::path& place : places) {
        std::error_code ec;
        if (!file && !std::filesystem::exists(place, ec)) continue;
        auto text = read_file(place, file_max_bytes);
        if (!text) return fail(text.error().in("reading the configuration"));
        CB_TRY(apply_toml(config, *text, place.string()));
        break;
    }
    Config own = config;
    CB_TRY(apply_own(own, environment, flags));
    if (own.compat == "kernel-gateway") {
        CB_TRY(apply_kernel_gateway_environment(config, environment));
        CB_TRY(apply_own(config, environment, flags));
    } else {
        config = std::move(own);
    }
    CB_TRY(check(config));
    return config;
}

}  // namespace cellblock::gateway::config
