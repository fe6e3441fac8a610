#include "vm/agent/events.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/spawn.h"

namespace cellblock::vm::agent {

Events::Events(boost::asio::any_io_executor executor) : executor_(executor), changed_(executor) {}

void Events::start(link::Link& link) {
    spawn_logged(executor_, send(link), "events", nullptr);
}

void Events::emit(std::string_view event, Json fields) {
    fields["event"] = event;
    if (queue_.size() == limits::agent_events_queued_max) {
        queue_.pop_front();
        ++sent_;
    }
    queue_.push_back(dump_ascii(fields));
    changed_.notify_all();
}

void Events::new_session() {
    ++session_;
    changed_.notify_all();
}

boost::asio::awaitable<void> Events::send(link::Link& link) {
    std::uint64_t session = 0;
    link::StreamPtr stream;
    while (!link.closed()) {
        if (session != session_) {
            session = session_;
            stream = link.open(link::StreamKind::events, "{}");
        }
        if (queue_.empty() || !stream) {
            co_await changed_.wait();
            continue;
        }
        // A copy: the queue may drop its front while this waits for the host.
        const std::string line = queue_.front();
        const std::uint64_t number = sent_;
        const auto written = co_await stream->write_message(as_bytes(line));
        if (!written) {
            stream.reset();  // told again to the next session
        } else if (sent_ == number) {
            queue_.pop_front();
            ++sent_;
        }
    }
}

}  // namespace cellblock::vm::agent
