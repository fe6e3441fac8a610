#include "artifacts/changed_files.h"

#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

tl::unexpected<Error> bad(const std::string& what) {
    return fail(ErrorCode::guest_protocol, "a list of changed files with " + what);
}

Result<std::uint64_t> size_in(const Json& file, std::string_view field) {
    CB_TRY_ASSIGN(size, required_integer(file, field));
    if (size < 0) return bad("a negative size");
    return static_cast<std::uint64_t>(size);
}

Result<ChangedFile> parse_file(const Json& value) {
    ChangedFile file;
    CB_TRY_ASSIGN(path, required_string(value, "path"));
    if (path.empty() || path.front() != '/' || path.size() > limits::file_path_max_bytes ||
        path.find('\0') != std::string::npos) {
        return bad("a path that is none");
    }
    CB_TRY_ASSIGN(mime, required_string(value, "mime"));
    CB_TRY_ASSIGN(change, required_string(value, "change"));
    CB_TRY_ASSIGN(size, size_in(value, "size"));
    if (change == "changed") {
        CB_TRY_ASSIGN(before, size_in(value, "size_before"));
        file.size_before_bytes = before;
    } else if (change != "new") {
        return bad("an unknown change");
    }
    file.path = std::move(path);
    file.mime = std::move(mime);
    file.size_bytes = size;
    return file;
}

}  // namespace

Result<ChangedFiles> parse_changed_files(const Json& value) {
    const auto list = value.is_object() ? value.find("files") : value.end();
    if (!value.is_object() || list == value.end() || !list->is_array()) return bad("no list");
    if (list->size() > limits::changed_files_max) return bad("too many files");
    ChangedFiles changed;
    for (const Json& entry : *list) {
        if (!entry.is_object()) return bad("an entry that is no object");
        CB_TRY_ASSIGN(file, parse_file(entry));
        changed.files.push_back(std::move(file));
    }
    CB_TRY_ASSIGN(more, size_in(value, "more"));
    CB_TRY_ASSIGN(unseen, optional_boolean(value, "unseen"));
    changed.more = more;
    changed.unseen = unseen.value_or(false);
    return changed;
}

}  // namespace cellblock::artifacts
