#include "vm/agent/console_log.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <mutex>

namespace cellblock::vm::agent {
namespace {

constexpr double burst_lines = 200;
constexpr double lines_per_second = 5;
constexpr std::size_t field_max_bytes = 400;

struct Bucket {
    std::mutex mutex;  // worker threads may log
    double tokens = burst_lines;
    std::chrono::steady_clock::time_point filled = std::chrono::steady_clock::now();
    std::uint64_t left_out = 0;
};

std::string to_text(const log::FieldValue& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        return text->substr(0, field_max_bytes);
    if (const auto* number = std::get_if<std::int64_t>(&value)) return std::to_string(*number);
    if (const auto* number = std::get_if<double>(&value)) return std::to_string(*number);
    return std::get<bool>(value) ? "true" : "false";
}

void write_line(Bucket& bucket, log::Level level, std::string_view event,
                const log::Fields& fields) {
    const std::lock_guard lock(bucket.mutex);
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<double> passed = now - bucket.filled;
    bucket.filled = now;
    bucket.tokens = std::min(burst_lines, bucket.tokens + passed.count() * lines_per_second);
    if (bucket.tokens < 1) {
        ++bucket.left_out;
        return;
    }
    bucket.tokens -= 1;
    std::string line = "agent: ";
    line.append(log::to_string(level)).append(" ").append(event);
    for (const log::Field& field : fields) {
        line.append(" ").append(field.name).append("=").append(to_text(field.value));
    }
    if (bucket.left_out > 0) line += " (left out before: " + std::to_string(bucket.left_out) + ")";
    bucket.left_out = 0;
    for (char& c : line) {
        if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    line.push_back('\n');
    (void)!::write(STDERR_FILENO, line.data(), line.size());
}

}  // namespace

log::Sink bounded_console_sink() {
    const auto bucket = std::make_shared<Bucket>();
    return [bucket](log::Level level, std::string_view event, const log::Fields& fields) {
        write_line(*bucket, level, event, fields);
    };
}

}  // namespace cellblock::vm::agent
