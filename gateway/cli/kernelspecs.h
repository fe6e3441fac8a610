// Kernelspecs on this machine whose kernels run behind the gateway.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "gateway/cli/http_client.h"

namespace cellblock::gateway::cli {

// The data folder of Jupyter that `prefix` names; empty: the user's own.
std::filesystem::path jupyter_data_folder(const std::string& prefix);

// Makes one for each kernel of the gateway, with its logos; `command` starts one, and gets the
// kernel's name behind it. The folders that were made.
Result<std::vector<std::filesystem::path>> install_kernelspecs(
    HttpClient& client, const std::filesystem::path& data_folder,
    const std::vector<std::string>& command);

// Removes all that install_kernelspecs has ever made there.
Result<std::vector<std::filesystem::path>> remove_kernelspecs(
    const std::filesystem::path& data_folder);

}  // namespace cellblock::gateway::cli
