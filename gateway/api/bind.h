// A family's handler, bound to what the API stands on.
#pragma once

#include "gateway/api/services.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

template <typename Function>
http::Handler bind(Services& services, Function function) {
    return [&services, function](http::Request& request, http::ResponseWriter& writer) {
        return function(services, request, writer);
    };
}

}  // namespace cellblock::gateway::api
