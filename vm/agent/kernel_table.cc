#include "vm/agent/kernel_table.h"

#include "base/ids.h"
#include "base/limits.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;

Result<void> check_startable(const StartOptions& options) {
    if (options.name == "python3" || !options.argv.empty()) return {};
    return fail(ErrorCode::not_supported,
                "there is no kernel named " + options.name + " in this guest",
                "use python3, or say how it is started (argv)");
}

}  // namespace

KernelTable::KernelTable(KernelServices services) : services_(std::move(services)) {}

void KernelTable::set_sandbox(std::map<std::string, std::string> environment,
                              std::string working_directory) {
    environment_ = std::move(environment);
    working_directory_ = std::move(working_directory);
}

StartOptions KernelTable::with_sandbox(StartOptions options) const {
    for (const auto& [name, value] : environment_) options.environment.try_emplace(name, value);
    if (options.working_directory.empty()) options.working_directory = working_directory_;
    return options;
}

Result<std::shared_ptr<Kernel>> KernelTable::find(const std::string& id) const {
    const auto found = kernels_.find(id);
    if (found != kernels_.end()) return found->second;
    return fail(ErrorCode::not_found, "there is no kernel " + id + " in this guest");
}

asio::awaitable<Result<Started>> KernelTable::start(std::string id, StartOptions options) {
    if (!is_valid_id(id)) {
        co_return fail(ErrorCode::invalid_argument, "kernel_id has to be 1 to 64 of [A-Za-z0-9_-]");
    }
    CB_CO_TRY(check_startable(options));
    auto& slot = kernels_[id];
    const bool fresh = !slot;
    if (fresh && kernels_.size() > limits::agent_kernels_max) {
        kernels_.erase(id);
        co_return fail(
            ErrorCode::too_many,
            "this sandbox has " + std::to_string(limits::agent_kernels_max) + " kernels already",
            "stop one first");
    }
    if (fresh) slot = std::make_shared<Kernel>(services_, id);
    const auto kernel = slot;
    auto started = co_await kernel->start(with_sandbox(std::move(options)));
    const auto now = kernels_.find(id);
    if (!started && fresh && now != kernels_.end() && now->second == kernel) kernels_.erase(now);
    co_return started;
}

asio::awaitable<Result<Started>> KernelTable::restart(std::string id, StartOptions options) {
    CB_CO_TRY_ASSIGN(kernel, find(id));
    CB_CO_TRY(check_startable(options));
    CB_CO_TRY(co_await kernel->stop());
    co_return co_await kernel->start(with_sandbox(std::move(options)));
}

asio::awaitable<Result<void>> KernelTable::stop(std::string id) {
    CB_CO_TRY_ASSIGN(kernel, find(id));
    CB_CO_TRY(co_await kernel->stop());
    const auto now = kernels_.find(id);
    if (now != kernels_.end() && now->second == kernel) kernels_.erase(now);
    co_return Result<void>{};
}

Result<void> KernelTable::signal(const std::string& id, int signal_number) {
    CB_TRY_ASSIGN(kernel, find(id));
    return kernel->signal(signal_number);
}

Result<void> KernelTable::attach(const std::string& id, link::StreamPtr stream,
                                 std::optional<std::int64_t> after) {
    CB_TRY_ASSIGN(kernel, find(id));
    kernel->attach(std::move(stream), after);
    return {};
}

Result<void> KernelTable::acknowledge(const std::string& id, std::uint64_t position) {
    CB_TRY_ASSIGN(kernel, find(id));
    kernel->acknowledge(position);
    return {};
}

asio::awaitable<Result<void>> KernelTable::reseed_all() {
    const auto kernels = kernels_;  // starts and deaths meanwhile change the table
    for (const auto& [id, kernel] : kernels) {
        if (kernel->state() != KernelState::running) continue;
        Bytes entropy(64);
        fill_random(entropy.data(), entropy.size());
        CB_CO_TRY(co_await kernel->reseed(std::move(entropy), environment_, working_directory_));
    }
    co_return Result<void>{};
}

asio::awaitable<Result<void>> KernelTable::run_silently(std::string id, std::string code,
                                                        Deadline deadline) {
    CB_CO_TRY_ASSIGN(kernel, find(id));
    co_return co_await kernel->run_silently(std::move(code), deadline);
}

void KernelTable::kill_all() {
    for (const auto& [id, kernel] : kernels_) kernel->kill_all();
}

Json KernelTable::list() const {
    Json kernels = Json::array();
    for (const auto& [id, kernel] : kernels_) {
        kernels.push_back({{"kernel_id", id},
                           {"name", kernel->name()},
                           {"pid", kernel->pid()},
                           {"state", to_string(kernel->state())}});
    }
    return kernels;
}

}  // namespace cellblock::vm::agent
