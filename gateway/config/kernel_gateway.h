// kernel_gateway's names for our settings: its KG_* variables and its command line, for programs
// that start `jupyter kernelgateway` themselves.
//
// One table says what each is to us: a setting, one that changes nothing here, or one that would be
// wrong to pass over in silence. Pure.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "gateway/config/config.h"

namespace cellblock::gateway::config {

// Its release whose manners we have.
inline constexpr std::string_view kernel_gateway_version = "3.0.1";

// KG_PORT and the like.
Result<void> apply_kernel_gateway_environment(
    Config& config, const std::function<const char*(const char*)>& environment);

// "--KernelGatewayApp.port=8888", "--KernelGatewayApp.port" "8888", "--port=8888". Returns the
// options that are passed over because nobody here knows them, as traitlets does it.
Result<std::vector<std::string>> apply_kernel_gateway_arguments(
    Config& config, std::span<const std::string> arguments);

}  // namespace cellblock::gateway::config
