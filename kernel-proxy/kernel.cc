#include "kernel-proxy/kernel.h"

#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"
#include "vm/link/call.h"
#include "vm/link/kernel_message.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;

std::string_view to_string(KernelState state) {
    switch (state) {
        case KernelState::starting:
            return "starting";
        case KernelState::idle:
            return "idle";
        case KernelState::busy:
            return "busy";
        case KernelState::restarting:
            return "restarting";
        case KernelState::dead:
            return "dead";
    }
    return "unknown";
}

Kernel::Kernel(asio::any_io_executor executor, vm::link::Link& link, KernelSpec spec,
               std::function<void(Error)> on_unresponsive)
    : executor_(executor),
      link_(&link),
      spec_(std::move(spec)),
      on_unresponsive_(std::move(on_unresponsive)),
      session_(new_uuid()),
      channels_(std::make_shared<Channels>(executor, side_for_channels())),
      changed_(executor) {}

Kernel::~Kernel() {
    channels_->close("the kernel is gone");
}

std::string_view Kernel::execution_state() const {
    const bool settled = state_ == KernelState::idle || state_ == KernelState::busy;
    if (!settled) return to_string(state_);
    return to_string(current_ || channels_->busy() ? KernelState::busy : KernelState::idle);
}

// --- life of the process -----------------------------------------------------------------------

namespace {

Json start_params(const KernelSpec& spec) {
    Json params = {{"kernel_id", spec.guest_id},
                   {"name", spec.name},
                   {"cwd", spec.working_directory},
                   {"env", spec.environment}};
    if (!spec.launch.argv.empty()) params["argv"] = spec.launch.argv;
    return params;
}

}  // namespace

asio::awaitable<Result<void>> Kernel::start() {
    const auto self = shared_from_this();
    const Json params = start_params(spec_);
    auto started =
        co_await vm::link::call(*link_, "kernel.start", params, limits::kernel_start_timeout);
    if (state_ == KernelState::dead) {
        co_return fail(ErrorCode::sandbox_gone, "the sandbox ended while its kernel was starting");
    }
    if (!started) {
        state_ = KernelState::dead;
        changed_.notify_all();
        co_return fail(started.error().in("starting a kernel"));
    }
    CB_CO_TRY_ASSIGN(pid, required_integer(*started, "pid"));
    adopt(pid);
    co_return Result<void>{};
}

void Kernel::adopt(std::int64_t running_pid) {
    KernelImage image;
    image.pid = running_pid;
    adopt(image, nullptr);
}

void Kernel::open_stream(Counting counting) {
    if (counting == Counting::anew) {
        received_ = acknowledged_ = logged_through_ = 0;
        settling_.clear();
    }
    const auto after = static_cast<std::int64_t>(received_);
    const Json params = {{"kernel_id", spec_.guest_id},
                         {"after", counting == Counting::anew ? -1 : after}};
    stream_ = link_->open(vm::link::StreamKind::kernel, params.dump());
}

void Kernel::spawn(asio::awaitable<void> task, std::string name) {
    spawn_logged(executor_, std::move(task), std::move(name), shared_from_this());
}

