#include "gateway/executions/execution_files.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"

namespace cellblock::gateway {
namespace {

namespace fs = std::filesystem;

// Who comes back does so soon; what was made is in the artifact store for longer.
constexpr std::chrono::seconds kept_for{3600};
constexpr std::size_t kept_max = 2000;
constexpr std::uint64_t kept_max_bytes = 512 * limits::MiB;

struct LogFile {
    fs::path path;
    fs::file_time_type changed;
    std::uint64_t bytes = 0;
};

}  // namespace

Result<std::vector<LoggedExecution>> read_unfinished(const fs::path& folder) {
    CB_TRY(make_directories(folder, 0700));
    std::vector<LoggedExecution> all;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const fs::path& path = entry.path();
        if (path.extension() != ".log") continue;
        auto logged = read_execution_log(path);
        std::error_code ignored;
        if (!logged || logged->request.id != path.stem().string()) {
            log::warning("execution_log_unreadable",
                         {{"path", path.string()},
                          {"error", logged ? "it is another one's" : logged.error().text()}});
            fs::remove(path, ignored);
        } else if (logged->ended) {
            fs::rename(path, done_path(folder, logged->request.id), ignored);
        } else {
            all.push_back(std::move(*logged));
        }
    }
    if (error) return fail(ErrorCode::io, "could not list " + folder.string());
    CB_TRY(trim_finished(folder));
    std::sort(all.begin(), all.end(),
              [](const auto& a, const auto& b) { return a.created_at < b.created_at; });
    return all;
}

Result<void> trim_finished(const fs::path& folder) {
    std::vector<LogFile> files;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        if (entry.path().extension() != ".done") continue;
        std::error_code gone;
        LogFile file;
        file.path = entry.path();
        file.changed = entry.last_write_time(gone);
        file.bytes = entry.file_size(gone);
        if (!gone) files.push_back(std::move(file));
    }
    if (error) return fail(ErrorCode::io, "could not list " + folder.string());
    std::sort(files.begin(), files.end(),
              [](const LogFile& a, const LogFile& b) { return a.changed > b.changed; });
    const auto oldest = fs::file_time_type::clock::now() - kept_for;
    std::uint64_t bytes = 0;
    std::size_t kept = 0;
    for (const LogFile& file : files) {
        bytes += file.bytes;
        if (file.changed >= oldest && ++kept <= kept_max && bytes <= kept_max_bytes) continue;
        std::error_code ignored;
        fs::remove(file.path, ignored);
    }
    return {};
}

}  // namespace cellblock::gateway
