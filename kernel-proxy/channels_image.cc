// The clients' side of a kernel across gateways (channels_image.h).
#include <algorithm>
#include <utility>

#include "kernel-proxy/channels.h"

namespace cellblock::kernel_proxy {

namespace {

// More than any client asks before it gets a first answer.
constexpr std::size_t asked_max = 1024;

}  // namespace

bool Channels::somebody_returns() const {
    return std::any_of(sessions_.begin(), sessions_.end(),
                       [](const auto& session) { return session.second->returns; });
}

// The journal begins with what some session needs; where bulk was let go of, nobody gets it.
std::uint64_t Channels::settled_through(std::uint64_t received) const {
    if (closed_ || !somebody_returns()) return received;
    // Replies that wait for their `idle` are not in the journal yet.
    for (const Asked& asked : asked_) {
        const std::uint64_t held = requests_.held_source(asked.msg_id);
        if (held > 0) received = std::min(received, held - 1);
    }
    const Position first = std::max(journal_.begin(), journal_.bulk_gone_before());
    for (Position at = first; at < journal_.end(); ++at) {
        const Journal::Entry& entry = journal_.at(at);
        if (entry.message && entry.source > 0) return std::min(received, entry.source - 1);
    }
    return received;
}

ChannelsImage Channels::image(std::uint64_t base) const {
    ChannelsImage image;
    image.base = base;
    for (const auto& [name, session] : sessions_) {
        if (!session->returns) continue;
        ChannelsImage::SessionPlace place;
        place.name = name;
        const Position has = session->confirms ? session->confirmed : session->next;
        for (Position at = journal_.begin(); at < std::min(has, journal_.end()); ++at) {
            if (journal_.at(at).source > base) ++place.has;
        }
        image.sessions.push_back(std::move(place));
    }
    for (const Asked& asked : asked_) {
        if (asked.answered > 0 && asked.answered <= base) continue;
        image.requests.push_back({asked.msg_id, asked.msg_type, asked.session});
    }
    return image;
}

void Channels::restore(const ChannelsImage& image) {
    for (const ChannelsImage::SessionPlace& place : image.sessions) {
        auto session = std::make_shared<Session>();
        session->name = place.name;
        session->returns = true;
        session->confirms = true;
        session->next = session->confirmed = place.has;
        session->left_at = std::chrono::steady_clock::now();
        sessions_[place.name] = std::move(session);
    }
    for (const ChannelsImage::Request& request : image.requests) {
        Routing routing;
        routing.msg_id = request.msg_id;
        routing.msg_type = request.msg_type;
        note_asked(routing, request.session);
        requests_.add(routing, request.session);
    }
}

void Channels::note_asked(const Routing& request, const std::string& session) {
    Asked asked;
    asked.msg_id = request.msg_id;
    asked.msg_type = request.msg_type;
    asked.session = session;
    asked_.push_back(std::move(asked));
    if (asked_.size() > asked_max) asked_.pop_front();
}

void Channels::note_answered(const std::string& msg_id, std::uint64_t source) {
    for (Asked& asked : asked_) {
        if (asked.msg_id == msg_id) asked.answered = source;
    }
    if (source == 0) return;
    const std::uint64_t settled = settled_through(source - 1);
    while (!asked_.empty() && asked_.front().answered > 0 && asked_.front().answered <= settled) {
        asked_.pop_front();
    }
}

}  // namespace cellblock::kernel_proxy
