#include "kernel-proxy/channels.h"

#include <algorithm>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "kernel-proxy/json_members.h"

namespace cellblock::kernel_proxy {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

// What a client waits for, if it is small, is never let go of while bulk can be.
constexpr std::size_t essential_max_bytes = 64 * limits::KiB;

Journal::Weight weight_of_iopub(const KernelMessage& message, std::string_view msg_type) {
    const bool awaited = msg_type == "status" || msg_type == "error";
    return awaited && message.size_bytes() <= essential_max_bytes ? Journal::Weight::essential
                                                                  : Journal::Weight::bulk;
}

Journal::Weight weight_of_reply(const KernelMessage& message) {
    return message.size_bytes() <= essential_max_bytes ? Journal::Weight::essential
                                                       : Journal::Weight::bulk;
}

StatusKind status_of(const KernelMessage& message, const Routing& routing) {
    if (routing.msg_type != "status") return StatusKind::none;
    const auto content = read_content(message);
    if (!content) return StatusKind::none;
    const auto state = optional_string(*content, "execution_state");
    if (!state || !*state) return StatusKind::none;
    if (**state == "busy") return StatusKind::busy;
    return **state == "idle" ? StatusKind::idle : StatusKind::none;
}

AfterShutdown wanted_after_shutdown(const ClientMessage& message) {
    const auto members = split_json_object(as_text(message.frames[3]));
    const bool restart = members && find_member(*members, "restart") == "true";
    return restart ? AfterShutdown::restart : AfterShutdown::gone;
}

}  // namespace

Channels::Channels(asio::any_io_executor executor, KernelSide kernel)
    : executor_(executor),
      kernel_(std::move(kernel)),
      journal_(limits::journal_max_bytes, limits::journal_entries_max),
      changed_(executor) {}

// --- clients -----------------------------------------------------------------------------------

Result<std::shared_ptr<Session>> Channels::session_for(const std::string& name) {
    const auto known = sessions_.find(name);
    if (known != sessions_.end()) return known->second;
    if (sessions_.size() >= limits::client_sessions_max) {
        const auto longest_away = std::min_element(
            sessions_.begin(), sessions_.end(),
            [](const auto& a, const auto& b) { return a.second->left_at < b.second->left_at; });
        if (longest_away->second->attached != nullptr) {
            return fail(ErrorCode::too_many,
                        std::to_string(sessions_.size()) + " clients use this kernel already",
                        "close some of their connections");
        }
        sessions_.erase(longest_away);
    }
    auto session = std::make_shared<Session>();
    session->returns = !name.empty();
    session->name = name.empty() ? new_uuid() : name;
    session->next = session->confirmed = session->replay_end = journal_.end();
    sessions_[session->name] = session;
    return session;
}

asio::awaitable<Result<std::unique_ptr<Attachment>>> Channels::attach(std::string name,
                                                                      std::function<void()> wake) {
    const auto self = shared_from_this();
    if (name.size() > limits::client_session_name_max_bytes) {
        co_return fail(ErrorCode::invalid_argument, "the session_id is too long");
    }
    CB_CO_TRY_ASSIGN(session, session_for(name));
    // What the old connection's client had already is known when its socket has been read out.
    const Deadline deadline = steady_clock::now() + limits::client_takeover_timeout;
    while (session->attached != nullptr) {
        session->attached->end(EndReason::replaced, "this session connected again");
        if (!co_await changed_.wait_until(deadline)) {
            detach(*session, session->attached);
        }
    }
    if (closed_) co_return fail(ErrorCode::not_found, "the kernel is gone");
    sessions_[session->name] = session;  // it may have been forgotten meanwhile
    session->next = session->confirmed;
    session->replay_end = journal_.end();
    session->left_at = Deadline::max();
    last_moved_ = steady_clock::now();
    auto attachment = std::make_unique<Attachment>(self, session, std::move(wake));
    changed_.notify_all();  // a question's asker is back
    co_return attachment;
}

void Channels::detach(Session& session, const Attachment* attachment) {
    // One that was taken over has nothing to leave.
    if (attachment == nullptr || session.attached != attachment) return;
    session.attached = nullptr;
    session.left_at = steady_clock::now();
    // A client that answers no pings is taken to have what was written to it.
    if (!session.confirms) session.confirmed = session.next;
    session.next = session.confirmed;
    if (!session.returns) sessions_.erase(std::string(session.name));
    forget_what_all_have();
    if (question_ && question_->session == session.name && !watching_ && !closed_) {
        spawn_logged(executor_, watch_question(), "kernel_question", shared_from_this());
    }
    changed_.notify_all();
}

std::size_t Channels::connections() const {
    return static_cast<std::size_t>(
        std::count_if(sessions_.begin(), sessions_.end(),
                      [](const auto& session) { return session.second->attached != nullptr; }));
}

bool Channels::is_live(const Session& session) {
    return session.attached != nullptr && !session.attached->ended();
}

