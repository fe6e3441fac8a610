// The Jupyter door: what its families of routes share. Built once by `serve`; outlives the server.
// Loop thread only.
#pragma once

#include <string>

#include "base/clock.h"
#include "gateway/api/services.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::jupyter {

// Whose manners the door has: error bodies, status codes, what is open without a token.
enum class Compat { jupyter_server, kernel_gateway };

struct Settings {
    Compat compat = Compat::jupyter_server;
    std::string version;  // Cellblock's own

    Settings() = default;
};

struct Door {
    api::Services& services;
    Settings settings;
    WallTime started_at = std::chrono::system_clock::now();

    Door(api::Services& services_, Settings settings_)
        : services(services_), settings(std::move(settings_)) {}

    http::RouteOptions route_options() const {
        http::RouteOptions options;
        options.style = settings.compat == Compat::kernel_gateway
                            ? http::ErrorStyle::kernel_gateway
                            : http::ErrorStyle::jupyter_server;
        return options;
    }
};

// A family's handler, bound to the door.
template <typename Function>
http::Handler bind(Door& door, Function function) {
    return [&door, function](http::Request& request, http::ResponseWriter& writer) {
        return function(door, request, writer);
    };
}

// All of them.
void add_routes(http::Router& router, Door& door);

// One function a family; each adds its routes.
void add_kernel_routes(http::Router& router, Door& door);
void add_channel_routes(http::Router& router, Door& door);
void add_kernelspec_routes(http::Router& router, Door& door);
void add_service_routes(http::Router& router, Door& door);

}  // namespace cellblock::gateway::jupyter
