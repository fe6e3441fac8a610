#include "vm/snapshot/state_store.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "base/clock.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"

namespace fs = std::filesystem;

namespace cellblock::vm {
namespace {

constexpr std::string_view unfinished = ".new";

Json to_json(const SavedState& saved) {
    return {{"version", 1},
            {"id", saved.id},
            {"template_key", saved.template_key},
            {"memory_bytes", saved.memory_bytes},
            {"file_bytes", saved.file.bytes},
            {"file_sha256", saved.file.sha256},
            {"created_at_ns", saved.created_at_ns},
            {"description", saved.description}};
}

Result<SavedState> saved_state_from(const Json& json) {
    if (!json.is_object()) return fail(ErrorCode::io, "the manifest is no object");
    CB_TRY_ASSIGN(version, required_integer(json, "version"));
    if (version != 1) return fail(ErrorCode::not_supported, "the manifest has another version");
    SavedState saved;
    CB_TRY_ASSIGN(id, required_string(json, "id"));
    CB_TRY_ASSIGN(template_key, required_string(json, "template_key"));
    CB_TRY_ASSIGN(memory_bytes, required_integer(json, "memory_bytes"));
    CB_TRY_ASSIGN(file_bytes, required_integer(json, "file_bytes"));
    CB_TRY_ASSIGN(sha256, required_string(json, "file_sha256"));
    CB_TRY_ASSIGN(created, required_integer(json, "created_at_ns"));
    const auto description = json.find("description");
    if (!is_valid_id(id) || memory_bytes < 0 || file_bytes < 0 || description == json.end() ||
        !description->is_object()) {
        return fail(ErrorCode::io, "the manifest contradicts itself");
    }
    saved.id = std::move(id);
    saved.template_key = std::move(template_key);
    saved.memory_bytes = static_cast<std::uint64_t>(memory_bytes);
    saved.file.bytes = static_cast<std::uint64_t>(file_bytes);
    saved.file.sha256 = std::move(sha256);
    saved.created_at_ns = created;
    saved.description = *description;
    return saved;
}

Result<SavedState> read_manifest(const fs::path& folder) {
    CB_TRY_ASSIGN(text,
                  read_file(folder / "manifest.json", limits::snapshot_description_max_bytes));
    const JsonLimits bounds{limits::snapshot_description_max_bytes};
    CB_TRY_ASSIGN(json, parse_json(text, bounds, "a saved state's manifest"));
    CB_TRY_ASSIGN(saved, saved_state_from(json));
    if (saved.id != folder.filename())
        return fail(ErrorCode::io, "the manifest is another state's");
    return saved;
}

Result<void> sync_folder(const fs::path& folder) {
    CB_TRY_ASSIGN(fd, open_file(folder, O_RDONLY | O_DIRECTORY));
    if (::fsync(fd.get()) != 0) return fail(error_from_errno(errno, "sync " + folder.string()));
    return {};
}

Result<void> rename_into_place(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) {
        return fail(error_from_errno(errno, "put a state at " + to.string()));
    }
    return sync_folder(to.parent_path());
}

Result<SavedState> save_in(const fs::path& folder, const MachineState& state, SavedState saved) {
    CB_TRY(make_directories(folder, 0700));
    CB_TRY_ASSIGN(sum, write_state_file(folder / "state", state));
    saved.file = std::move(sum);
    CB_TRY(write_file_atomically(folder / "manifest.json", to_json(saved).dump() + "\n", 0600));
    return saved;
}

}  // namespace

Result<SavedState> StateStore::save(const std::string& id, const MachineState& state,
                                    Json description) const {
    const fs::path fresh = folder_ / (id + std::string(unfinished));
    std::error_code ignored;
    SavedState saved;
    saved.id = id;
    saved.template_key = state.template_key;
    saved.memory_bytes = state.pages.bytes().size();
    saved.created_at_ns = wall_clock_ns();
    saved.description = std::move(description);
    CB_TRY(make_directories(folder_, 0700));
    fs::remove_all(fresh, ignored);
    auto written = save_in(fresh, state, std::move(saved));
    if (written) {
        if (auto placed = rename_into_place(fresh, folder_ / id); !placed) {
            written = fail(placed.error());
        }
    }
    if (!written) {
        fs::remove_all(fresh, ignored);
        return fail(written.error().in("saving the sandbox's state"));
    }
    return written;
}

Result<void> StateStore::describe(const SavedState& saved) const {
    return write_file_atomically(folder_ / saved.id / "manifest.json", to_json(saved).dump() + "\n",
                                 0600);
}

Result<MachineStatePointer> StateStore::load(const SavedState& saved) const {
    auto state = read_state_file(folder_ / saved.id / "state", saved.file);
    if (!state) return fail(state.error().in("reading a saved state"));
    if (state->template_key != saved.template_key) {
        return fail(ErrorCode::io, "a saved state belongs to another template than it says");
    }
    return std::make_shared<const MachineState>(std::move(*state));
}

Result<void> StateStore::remove(const std::string& id) const {
    // Renamed first: a crash in the middle must not leave half of it under its name.
    const fs::path doomed = folder_ / (id + std::string(unfinished));
    std::error_code error;
    fs::remove_all(doomed, error);
    if (::rename((folder_ / id).c_str(), doomed.c_str()) != 0 && errno != ENOENT) {
        return fail(error_from_errno(errno, "remove a saved state"));
    }
    fs::remove_all(doomed, error);
    if (error) return fail(ErrorCode::io, "could not remove a saved state: " + error.message());
    return {};
}

Result<std::vector<SavedState>> StateStore::open() const {
    CB_TRY(make_directories(folder_, 0700));
    std::vector<SavedState> all;
    std::error_code error;
    for (fs::directory_iterator entry(folder_, error), end; !error && entry != end;
         entry.increment(error)) {
        const fs::path path = entry->path();
        if (path.extension() == unfinished) {
            std::error_code ignored;
            fs::remove_all(path, ignored);
            continue;
        }
        auto saved = read_manifest(path);
        if (saved) {
            all.push_back(std::move(*saved));
        } else {
            log::warning("saved_state_unreadable",
                         {{"path", path.string()}, {"error", saved.error().text()}});
        }
    }
    if (error)
        return fail(ErrorCode::io, "could not list " + folder_.string() + ": " + error.message());
    return all;
}

}  // namespace cellblock::vm