bool Channels::attached(const std::string& session) const {
    const auto at = sessions_.find(session);
    return at != sessions_.end() && at->second->attached != nullptr;
}

asio::awaitable<Result<void>> Channels::send(const ClientMessage& message,
                                             const std::string& session) {
    // First of all: a new process begins without open requests. Copied, here and below: close()
    // lets go of the functions while they run.
    if (const auto ready = kernel_.ready) {
        CB_CO_TRY(co_await ready());
    }
    if (closed_) co_return fail(ErrorCode::kernel_died, "the kernel is gone");
    activity_.note_request(message.routing.msg_type);
    if (message.channel == Channel::stdin_) {
        if (question_ && question_->session != session) {
            co_return fail(ErrorCode::conflict, "the kernel asked another client");
        }
        question_.reset();
    } else {
        requests_.add(message.routing, session);
        if (message.routing.msg_type.ends_with("_request")) {
            note_asked(message.routing, session);
            if (const auto asked = kernel_.asked) asked();
        }
    }
    if (message.routing.msg_type == "shutdown_request" && kernel_.expect_exit) {
        kernel_.expect_exit(wanted_after_shutdown(message));
    }
    const auto send = kernel_.send;
    co_return co_await send(message);
}

void Channels::moved() {
    last_moved_ = steady_clock::now();
    changed_.notify_all();
}

// --- the journal -------------------------------------------------------------------------------

void Channels::append(SharedMessage message, std::string recipient, Journal::Weight weight,
                      std::uint64_t source) {
    if (sessions_.empty()) return;
    journal_.append(std::move(message), recipient, weight, source);
    end_overrun_clients();
    forget_what_all_have();
    for (const auto& [name, session] : sessions_) {
        const bool concerned = recipient.empty() || recipient == name;
        if (concerned && session->attached != nullptr) session->attached->wake();
    }
}

void Channels::append_reply(std::optional<OpenRequests::Ready> ready) {
    if (!ready) return;
    const auto weight = weight_of_reply(*ready->message);
    append(std::move(ready->message), std::move(ready->session), weight, ready->source);
}

// Of a client in its replay gaps are told instead.
void Channels::end_overrun_clients() {
    for (const auto& [name, session] : sessions_) {
        const Position reached = std::max(session->next, session->replay_end);
        if (session->attached == nullptr || journal_.bulk_gone_before() <= reached) continue;
        end_slow(*session);
    }
}

void Channels::end_slow(Session& session) {
    if (session.attached->ended()) return;
    log::warning("kernel_client_too_slow", {{"kernel_id", kernel_.kernel_id}});
    session.attached->end(EndReason::too_slow,
                          "this client reads more slowly than the kernel writes, and is too far "
                          "behind");
}

void Channels::forget_what_all_have() {
    Position needed = journal_.end();
    for (const auto& [name, session] : sessions_) {
        const bool kept = session->returns && session->confirms;
        needed = std::min(needed, kept ? session->confirmed : session->next);
    }
    // An `idle` and the reply that it let out are made anew together.
    while (needed > journal_.begin() && needed < journal_.end() && journal_.at(needed).source > 0 &&
           journal_.at(needed).source == journal_.at(needed - 1).source) {
        --needed;
    }
    const Position before = journal_.begin();
    journal_.forget_before(needed);
    if (journal_.begin() != before && kernel_.moved_on) kernel_.moved_on();
}

std::uint64_t Channels::least_lag_bytes() const {
    std::optional<std::uint64_t> least;
    for (const auto& [name, session] : sessions_) {
        if (!is_live(*session)) continue;
        const std::uint64_t lag = journal_.lag_bytes(session->next);
        least = std::min(least.value_or(lag), lag);
    }
    return least.value_or(0);
}

std::shared_ptr<Session> Channels::furthest_behind() const {
    std::shared_ptr<Session> last;
    for (const auto& [name, session] : sessions_) {
        if (!is_live(*session)) continue;
        if (!last || session->next < last->next) last = session;
    }
    return last;
}

asio::awaitable<void> Channels::wait_for_room(std::size_t bytes) {
    const auto self = shared_from_this();
    // Half of the journal is always there for outputs.
    const auto too_far = [bytes](std::uint64_t lag) {
        return lag > 0 && lag + bytes > limits::journal_max_bytes / 2;
    };
    const Deadline begin = steady_clock::now();
    while (!closed_) {
        const auto last = furthest_behind();
        if (!last || !too_far(journal_.lag_bytes(last->next))) co_return;
        const bool all_behind = too_far(least_lag_bytes());
        const Deadline deadline = all_behind
                                      ? std::max(begin, last_moved_) + limits::client_stall_timeout
                                      : begin + limits::client_patience;
        if (co_await changed_.wait_until(deadline)) continue;
        if (is_live(*last) && too_far(journal_.lag_bytes(last->next))) end_slow(*last);
    }
}

// --- the kernel's messages ---------------------------------------------------------------------

