#include "vm/agent/kernel_channels.h"

#include <algorithm>

#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"
#include "vm/agent/deadline.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;
using link::Channel;

// The order in which the host hears them.
constexpr std::array<Channel, 4> by_urgency = {Channel::control, Channel::stdin_, Channel::shell,
                                               Channel::iopub};
// A question that was sent before the kernel bound its sockets waits in ours, so repeating it only
// helps when iopub was subscribed too late to hear the first one.
constexpr std::chrono::milliseconds ready_repeat{250};
constexpr std::size_t own_reply_max_bytes = 1 * limits::MiB;

}  // namespace

KernelChannels::KernelChannels(asio::any_io_executor executor, std::function<void()> on_message,
                               DroppedHandler on_dropped)
    : executor_(executor),
      on_message_(std::move(on_message)),
      on_dropped_(std::move(on_dropped)),
      session_("cellblock-agent-" + new_secret().substr(0, 32)),
      answered_(executor) {}

Result<std::shared_ptr<KernelChannels>> KernelChannels::open(zmq::context_t& context,
                                                             asio::any_io_executor executor,
                                                             KernelEndpoints endpoints,
                                                             std::function<void()> on_message,
                                                             DroppedHandler on_dropped) {
    std::shared_ptr<KernelChannels> channels(
        new KernelChannels(executor, std::move(on_message), std::move(on_dropped)));
    const auto opened = channels->open_sockets(context, endpoints);
    if (opened) return channels;
    channels->close();
    return fail(opened.error());
}

Result<void> KernelChannels::open_sockets(zmq::context_t& context,
                                          const KernelEndpoints& endpoints) {
    // One identity on all: the kernel asks for input on stdin under the name that executed.
    const std::string identity = new_uuid();
    const std::array<const std::string*, 4> names = {&endpoints.shell, &endpoints.control,
                                                     &endpoints.stdin_, &endpoints.iopub};
    for (std::size_t i = 0; i < names.size(); ++i) {
        const auto which = static_cast<Channel>(i);
        const bool iopub = which == Channel::iopub;
        ZmqChannelOptions options;
        options.type = iopub ? zmq::socket_type::sub : zmq::socket_type::dealer;
        options.endpoint = *names[i];
        options.routing_id = identity;
        options.inbox_max_bytes = limits::agent_inbox_max_bytes;
        options.receive_high_water_mark =
            iopub ? limits::agent_iopub_high_water_mark : limits::agent_reply_high_water_mark;
        // The sockets are closed before this object goes, so `this` stays good.
        options.filter = [this, which](const Multipart& m) { return take_own(which, m); };
        options.on_message = on_message_;
        options.on_dropped = [this, which](std::size_t bytes) { on_dropped_(which, bytes); };
        CB_TRY_ASSIGN(opened, ZmqChannel::open(context, executor_, std::move(options)));
        channels_[i] = std::move(opened);
    }
    return {};
}

void KernelChannels::close() {
    if (closed_) return;
    closed_ = true;
    for (auto& open_channel : channels_) {
        if (open_channel) open_channel->close();
    }
    answered_.notify_all();
    on_message_();
    on_message_ = [] {};
    on_dropped_ = [](Channel, std::size_t) {};
}

KernelChannels::Waiting KernelChannels::next() const {
    for (const Channel which : by_urgency) {
        if (const Multipart* message = channel(which).front()) return {which, message};
    }
    return {};
}

asio::awaitable<Result<void>> KernelChannels::send(Channel which, Multipart message) {
    return channel(which).send(std::move(message));
}

// --- the agent's own requests --------------------------------------------------------------------

bool KernelChannels::take_own(Channel which, const Multipart& message) {
    if (!answers_session(message, session_)) return false;
    if (which == Channel::iopub) {
        heard_on_iopub_ = true;
        answered_.notify_all();
        return true;
    }
    const auto header = header_index(message);
    if (awaited_.empty() ||
        text_of(message[*header + 1]).find(awaited_) == std::string_view::npos) {
        return true;  // the answer to an earlier repetition
    }
    auto content = parse_json(text_of(message[*header + 3]), JsonLimits{own_reply_max_bytes},
                              "a kernel's reply");
    reply_ = content ? std::move(*content) : Json::object();
    awaited_.clear();
    answered_.notify_all();
    return true;
}

asio::awaitable<Result<Json>> KernelChannels::request(Channel which, std::string type, Json content,
                                                      Deadline deadline) {
    const auto self = shared_from_this();
    if (!awaited_.empty()) {
        co_return fail(ErrorCode::conflict, "the agent is asking this kernel something already");
    }
    // Closed by a quote, so that no id is the beginning of another.
    const std::string id = session_ + "_" + std::to_string(++requests_);
    awaited_ = "\"" + id + "\"";
    const auto sent = co_await channel(which).send(make_request(session_, id, type, content));
    while (sent && !closed_ && !awaited_.empty() && std::chrono::steady_clock::now() < deadline) {
        co_await answered_.wait_until(deadline);
    }
    if (awaited_.empty()) co_return std::exchange(reply_, Json::object());
    awaited_.clear();
    if (closed_ || !sent) co_return fail(ErrorCode::kernel_died, "the kernel has ended");
    co_return fail(ErrorCode::timeout, "the kernel did not answer " + type + " in time");
}

asio::awaitable<Result<void>> KernelChannels::wait_ready(Deadline deadline) {
    CB_CO_TRY(co_await request(Channel::shell, "kernel_info_request", Json::object(), deadline));
    while (!heard_on_iopub_) {
        co_await answered_.wait_until(std::min(deadline, after(ready_repeat)));
        if (heard_on_iopub_) break;
        CB_CO_TRY(
            co_await request(Channel::shell, "kernel_info_request", Json::object(), deadline));
    }
    co_return Result<void>{};
}

}  // namespace cellblock::vm::agent
