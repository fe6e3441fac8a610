#include "gateway/api/sandbox_views.h"

namespace cellblock::gateway::api {

SandboxView view_of(const Sandbox& sandbox, const Services& services) {
    SandboxView view;
    view.id = sandbox.id();
    view.template_id = sandbox.spec().template_id;
    view.started_at = sandbox.started_at();
    view.ends_at = sandbox.ends_at();
    view.memory_mib = static_cast<std::int64_t>(sandbox.spec().memory_limit_bytes / limits::MiB);
    view.metadata = sandbox.spec().metadata;
    view.state = to_string(sandbox.state());
    view.pauses_on_timeout = sandbox.spec().on_timeout == OnTimeout::pause;
    view.snapshot_id = sandbox.spec().snapshot_id;
    view.access_token = services.access_token;
    return view;
}

Error as_not_found(Error error) {
    if (error.code == ErrorCode::sandbox_gone) error.code = ErrorCode::not_found;
    return error;
}

Result<SandboxPointer> named_sandbox(const http::Request& request, const Services& services) {
    auto found = services.sandboxes.find(request.param("id"));
    if (!found) return fail(as_not_found(found.error()));
    return found;
}

}  // namespace cellblock::gateway::api