void Channels::take(SharedMessage message, const Routing& routing, std::uint64_t source) {
    if (closed_) return;
    if (!routing.session.empty()) kernel_session_ = routing.session;
    switch (message->channel()) {
        case Channel::iopub:
            return take_iopub(std::move(message), routing, source);
        case Channel::shell:
            note_answered(routing.parent_msg_id, source);
            return hold(routing, std::move(message), source);
        case Channel::control:
            note_answered(routing.parent_msg_id, source);
            return append_reply(
                requests_.reply_at_once(routing.parent_msg_id, std::move(message), source));
        case Channel::stdin_:
            return take_question(std::move(message), routing, source);
    }
}

void Channels::take_iopub(SharedMessage message, const Routing& routing, std::uint64_t source) {
    // Its subscription is the agent's; clients that index parent_header break on it.
    if (routing.msg_type == "iopub_welcome") return;
    const StatusKind status = status_of(*message, routing);
    activity_.note(routing, status);
    if (status == StatusKind::busy) requests_.set_busy(routing.parent_msg_id);
    const auto weight = weight_of_iopub(*message, routing.msg_type);
    // `idle` lets the reply out behind it that came before it: both are made anew, or neither.
    const std::uint64_t held = requests_.held_source(routing.parent_msg_id);
    const bool with_reply = status == StatusKind::idle && held > 0;
    append(std::move(message), {}, weight, with_reply ? std::min(source, held) : source);
    if (status != StatusKind::idle) return;
    if (question_ && question_->request_id == routing.parent_msg_id) question_.reset();
    append_reply(requests_.set_idle(routing.parent_msg_id));
}

void Channels::hold(const Routing& routing, SharedMessage message, std::uint64_t source) {
    const Deadline until = steady_clock::now() + limits::reply_hold_timeout;
    append_reply(requests_.reply(routing.parent_msg_id, std::move(message), until, source));
    if (releasing_ || !requests_.next_overdue()) return;
    releasing_ = true;
    spawn_logged(executor_, release_held(), "kernel_replies", shared_from_this());
}

// Replies whose `idle` does not come go out alone.
asio::awaitable<void> Channels::release_held() {
    while (!closed_) {
        const auto next = requests_.next_overdue();
        if (!next) break;
        co_await changed_.wait_until(*next);
        for (auto& ready : requests_.overdue(steady_clock::now())) {
            log::warning("kernel_idle_missing", {{"kernel_id", kernel_.kernel_id}});
            append_reply(std::move(ready));
        }
    }
    releasing_ = false;
}

void Channels::take_question(SharedMessage message, const Routing& routing, std::uint64_t source) {
    Question question{routing.parent_msg_id, requests_.owner(routing.parent_msg_id)};
    const std::string session = question.session;
    question_ = std::move(question);
    if (!session.empty()) {
        const auto weight = weight_of_reply(*message);
        append(std::move(message), session, weight, source);
    }
    if (attached(session) || watching_) return;
    spawn_logged(executor_, watch_question(), "kernel_question", shared_from_this());
}

// A kernel that waits for the answer of a client that is gone waits for ever, and everybody with
// it.
asio::awaitable<void> Channels::watch_question() {
    watching_ = true;
    const Deadline deadline = steady_clock::now() + limits::input_orphan_grace;
    while (!closed_ && question_ && !attached(question_->session)) {
        if (co_await changed_.wait_until(deadline)) continue;
        log::info("kernel_question_orphaned", {{"kernel_id", kernel_.kernel_id}});
        question_.reset();
        if (kernel_.interrupt) kernel_.interrupt();
    }
    watching_ = false;
}

// --- what only the gateway knows ---------------------------------------------------------------

void Channels::announce(std::string_view execution_state) {
    // Under the kernel's own session: clients drop what seems to be of another process.
    const Json content = {{"execution_state", execution_state}};
    const Request status = make_request(Channel::iopub, "status", kernel_session_, content);
    const std::vector<ByteView> frames = status.views();
    auto message = make_kernel_message(Channel::iopub, frames);
    if (!message) return;
    append(std::make_shared<const KernelMessage>(std::move(*message)), {},
           Journal::Weight::essential, 0);
}

void Channels::new_process() {
    asked_.clear();
    for (auto& ready : requests_.clear()) append_reply(std::move(ready));
    activity_.reset();
    question_.reset();
    changed_.notify_all();
}

void Channels::close(const std::string& reason) {
    if (closed_) return;
    announce("dead");
    closed_ = true;
    kernel_.ready = nullptr;
    kernel_.send = nullptr;
    kernel_.interrupt = nullptr;
    kernel_.expect_exit = nullptr;
    kernel_.asked = nullptr;
    kernel_.moved_on = nullptr;
    for (const auto& [name, session] : sessions_) {
        if (session->attached != nullptr) session->attached->end(EndReason::kernel_gone, reason);
    }
    changed_.notify_all();
}

}  // namespace cellblock::kernel_proxy
