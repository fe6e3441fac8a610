// The logging facade: one event name and typed fields per line, written as JSON by the sink.
//
// Call it where an event is handled, once. Never put guest text in the event name; in fields it is
// escaped by the sink. Thread-safe. The sink is set once by main() before anything logs; without
// one, lines go to stderr as plain text (tests, the guest agent).
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace cellblock::log {

enum class Level { debug, info, warning, error };

using FieldValue = std::variant<std::string, std::int64_t, double, bool>;

struct Field {
    std::string_view name;
    FieldValue value;

    Field(std::string_view name_, std::string value_) : name(name_), value(std::move(value_)) {}
    Field(std::string_view name_, std::string_view value_)
        : name(name_), value(std::string(value_)) {}
    Field(std::string_view name_, const char* value_) : name(name_), value(std::string(value_)) {}
    Field(std::string_view name_, bool value_) : name(name_), value(value_) {}
    Field(std::string_view name_, double value_) : name(name_), value(value_) {}
    template <typename T>
        requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
    Field(std::string_view name_, T value_)
        : name(name_), value(static_cast<std::int64_t>(value_)) {}
};

using Fields = std::initializer_list<Field>;
using Sink = std::function<void(Level, std::string_view event, const Fields& fields)>;

// Before any thread logs.
void set_sink(Sink sink);
void set_level(Level level);

void write(Level level, std::string_view event, Fields fields = {});

inline void debug(std::string_view event, Fields fields = {}) {
    write(Level::debug, event, fields);
}
inline void info(std::string_view event, Fields fields = {}) {
    write(Level::info, event, fields);
}
inline void warning(std::string_view event, Fields fields = {}) {
    write(Level::warning, event, fields);
}
inline void error(std::string_view event, Fields fields = {}) {
    write(Level::error, event, fields);
}

std::string_view to_string(Level level);

}  // namespace cellblock::log
