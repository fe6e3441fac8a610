#include "base/ids.h"
#include "gateway/api/services.h"
#include "gateway/http/request.h"

namespace cellblock::gateway::api {

boost::asio::awaitable<Result<SandboxPointer>> sandbox_of(const http::Request& request,
                                                          Services& services) {
    std::optional<std::string> id = request.query().get("sandbox_id");
    if (const auto header = request.headers().get("E2b-Sandbox-Id")) id = std::string(*header);
    if (id && !is_valid_id(*id)) {
        co_return fail(ErrorCode::invalid_argument, "the sandbox id is not valid",
                       "ids have letters, digits, '-' and '_' only");
    }
    co_return co_await services.sandboxes.resolve(std::move(id));
}

}  // namespace cellblock::gateway::api
