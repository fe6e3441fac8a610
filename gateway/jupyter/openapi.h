// The OpenAPI document of this door: gateway/jupyter/openapi.yaml, built in.
#pragma once

#include <string_view>

namespace cellblock::gateway::jupyter {

std::string_view openapi_yaml();

}  // namespace cellblock::gateway::jupyter
