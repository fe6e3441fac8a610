// What is written about a saved sandbox beside its machine's state.
#include "base/clock.h"
#include "gateway/sandboxes/sandbox_json.h"
#include "gateway/sandboxes/saved_sandboxes.h"

namespace cellblock::gateway {

Json to_json(const SavedSandbox& sandbox) {
    Json json = {{"sandbox_id", sandbox.sandbox_id},
                 {"name", sandbox.name},
                 {"parent_id", sandbox.parent_id},
                 {"started_at_ns", to_nanoseconds(sandbox.started_at)}};
    describe(sandbox.image.spec, sandbox.image.contexts, json);
    return json;
}

Result<SavedSandbox> saved_sandbox_from(vm::SavedState saved) {
    const Json& json = saved.description;
    SavedSandbox sandbox;
    CB_TRY_ASSIGN(sandbox_id, required_string(json, "sandbox_id"));
    CB_TRY_ASSIGN(name, required_string(json, "name"));
    CB_TRY_ASSIGN(parent_id, required_string(json, "parent_id"));
    CB_TRY_ASSIGN(started, required_integer(json, "started_at_ns"));
    CB_TRY_ASSIGN(spec, spec_from(json));
    CB_TRY_ASSIGN(contexts, contexts_from(json));
    sandbox.sandbox_id = std::move(sandbox_id);
    sandbox.name = std::move(name);
    sandbox.parent_id = std::move(parent_id);
    sandbox.started_at = wall_time_from(started);
    sandbox.image.spec = std::move(spec);
    sandbox.image.contexts = std::move(contexts);
    sandbox.saved = std::move(saved);
    return sandbox;
}

}  // namespace cellblock::gateway
