#include "base/log.h"

#include <cstdio>

namespace cellblock::log {
namespace {

std::string to_text(const FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value)) return *text;
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
    return std::get<bool>(value) ? "true" : "false";
}

void write_plain(Level level, std::string_view event, const Fields& fields) {
    std::string line(to_string(level));
    line.append(" ").append(event);
    for (const Field& field : fields) {
        line.append(" ").append(field.name).append("=").append(to_text(field.value));
    }
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';  // one event, one line
    }
    line.push_back('\n');
    std::fwrite(line.data(), 1, line.size(), stderr);
}

Sink& sink() {
    static Sink instance = write_plain;
    return instance;
}
Level& threshold() {
    static Level instance = Level::info;
    return instance;
}

}  // namespace

void set_sink(Sink new_sink) {
    sink() = std::move(new_sink);
}
void set_level(Level level) {
    threshold() = level;
}

void write(Level level, std::string_view event, Fields fields) {
    if (level >= threshold()) sink()(level, event, fields);
}

std::string_view to_string(Level level) {
    switch (level) {
        case Level::debug:
            return "debug";
        case Level::info:
            return "info";
        case Level::warning:
            return "warning";
        case Level::error:
            return "error";
    }
    return "error";
}

}  // namespace cellblock::log
