#include "vm/agent/agent.h"

#include <fcntl.h>

#include "base/awaitable.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "vm/agent/deadline.h"
#include "vm/agent/file_streams.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;

// A host that connects and breaks off again and again costs no more than this.
constexpr std::chrono::milliseconds reconnect_pause{20};

std::filesystem::path system_procs(const BootReport& report) {
    return report.cgroups ? report.cgroups->system_procs() : std::filesystem::path();
}

// What streams write while the host is away goes to an unlinked file on the disk (not /run, which
// is small). Without it writers wait, so failing is no error.
link::LinkOptions link_options(const Options& options) {
    link::LinkOptions link;
    const std::filesystem::path folder =
        options.mode == Mode::guest ? "/var/lib/cellblock" : options.run_dir;
    auto spool = open_file(folder, O_TMPFILE | O_RDWR, 0600);
    if (spool) link.spool = std::move(*spool);
    return link;
}

}  // namespace

Agent::Agent(asio::io_context& loop, Options options, BootReport report)
    : loop_(loop),
      options_(std::move(options)),
      report_(std::move(report)),
      zmq_(1),
      reaper_(loop.get_executor()),
      zygote_(loop.get_executor(), options_, reaper_, system_procs(report_)),
      events_(loop.get_executor()),
      kernels_(KernelServices{loop.get_executor(), options_, zmq_, reaper_, zygote_, events_,
                              report_.cgroups}),
      calls_(loop.get_executor()),
      link_(loop.get_executor(), link::Role::guest, link_options(options_)) {
    add_calls(calls_, *this);
}

Agent::~Agent() {
    stop();
}

Result<void> Agent::start() {
    CB_TRY_ASSIGN(port, open_port(loop_.get_executor(), options_));
    port_ = std::move(port);
    reaper_.start();
    link_.on_stream([this](link::StreamPtr stream) { take_stream(std::move(stream)); });
    link_.on_new_session([this] { events_.new_session(); });
    events_.start(link_);
    zygote_.start();
    spawn_logged(loop_.get_executor(), serve(), "agent serve", nullptr);
    return {};
}

void Agent::stop() {
    if (stopped_) return;
    stopped_ = true;
    if (port_) port_->close();
    link_.close(Error(ErrorCode::cancelled, "the agent was told to stop"));
    kernels_.kill_all();
    reaper_.stop();
}

asio::awaitable<void> Agent::serve() {
    asio::steady_timer timer(loop_);
    while (!stopped_) {
        auto connection = co_await port_->next();
        if (stopped_) break;
        if (connection) {
            const auto ended = co_await link_.run(std::move(*connection));
            log::info("host_disconnected", {{"reason", ended.error().text()}});
        } else {
            log::error("port_failed", {{"reason", connection.error().text()}});
        }
        timer.expires_after(reconnect_pause);
        co_await timer.async_wait(as_tuple_awaitable);
    }
}

void Agent::take_stream(link::StreamPtr stream) {
    switch (stream->kind()) {
        case link::StreamKind::call:
            calls_.serve(std::move(stream));
            return;
        case link::StreamKind::kernel:
            take_kernel_stream(std::move(stream));
            return;
        case link::StreamKind::file_read:
            spawn_logged(loop_.get_executor(),
                         serve_file_read(std::move(stream), workers_, options_), "file read",
                         nullptr);
            return;
        case link::StreamKind::file_write:
            spawn_logged(loop_.get_executor(),
                         serve_file_write(std::move(stream), workers_, options_), "file write",
                         nullptr);
            return;
        default:
            stream->reset(
                Error(ErrorCode::not_supported, "this guest has no streams of kind " +
                                                    std::string(link::to_string(stream->kind()))));
    }
}

void Agent::take_kernel_stream(link::StreamPtr stream) {
    const auto params = parse_json(stream->params(), JsonLimits{limits::link_params_max_bytes},
                                   "the kernel stream's parameters");
    Result<std::string> id = params ? required_string(*params, "kernel_id") : fail(params.error());
    const auto after = params ? optional_integer(*params, "after") : fail(params.error());
    Result<void> attached;
    if (!id || !after) {
        attached = fail(id ? after.error() : id.error());
    } else {
        attached = kernels_.attach(*id, stream, *after);
    }
    if (!attached) stream->reset(attached.error());
}

}  // namespace cellblock::vm::agent
