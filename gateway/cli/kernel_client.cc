#include "gateway/cli/kernel_client.h"

#include <unistd.h>

#include "base/ids.h"
#include "base/limits.h"
#include "gateway/cli/answers.h"

namespace cellblock::gateway::cli {
namespace {

Json kernel_environment() {
    Json variables = Json::object();
    for (char** at = ::environ; *at != nullptr; ++at) {
        const std::string_view pair(*at);
        const std::size_t equals = pair.find('=');
        if (!pair.starts_with("KERNEL_") || equals == std::string_view::npos) continue;
        variables[std::string(pair.substr(0, equals))] = std::string(pair.substr(equals + 1));
    }
    return variables;
}

}  // namespace

Result<KernelClient> KernelClient::create(HttpClient& client, const std::string& name,
                                          std::function<bool()> cancelled) {
    Json body = {{"env", kernel_environment()}};
    if (!name.empty()) body["name"] = name;
    HttpCall call;
    call.method = "POST";
    call.path = "/api/kernels";
    call.body = body.dump(-1, ' ', true, Json::error_handler_t::replace);
    call.timeout = limits::kernel_create_timeout;
    call.cancelled = std::move(cancelled);
    CB_TRY_ASSIGN(reply, client.expect_success(call));
    CB_TRY_ASSIGN(model, json_of(reply));
    CB_TRY_ASSIGN(id, required_string(model, "id"));
    if (!is_valid_id(id)) return fail(ErrorCode::io, "the gateway's answer names no kernel");
    return KernelClient(client, std::move(id));
}

Result<KernelClient> KernelClient::attach(HttpClient& client, const std::string& id) {
    if (!is_valid_id(id)) {
        return fail(ErrorCode::invalid_argument, "\"" + id + "\" is no kernel's id");
    }
    HttpCall call;
    call.path = "/api/kernels/" + id;
    call.timeout = limits::kernel_call_timeout;
    CB_TRY(client.expect_success(call));
    return KernelClient(client, id);
}

std::string KernelClient::channels_path() const {
    return "/api/kernels/" + id_ + "/channels";
}

Result<void> KernelClient::post(const std::string& action, std::chrono::seconds timeout) {
    HttpCall call;
    call.method = "POST";
    call.path = "/api/kernels/" + id_ + "/" + action;
    call.body = "{}";
    call.timeout = timeout;
    CB_TRY(client_->expect_success(call));
    return {};
}

Result<void> KernelClient::interrupt() {
    return post("interrupt", limits::kernel_call_timeout);
}

Result<void> KernelClient::restart() {
    // Without the guest's fork server it starts the slow way.
    return post("restart", limits::kernel_start_timeout);
}

Result<void> KernelClient::remove() {
    HttpCall call;
    call.method = "DELETE";
    call.path = "/api/kernels/" + id_;
    call.timeout = limits::kernel_call_timeout;
    CB_TRY_ASSIGN(reply, client_->call(call));
    if (reply.status < 300 || reply.status == 404) return {};
    return fail(ErrorCode::io,
                "the gateway did not delete the kernel: status " + std::to_string(reply.status));
}

}  // namespace cellblock::gateway::cli
