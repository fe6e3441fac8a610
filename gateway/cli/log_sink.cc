#include "gateway/cli/log_sink.h"

#include <memory>

#include <spdlog/logger.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/log.h"

namespace cellblock::gateway::cli {
namespace {

std::string line(log::Level level, std::string_view event, const log::Fields& fields) {
    Json object;
    object["time"] = iso8601_now();
    object["level"] = std::string(log::to_string(level));
    object["event"] = std::string(event);
    for (const log::Field& field : fields) {
        Json& slot = object[std::string(field.name)];
        std::visit([&slot](const auto& value) { slot = value; }, field.value);
    }
    // ASCII only, and broken UTF-8 replaced: no field can forge a line or a terminal sequence.
    return dump_ascii(object);
}

log::Level level_from(const std::string& name) {
    if (name == "debug") return log::Level::debug;
    if (name == "warning") return log::Level::warning;
    if (name == "error") return log::Level::error;
    return log::Level::info;
}

}  // namespace

Result<void> start_log(const std::string& level, const std::string& file) {
    spdlog::sink_ptr sink;
    try {
        if (file.empty()) {
            sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
        } else {
            sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(file);
        }
    } catch (const spdlog::spdlog_ex& error) {
        return fail(ErrorCode::io, "the log file " + file + " cannot be opened: " + error.what(),
                    "choose another file with --log-file");
    }
    auto logger = std::make_shared<spdlog::logger>("cellblock", std::move(sink));
    logger->set_pattern("%v");
    logger->set_level(spdlog::level::trace);  // base/log.h decides
    logger->flush_on(spdlog::level::trace);   // a crash loses no line
    log::set_level(level_from(level));
    log::set_sink([logger](log::Level at, std::string_view event, const log::Fields& fields) {
        logger->log(spdlog::level::info, line(at, event, fields));
    });
    return {};
}

}  // namespace cellblock::gateway::cli
