#include "gateway/sandboxes/sandbox_note.h"

#include <utility>

#include "base/ids.h"
#include "gateway/sandboxes/sandbox_json.h"

namespace cellblock::gateway {
namespace {

constexpr std::int64_t version = 1;

}  // namespace

std::string to_text(const SandboxNote& note) {
    Json json = {{"version", version},
                 {"sandbox_id", note.sandbox_id},
                 {"revision", note.revision},
                 {"started_at_ns", to_nanoseconds(note.started_at)},
                 {"ends_at_ns", to_nanoseconds(note.ends_at)},
                 {"callers_default", note.callers_default == CallersDefault::yes}};
    describe(note.spec, note.contexts, json);
    return dump_ascii(json) + "\n";
}

Result<SandboxNote> sandbox_note_from(std::string_view text) {
    const JsonLimits bounds{limits::snapshot_description_max_bytes};
    CB_TRY_ASSIGN(json, parse_json(text, bounds, "the note beside a machine"));
    if (!json.is_object()) return fail(ErrorCode::io, "the note beside a machine is no object");
    CB_TRY_ASSIGN(written_by, required_integer(json, "version"));
    if (written_by != version) {
        return fail(ErrorCode::not_supported, "the note beside the machine has another version");
    }
    CB_TRY_ASSIGN(sandbox_id, required_string(json, "sandbox_id"));
    CB_TRY_ASSIGN(revision, required_integer(json, "revision"));
    CB_TRY_ASSIGN(started, required_integer(json, "started_at_ns"));
    CB_TRY_ASSIGN(ends, required_integer(json, "ends_at_ns"));
    CB_TRY_ASSIGN(callers_default, optional_boolean(json, "callers_default"));
    CB_TRY_ASSIGN(spec, spec_from(json));
    CB_TRY_ASSIGN(contexts, contexts_from(json));
    if (!is_valid_id(sandbox_id) || revision < 0) {
        return fail(ErrorCode::io, "the note beside the machine names no sandbox");
    }
    SandboxNote note;
    note.sandbox_id = std::move(sandbox_id);
    note.revision = static_cast<std::uint64_t>(revision);
    note.started_at = wall_time_from(started);
    note.ends_at = wall_time_from(ends);
    note.callers_default =
        callers_default.value_or(false) ? CallersDefault::yes : CallersDefault::no;
    note.spec = std::move(spec);
    note.contexts = std::move(contexts);
    return note;
}

}  // namespace cellblock::gateway
