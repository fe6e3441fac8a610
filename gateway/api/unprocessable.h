// The answer to a body of another form than the one documented, as E2B's code interpreter (FastAPI)
// writes it: 422 {"detail": [{"type", "loc": ["body"], "msg"}]}.
#pragma once

#include "base/error.h"
#include "gateway/http/response.h"

namespace cellblock::gateway::api {

// Errors of other kinds (a body too large, a client that is gone) are handed back as they came.
boost::asio::awaitable<Result<void>> refuse_body(Error error, http::ResponseWriter& writer);

}  // namespace cellblock::gateway::api
