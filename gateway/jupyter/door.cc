#include "gateway/jupyter/door.h"

#include <algorithm>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/log.h"
#include "gateway/jupyter/seed.h"

namespace cellblock::gateway::jupyter {

namespace asio = boost::asio;
using asio::awaitable;

namespace {

// Idle kernels are looked for this many times within their timeout, but not more often than once
// a second and not more seldom than once a minute.
constexpr int looks_per_timeout = 4;
constexpr std::chrono::seconds look_interval_min{1};
constexpr std::chrono::seconds look_interval_max{60};

// Counts a start that is under way.
class Starting {
  public:
    explicit Starting(std::size_t& count) : count_(count) { ++count_; }
    Starting(const Starting&) = delete;
    Starting& operator=(const Starting&) = delete;
    ~Starting() { --count_; }

  private:
    std::size_t& count_;
};

}  // namespace

Door::Door(asio::any_io_executor executor, api::Services& services_, Settings settings_)
    : services(services_),
      settings(std::move(settings_)),
      sessions(executor, services_.workers, settings.sessions_file),
      connection_files(executor, settings.connections_folder, settings.relay_command) {}

awaitable<void> Door::open() {
    const auto opened = co_await sessions.open();
    if (!opened) {
        // The kernels are there; whoever opens a document again gets a new one.
        log::warning("sessions_unreadable", {{"error", opened.error().text()}});
    }
    sessions.drop_dead([this](const std::string& kernel_id) {
        return find_kernel(services.sandboxes, kernel_id).has_value();
    });
}

http::RouteOptions Door::route_options() const {
    http::RouteOptions options;
    options.style = settings.compat == Compat::kernel_gateway ? http::ErrorStyle::kernel_gateway
                                                              : http::ErrorStyle::jupyter_server;
    return options;
}

Result<void> Door::check_listing() const {
    if (settings.listing == Listing::allowed) return {};
    return fail(ErrorCode::forbidden, "Forbidden");
}

awaitable<Result<PlacedKernel>> Door::start_kernel(NewKernel wanted) {
    const std::size_t kernels = list_kernels(services.sandboxes).size() + starting_;
    if (settings.kernels_max > 0 && kernels >= settings.kernels_max) {
        co_return fail(ErrorCode::too_many,
                       "Resource Limit: there are " + std::to_string(kernels) +
                           " kernels already, and no more are allowed",
                       "shut some down");
    }
    const Starting counted(starting_);
    if (wanted.name.empty()) wanted.name = settings.default_kernel;
    if (!settings.force_kernel.empty()) wanted.name = settings.force_kernel;
    wanted.environment.insert(settings.environment.begin(), settings.environment.end());
    // What libraries tell a gateway's kernel by; the client's word for it does not count.
    wanted.environment["KERNEL_GATEWAY"] = "1";
    const auto name = kernelspecs.resolve(wanted.name);
    if (!name) {
        co_return fail(ErrorCode::internal,
                       "NoSuchKernel: there is no kernel named '" + wanted.name + "'",
                       "GET /api/kernelspecs lists the kernels");
    }
    wanted.name = *name;
    CB_CO_TRY_ASSIGN(kernel, co_await create_kernel(services.sandboxes, services.sandbox_defaults,
                                                    std::move(wanted), kernelspecs.other(*name)));
    const auto seeded = co_await seed_kernel(kernel.kernel(), settings.seed);
    if (!seeded) {
        co_await services.sandboxes.remove(kernel.sandbox->id());
        co_return fail(seeded.error());
    }
    co_return kernel;
}

// --- culling -----------------------------------------------------------------------------------

bool Door::is_due(const PlacedKernel& kernel) const {
    if (kernel.sandbox->spec().lifetime != Lifetime::of_its_kernel) return false;
    const kernel_proxy::Channels& channels = kernel.kernel().channels();
    const auto unused_for = std::chrono::system_clock::now() - channels.last_activity();
    if (unused_for <= settings.idle_timeout) return false;
    if (kernel.kernel().state() == kernel_proxy::KernelState::dead) return true;
    if (settings.cull == Cull::unused && channels.connections() > 0) return false;
    return settings.cull == Cull::busy || kernel.kernel().execution_state() == "idle";
}

awaitable<void> Door::cull_kernels() {
    if (settings.idle_timeout.count() == 0) co_return;
    asio::steady_timer timer(co_await asio::this_coro::executor);
    const auto interval =
        std::clamp(settings.idle_timeout / looks_per_timeout, look_interval_min, look_interval_max);
    while (true) {
        timer.expires_after(interval);
        const auto [ec] = co_await timer.async_wait(as_tuple_awaitable);
        if (ec) co_return;
        for (PlacedKernel& kernel : list_kernels(services.sandboxes)) {
            if (kernel.sandbox->gone() || !is_due(kernel)) continue;
            log::info("kernel_culled", {{"kernel_id", kernel.context->id()},
                                        {"idle_timeout_s", settings.idle_timeout.count()}});
            const auto removed = co_await remove_kernel(services.sandboxes, std::move(kernel));
            if (!removed) {
                log::warning("kernel_cull_failed", {{"error", removed.error().text()}});
            }
        }
    }
}

void add_routes(http::Router& router, Door& door) {
    add_kernel_routes(router, door);
    add_channel_routes(router, door);
    add_kernelspec_routes(router, door);
    add_session_routes(router, door);
    add_contents_routes(router, door);
    add_service_routes(router, door);
}

}  // namespace cellblock::gateway::jupyter
