#include "tests/bench/native_machine.h"

#include <fcntl.h>

#include <csignal>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/condition.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/process.h"
#include "base/spawn.h"
#include "vm/link/call.h"
#include "vm/link/link.h"
#include "vm/qemu/claim.h"
#include "vm/qemu/qemu_machine.h"

namespace cellblock::bench {

namespace asio = boost::asio;
using vm::ExitReason;

namespace {

// Python with pandas and matplotlib, from a cold disk, on a machine that does other things too.
constexpr std::chrono::minutes start_timeout{3};
// From the wish that the agent ends to force, which leaves its kernels behind.
constexpr std::chrono::seconds end_grace{5};

asio::awaitable<void> pause_for(std::chrono::milliseconds time) {
    asio::steady_timer timer(co_await asio::this_coro::executor, time);
    co_await timer.async_wait(as_tuple_awaitable);
}

}  // namespace

struct NativeMachine::Core {
    asio::any_io_executor executor;
    std::string id = new_short_id();
    std::filesystem::path folder;
    vm::MachineInfo info;
    std::optional<Process> agent;
    vm::link::Link link;
    Condition ended;
    std::optional<vm::ExitInfo> exit;  // the reason, as soon as one is known
    bool gone = false;
    vm::ClaimReply reply;
    std::vector<ExitHandler> handlers;
    StreamHandler on_stream;
    std::vector<vm::link::StreamPtr> early_streams;  // opened by the agent before on_stream was set

    explicit Core(asio::any_io_executor executor_)
        : executor(executor_),
          link(executor_, vm::link::Role::host, vm::link::LinkOptions()),
          ended(executor_) {}

    std::filesystem::path socket() const { return folder / "s"; }
    std::filesystem::path log_file() const { return folder / "log"; }
    Result<void> spawn(const NativeHost& host);
    Result<Fd> connect() const;
    void set_reason(ExitReason reason, std::string text);
    void ask_to_end();
    void accept(vm::link::StreamPtr stream);
    std::string log_tail() const;

