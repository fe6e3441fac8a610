// One kernel of the gateway, as whoever relays it uses it. Blocking. Outlived by its HttpClient.
#pragma once

#include <functional>
#include <string>

#include "gateway/cli/http_client.h"

namespace cellblock::gateway::cli {

class KernelClient {
  public:
    // A new kernel, in a sandbox of its own; empty name: the gateway's default. The environment's
    // KERNEL_* go with it, as from Jupyter's own gateway client. `cancelled` gives up.
    static Result<KernelClient> create(HttpClient& client, const std::string& name,
                                       std::function<bool()> cancelled);
    // One that exists.
    static Result<KernelClient> attach(HttpClient& client, const std::string& id);

    const std::string& id() const { return id_; }
    std::string channels_path() const;
    Result<void> interrupt();
    Result<void> restart();
    // Success too when it is gone already.
    Result<void> remove();

  private:
    KernelClient(HttpClient& client, std::string id) : client_(&client), id_(std::move(id)) {}
    Result<void> post(const std::string& action, std::chrono::seconds timeout);

    HttpClient* client_;
    std::string id_;
};

}  // namespace cellblock::gateway::cli
