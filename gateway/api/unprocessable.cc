#include "gateway/api/unprocessable.h"

#include <utility>

namespace cellblock::gateway::api {

boost::asio::awaitable<Result<void>> refuse_body(Error error, http::ResponseWriter& writer) {
    if (error.code != ErrorCode::invalid_argument) co_return fail(std::move(error));
    const Json reason = {{"type", "value_error"}, {"loc", {"body"}}, {"msg", error.text()}};
    Json answer = Json::object();
    answer["detail"] = Json::array({reason});
    co_return co_await writer.send_json(422, answer);
}

}  // namespace cellblock::gateway::api