asio::awaitable<Result<void>> Kernel::replace_process(Announce announce) {
    if (state_ == KernelState::restarting) {
        while (state_ == KernelState::restarting) co_await changed_.wait();
    } else if (state_ != KernelState::dead || link_ != nullptr) {
        state_ = KernelState::restarting;
        if (announce == Announce::yes) channels_->announce("restarting");
        const Json params = start_params(spec_);
        auto started =
            co_await vm::link::call(*link_, "kernel.restart", params, limits::kernel_start_timeout);
        if (state_ == KernelState::restarting) {  // else: closed meanwhile
            const auto pid = started ? required_integer(*started, "pid")
                                     : Result<std::int64_t>(fail(started.error()));
            channels_->new_process();
            state_ = pid ? KernelState::idle : KernelState::dead;
            pid_ = pid.value_or(0);
            expected_exit_.reset();
            if (!pid) channels_->announce("dead");
        }
        changed_.notify_all();
        if (!started) co_return fail(started.error().in("restarting the kernel"));
    }
    if (state_ == KernelState::dead) {
        co_return fail(ErrorCode::kernel_died, "the kernel could not be restarted",
                       "delete this context and make a new one");
    }
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Kernel::restart(Announce announce) {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    end_running(Outcome::restarted,
                Error(ErrorCode::cancelled, "the context was restarted while the cell ran"));
    co_return co_await replace_process(announce);
}

asio::awaitable<Result<void>> Kernel::interrupt() {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    if (spec_.launch.interrupt_mode == InterruptMode::message) {
        const auto request =
            make_request(Channel::control, "interrupt_request", session_, Json::object());
        co_return co_await send(request);  // its reply belongs to nobody
    }
    const Json params = {{"kernel_id", spec_.guest_id}, {"signal", 2}};
    auto sent =
        co_await vm::link::call(*link_, "kernel.signal", params, limits::kernel_signal_timeout);
    if (!sent) co_return fail(sent.error().in("interrupting the kernel"));
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Kernel::stop() {
    const auto self = shared_from_this();
    if (link_ == nullptr) co_return Result<void>{};
    vm::link::Link& link = *link_;
    close(Outcome::cancelled, Error(ErrorCode::cancelled, "the context was deleted"));
    const Json params = {{"kernel_id", spec_.guest_id}};
    auto stopped =
        co_await vm::link::call(link, "kernel.stop", params, limits::kernel_stop_timeout);
    if (!stopped) co_return fail(stopped.error().in("stopping the kernel"));
    co_return Result<void>{};
}

void Kernel::on_died(const KernelDeath& death) {
    // A process that we replaced ourselves is no news.
    if (death.pid != pid_ || state_ == KernelState::restarting || link_ == nullptr) return;
    if (const auto after = std::exchange(expected_exit_, std::nullopt)) {
        end_running(Outcome::restarted,
                    Error(ErrorCode::cancelled, "a client shut the kernel down"));
        if (*after == AfterShutdown::restart) {
            spawn(restart_after_death(Announce::no), "kernel_restart");
        } else {
            state_ = KernelState::dead;
            changed_.notify_all();
            if (on_shut_down_) on_shut_down_();
        }
        return;
    }
    log::warning(
        "kernel_died",
        {{"kernel_id", spec_.id}, {"how", death.how}, {"out_of_memory", death.out_of_memory}});
    end_running(outcome_of(death), describe(death));
    spawn(restart_after_death(Announce::yes), "kernel_restart");
}

asio::awaitable<void> Kernel::restart_after_death(Announce announce) {
    const auto self = shared_from_this();
    const auto replaced = co_await replace_process(announce);
    if (!replaced && link_ != nullptr) {
        log::error("kernel_restart_failed",
                   {{"kernel_id", spec_.id}, {"error", replaced.error().text()}});
    }
}

void Kernel::close(Outcome outcome, Error error) {
    if (link_ == nullptr) return;
    link_ = nullptr;
    state_ = KernelState::dead;
    end_running(outcome, error);
    for (const auto& waiting : std::exchange(queue_, {})) waiting->finish(Finished{outcome, error});
    channels_->close(error.cause);
    if (stream_) stream_->reset(error);
    changed_.notify_all();
}

// --- messages ----------------------------------------------------------------------------------

asio::awaitable<Result<void>> Kernel::send(const Request& request) {
    const auto stream = stream_;
    const std::vector<ByteView> frames = request.views();
    co_return co_await vm::link::write_kernel_message(*stream, request.channel, frames);
}

Channels::KernelSide Kernel::side_for_channels() {
    // Channels let go of these in close(), before this object goes.
    Channels::KernelSide side;
    side.kernel_id = spec_.id;
    side.ready = [this] { return wait_for_process(); };
    side.send = [this](const ClientMessage& message) { return send_from_client(message); };
    side.expect_exit = [this](AfterShutdown after) { expected_exit_ = after; };
    side.asked = [this] {
        if (keep_place_) keep_place_();
    };
    side.moved_on = [this] { changed_.notify_all(); };
    side.interrupt = [this] { spawn(interrupt_for_channels(), "kernel_interrupt"); };
    return side;
}

asio::awaitable<Result<void>> Kernel::wait_for_process() {
    const auto self = shared_from_this();
    const Deadline patience = std::chrono::steady_clock::now() + limits::kernel_stop_timeout;
    while (true) {
        if (frozen_ || state_ == KernelState::starting || state_ == KernelState::restarting) {
            co_await changed_.wait();
        } else if (expected_exit_ && state_ != KernelState::dead) {
            // A process that was asked to end hears nothing more. One that stays after all does.
            if (!co_await changed_.wait_until(patience)) expected_exit_.reset();
        } else {
            break;
        }
    }
    if (state_ == KernelState::dead) co_return fail(ErrorCode::kernel_died, "the kernel is dead");
    co_return Result<void>{};
}

asio::awaitable<Result<void>> Kernel::send_from_client(const ClientMessage& message) {
    const auto self = shared_from_this();
    const auto stream = stream_;
    co_return co_await vm::link::write_kernel_message(*stream, message.channel, message.frames);
}

asio::awaitable<void> Kernel::interrupt_for_channels() {
    const auto self = shared_from_this();
    const auto sent = co_await interrupt();
    if (!sent) {
        log::warning("kernel_interrupt_failed",
                     {{"kernel_id", spec_.id}, {"error", sent.error().text()}});
    }
}

asio::awaitable<void> Kernel::read_messages() {
    const auto self = shared_from_this();
    std::size_t losses = 0;
    while (link_ != nullptr) {
        const auto stream = stream_;
        auto received = co_await vm::link::read_kernel_message(*stream);
        if (!received || !*received) {
            if (link_ == nullptr) co_return;
            const Error error =
                received ? Error(ErrorCode::connection_lost, "the stream ended") : received.error();
            log::warning("kernel_stream_lost", {{"kernel_id", spec_.id}, {"error", error.text()}});
            if (link_->closed()) co_return;  // close() follows from the machine's end
            // The guest says again what was on its way; if it cannot, the cell's output has a hole.
            if (losses > 0) end_running(Outcome::internal, error.in("reading from the kernel"));
            if (++losses > limits::kernel_stream_losses_max) {
                if (on_unresponsive_) on_unresponsive_(error);
                co_return;
            }
            open_stream(losses == 1 ? Counting::on : Counting::anew);
            continue;
        }
        losses = 0;
        const std::uint64_t position = ++received_;
        // A running Execution paces the kernel by itself.
        if (!current_) co_await channels_->wait_for_room((*received)->size_bytes());
        co_await on_message(std::make_shared<const KernelMessage>(std::move(**received)), position);
        acknowledge_soon();
    }
}

asio::awaitable<void> Kernel::on_message(SharedMessage message, std::uint64_t position) {
    const auto routing = read_routing(*message);
    if (!routing) {
        log::warning("kernel_message_refused",
                     {{"kernel_id", spec_.id}, {"error", routing.error().cause}});
        co_return;
    }
    const bool waited_for_client = channels_->client_cell_running();
    channels_->take(message, *routing, position);
    if (waited_for_client && !channels_->client_cell_running()) changed_.notify_all();
    const auto cell = current_;
    if (!cell || routing->parent_msg_id != cell->msg_id()) co_return;
    if (position <= logged_through_) co_return;  // said again for others
    cell->execution().heard(position);
    if (message->channel() == Channel::iopub) {
        co_await on_iopub(*cell, *message, *routing);
    } else if (message->channel() == Channel::shell && routing->msg_type == "execute_reply") {
        on_reply(*cell, *message);
    }
}

asio::awaitable<void> Kernel::on_iopub(RunningCell& cell, const KernelMessage& message,
                                       const Routing& routing) {
    auto read = read_output(message, routing);
    if (!read) {
        OutputEvent dropped = Dropped{read.error().cause};
        co_await cell.execution().deliver(std::move(dropped), 0);
        co_return;
    }
    if (read->idle) {
        cell.set_idle_seen();
        changed_.notify_all();
    } else if (read->event) {
        if (!cell.note(*read->event)) co_return;
        co_await cell.execution().deliver(std::move(*read->event), message.content().size());
    }
}

void Kernel::on_reply(RunningCell& cell, const KernelMessage& message) {
    auto reply = read_execute_reply(message);
    if (!reply) {
        log::warning("execute_reply_refused",
                     {{"kernel_id", spec_.id}, {"error", reply.error().cause}});
        return;  // the tail grace ends the execution
    }
    if (const auto keeper = cell.execution().keeper()) keeper->answered(to_string(reply->status));
    cell.set_reply(std::move(*reply));
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
