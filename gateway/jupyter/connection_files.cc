#include "gateway/jupyter/connection_files.h"

#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/condition.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/limits.h"
#include "base/pipe.h"
#include "base/spawn.h"

namespace cellblock::gateway::jupyter {

namespace asio = boost::asio;
using asio::awaitable;

struct ConnectionFiles::Relay {
    Relay(const asio::any_io_executor& executor, std::filesystem::path file_)
        : file(std::move(file_)), changed(executor) {}

    std::filesystem::path file;
    std::optional<Process> process;
    std::optional<asio::posix::stream_descriptor> output;
    std::optional<Result<Json>> connection;  // absent: it is being started
    Condition changed;
};

namespace {

Error not_started(const std::string& why) {
    return Error(ErrorCode::unavailable, "the kernel's ZeroMQ relay did not start: " + why,
                 "run `cellblock connect ID`, which says more");
}

// Whether the relay printed its line; its end and its silence are no.
awaitable<bool> read_line(asio::posix::stream_descriptor& output) {
    using namespace asio::experimental::awaitable_operators;
    asio::steady_timer timer(output.get_executor(), limits::kernel_call_timeout);
    std::array<char, 512> chunk;
    while (true) {
        auto outcome = co_await (output.async_read_some(asio::buffer(chunk), as_tuple_awaitable) ||
                                 timer.async_wait(as_tuple_awaitable));
        if (outcome.index() != 0) co_return false;
        const auto [error, size] = std::get<0>(outcome);
        if (error) co_return false;
        if (std::string_view(chunk.data(), size).find('\n') != std::string_view::npos) {
            co_return true;
        }
    }
}

Result<Json> read_connection(const std::filesystem::path& file) {
    CB_TRY_ASSIGN(text, read_file(file, limits::connection_file_max_bytes));
    return parse_json(text, JsonLimits{limits::connection_file_max_bytes}, "a connection file");
}

}  // namespace

ConnectionFiles::ConnectionFiles(asio::any_io_executor executor, std::filesystem::path folder,
                                 RelayCommand command)
    : executor_(std::move(executor)), folder_(std::move(folder)), command_(std::move(command)) {}

ConnectionFiles::~ConnectionFiles() {
    for (const auto& [kernel_id, relay] : *relays_) {
        if (relay->process) (void)relay->process->signal(SIGTERM);
    }
}

awaitable<Result<Json>> ConnectionFiles::of(std::string kernel_id) {
    std::shared_ptr<Relay> relay;
    if (const auto found = relays_->find(kernel_id); found != relays_->end()) {
        relay = found->second;
    } else {
        CB_CO_TRY(make_directories(folder_, 0700));
        // The relay of an earlier gateway may live, and removes its own file when it ends.
        const std::string name = "kernel-" + kernel_id + "-" + new_short_id() + ".json";
        relay = std::make_shared<Relay>(executor_, folder_ / name);
        SpawnOptions options = command_(kernel_id, relay->file);
        CB_CO_TRY_ASSIGN(pipe, make_pipe());
        options.standard_output = std::move(pipe.write_end);
        CB_CO_TRY_ASSIGN(process, Process::spawn(executor_, std::move(options)));
        relay->process.emplace(std::move(process));
        relay->output.emplace(executor_, pipe.read_end.release());
        relays_->emplace(kernel_id, relay);
        spawn_logged(executor_, run(relays_, kernel_id, relay), "zmq_relay", nullptr);
    }
    while (!relay->connection) co_await relay->changed.wait();
    co_return *relay->connection;
}

// From the start of one relay to its end.
awaitable<void> ConnectionFiles::run(std::shared_ptr<Relays> relays, std::string kernel_id,
                                     std::shared_ptr<Relay> relay) {
    if (co_await read_line(*relay->output)) {
        relay->connection = read_connection(relay->file);
        relay->changed.notify_all();
    } else {
        (void)relay->process->signal(SIGKILL);
    }
    const auto ended = co_await relay->process->wait();
    if (!relay->connection) {
        relay->connection = fail(not_started(ended ? ended->text() : ended.error().text()));
    }
    const auto now = relays->find(kernel_id);
    if (now != relays->end() && now->second == relay) relays->erase(now);
    relay->changed.notify_all();
}

}  // namespace cellblock::gateway::jupyter