    using Self = std::shared_ptr<Core>;
    static asio::awaitable<void> supervise(Self core);
    static asio::awaitable<void> serve_link(Self core);
    static asio::awaitable<Result<void>> bring_up(Self core);
    static asio::awaitable<Result<Json>> ask_claim(Self core, vm::ClaimRequest request);
    static asio::awaitable<void> kill(Self core, std::string reason);
};

Result<void> NativeMachine::Core::spawn(const NativeHost& host) {
    folder = host.run_root / id;
    CB_TRY(make_directories(folder / "home", 0700));
    CB_TRY_ASSIGN(log, open_file(log_file(), O_WRONLY | O_CREAT | O_APPEND));
    SpawnOptions options({host.agent.string(), "--root-less", "--socket", socket().string(),
                          "--python", host.python, "--python-path", host.python_path});
    const char* path = std::getenv("PATH");
    options.environment = {{"HOME", (folder / "home").string()},
                           {"LANG", "C.UTF-8"},
                           {"PATH", path != nullptr ? path : "/usr/bin:/bin"}};
    options.standard_error = std::move(log);
    CB_TRY_ASSIGN(process, Process::spawn(executor, std::move(options)));
    agent = std::move(process);
    info.driver = "native process: no isolation";
    info.pid = agent->pid();
    info.started_at = std::chrono::steady_clock::now();
    return {};
}

Result<Fd> NativeMachine::Core::connect() const {
    asio::local::stream_protocol::socket connection(executor);
    boost::system::error_code error;
    connection.connect(asio::local::stream_protocol::endpoint(socket().string()), error);
    if (error) return fail(ErrorCode::connection_lost, "the agent's socket: " + error.message());
    return Fd(connection.release());
}

void NativeMachine::Core::set_reason(ExitReason reason, std::string text) {
    if (exit) return;
    exit.emplace();
    exit->reason = reason;
    exit->text = std::move(text);
}

void NativeMachine::Core::ask_to_end() {
    if (agent) (void)agent->signal(SIGTERM);  // supervise() knows when it has
}

void NativeMachine::Core::accept(vm::link::StreamPtr stream) {
    if (on_stream) {
        on_stream(std::move(stream));
    } else if (early_streams.size() < limits::machine_early_streams_max) {
        early_streams.push_back(std::move(stream));
    }
}

std::string NativeMachine::Core::log_tail() const {
    const auto text = read_file(log_file(), limits::MiB);
    if (!text) return {};
    return text->substr(text->size() - std::min(text->size(), limits::console_tail_bytes));
}

asio::awaitable<void> NativeMachine::Core::supervise(Self core) {
    const auto status = co_await core->agent->wait();
    core->set_reason(ExitReason::process_died,
                     "the agent ended" + (status ? " with " + status->text() : std::string()));
    core->exit->console_tail = core->log_tail();
    core->gone = true;
    core->link.close(
        Error(ErrorCode::sandbox_gone, "the sandbox's machine is gone: " + core->exit->text));
    std::error_code ignored;
    std::filesystem::remove_all(core->folder, ignored);
    core->ended.notify_all();
    const auto handlers = std::exchange(core->handlers, {});
    for (const ExitHandler& handler : handlers) handler(*core->exit);
}

asio::awaitable<void> NativeMachine::Core::serve_link(Self core) {
    while (!core->gone && !core->link.closed()) {
        auto connection = core->connect();
        if (connection) (void)co_await core->link.run(std::move(*connection));
        co_await pause_for(std::chrono::milliseconds(10));
    }
    if (core->gone) co_return;
    core->set_reason(ExitReason::guest_protocol, "the agent's link was closed");
    core->ask_to_end();
}

asio::awaitable<Result<void>> NativeMachine::Core::bring_up(Self core) {
    CB_CO_TRY(co_await core->link.wait_connected(core->info.started_at + start_timeout));
    Json nothing = Json::object();
    CB_CO_TRY(
        co_await vm::link::call(core->link, "prepare_template", std::move(nothing), start_timeout));
    co_return Result<void>();
}

asio::awaitable<Result<std::unique_ptr<vm::Machine>>> NativeMachine::start(
    std::shared_ptr<const NativeHost> host) {
    const auto executor = co_await asio::this_coro::executor;
    auto core = std::make_shared<Core>(executor);
    CB_CO_TRY(core->spawn(*host));
    core->link.on_stream([weak = std::weak_ptr<Core>(core)](vm::link::StreamPtr stream) {
        if (const auto self = weak.lock()) self->accept(std::move(stream));
    });
    spawn_logged(executor, Core::supervise(core), "native machine", nullptr);
    spawn_logged(executor, Core::serve_link(core), "native machine's link", nullptr);
    std::unique_ptr<vm::Machine> machine(new NativeMachine(core));  // dropping it ends the agent
    const auto up = co_await Core::bring_up(core);
    if (up) co_return std::move(machine);
    Error error = up.error().in("starting a native machine");
    error.cause += "; its log: " + core->log_tail();
    co_await Core::kill(core, error.text());
    co_return fail(std::move(error));
}

NativeMachine::~NativeMachine() {
    core_->handlers.clear();
    core_->set_reason(ExitReason::killed, "its owner dropped it");
    core_->ask_to_end();
}

const std::string& NativeMachine::id() const {
    return core_->id;
}
const vm::MachineInfo& NativeMachine::info() const {
    return core_->info;
}
vm::link::Link& NativeMachine::link() {
    return core_->link;
}
bool NativeMachine::alive() const {
    return !core_->gone && !core_->exit;
}
void NativeMachine::on_stream(StreamHandler handler) {
    core_->on_stream = std::move(handler);
    const auto early = std::exchange(core_->early_streams, {});
    for (const vm::link::StreamPtr& stream : early) core_->on_stream(stream);
}

// The agent leaves out what only a guest can do: entropy, clock, host name, limits.
asio::awaitable<Result<Json>> NativeMachine::Core::ask_claim(Self core, vm::ClaimRequest request) {
    if (request.memory_limit_bytes == 0) request.memory_limit_bytes = limits::GiB;
    co_return co_await vm::link::call(core->link, "claim", vm::claim_parameters(request),
                                      limits::machine_claim_timeout);
}

asio::awaitable<Result<void>> NativeMachine::rehearse_claim() {
    vm::ClaimRequest nobody;
    CB_CO_TRY(co_await Core::ask_claim(core_, std::move(nobody)));
    co_return Result<void>();
}

asio::awaitable<Result<void>> NativeMachine::claim(vm::ClaimRequest request) {
    const auto core = core_;
    const auto result = co_await Core::ask_claim(core, std::move(request));
    if (!result) {
        co_await Core::kill(core, result.error().text());
        co_return fail(result.error());
    }
    core->reply = vm::claim_reply(*result);
    co_return Result<void>();
}

const vm::ClaimReply& NativeMachine::claimed() const {
    return core_->reply;
}

// It never outlives its gateway.
Result<void> NativeMachine::set_note(std::string_view) {
    return {};
}

asio::awaitable<Result<void>> NativeMachine::check(std::chrono::milliseconds timeout) {
    Json only_asks = {{"step_by_ns", 0}};
    CB_CO_TRY(co_await vm::link::call(core_->link, "clock", std::move(only_asks), timeout));
    co_return Result<void>();
}

asio::awaitable<Result<vm::MachineStatePointer>> NativeMachine::capture(vm::AfterCapture,
                                                                        std::function<void()>) {
    co_return fail(ErrorCode::not_supported, "a native process cannot be captured");
}
asio::awaitable<Result<void>> NativeMachine::go_on() {
    co_return fail(ErrorCode::not_supported, "a native process is never stopped");
}
std::shared_ptr<vm::link::Link> NativeMachine::detach_link() {
    return nullptr;
}

asio::awaitable<void> NativeMachine::Core::kill(Self core, std::string reason) {
    core->set_reason(ExitReason::killed, std::move(reason));
    core->ask_to_end();
    const Deadline deadline = std::chrono::steady_clock::now() + end_grace;
    while (!core->gone && co_await core->ended.wait_until(deadline)) {
    }
    if (!core->gone) (void)core->agent->signal(SIGKILL);
    while (!core->gone) co_await core->ended.wait();
}

asio::awaitable<void> NativeMachine::kill(std::string reason) {
    co_await Core::kill(core_, std::move(reason));
}

void NativeMachine::on_exit(ExitHandler handler) {
    if (!core_->gone) {
        core_->handlers.push_back(std::move(handler));
        return;
    }
    asio::post(core_->executor,
               [core = core_, handler = std::move(handler)] { handler(*core->exit); });
}

// Milliseconds on the loop: a bench asks for it where nothing is timed.
asio::awaitable<Result<vm::MemoryUsage>> NativeMachine::memory_usage() {
    co_return vm::read_memory_usage(core_->info.pid);
}

asio::awaitable<std::string> NativeMachine::console_tail() {
    co_return core_->log_tail();
}

}  // namespace cellblock::bench
