// The Jupyter door: what its families of routes share. Built once by `serve`; outlives the server.
// Loop thread only.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "base/clock.h"
#include "gateway/api/services.h"
#include "gateway/http/router.h"
#include "gateway/jupyter/connection_files.h"
#include "gateway/jupyter/kernels.h"
#include "gateway/jupyter/kernelspecs.h"
#include "gateway/jupyter/session_store.h"

namespace cellblock::gateway::jupyter {

// Whose manners the door has: error bodies, status codes, what is open without a token.
enum class Compat { jupyter_server, kernel_gateway };

// Whether GET /api/kernels and /api/sessions answer. kernel_gateway's default is no.
enum class Listing { allowed, forbidden };

// Which kernels end when nobody has used them for a while. Only those that Jupyter made: other
// sandboxes have a deadline of their own.
enum class Cull {
    unused,     // idle, and no client is connected
    connected,  // idle, connected or not
    busy,       // busy ones too
};

struct Settings {
    Compat compat = Compat::jupyter_server;
    Listing listing = Listing::allowed;
    std::string version;                   // Cellblock's own
    std::size_t kernels_max = 0;           // over all sandboxes; 0: only the machine's own limit
    std::chrono::seconds idle_timeout{0};  // 0: kernels are not culled
    Cull cull = Cull::unused;
    std::string contents_folder;                      // what /api/contents serves; empty: nothing
    std::string default_kernel{default_kernel_name};  // for clients that ask for none
    std::string force_kernel;                         // for all, whatever they ask for; empty: no
    std::vector<std::string> environment_allowed;     // a client may set these of its kernel
    std::map<std::string, std::string> environment;   // every kernel gets these
    std::vector<std::string> seed;                    // cells that each kernel runs first
    std::filesystem::path connections_folder;
    std::filesystem::path sessions_file;  // empty: sessions end with the gateway
    RelayCommand relay_command;

    Settings() = default;
};

struct Door {
    api::Services& services;
    const Settings settings;
    Kernelspecs kernelspecs;  // complete when the guest's image is known: offer()
    const WallTime started_at = std::chrono::system_clock::now();
    SessionStore sessions;
    ConnectionFiles connection_files;

    Door(boost::asio::any_io_executor executor, api::Services& services_, Settings settings_);

    void offer(Kernelspecs specs) { kernelspecs = std::move(specs); }
    // Finds the documents of an earlier gateway's kernels, once these are there.
    boost::asio::awaitable<void> open();
    // A kernel in a sandbox of its own, seeded. Those that are being started count for the maximum.
    boost::asio::awaitable<Result<PlacedKernel>> start_kernel(NewKernel wanted);
    // `forbidden` where listing is off.
    Result<void> check_listing() const;
    // Until it is cancelled: ends kernels that nobody uses. Returns at once when culling is off.
    boost::asio::awaitable<void> cull_kernels();

    http::RouteOptions route_options() const;

  private:
    bool is_due(const PlacedKernel& kernel) const;

    std::size_t starting_ = 0;
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
void add_session_routes(http::Router& router, Door& door);
void add_contents_routes(http::Router& router, Door& door);
void add_service_routes(http::Router& router, Door& door);

}  // namespace cellblock::gateway::jupyter
