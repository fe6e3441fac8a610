#include "kernel-proxy/zmq/server.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/ids.h"
#include "base/limits.h"
#include "base/log.h"

namespace cellblock::kernel_proxy::zmq_door {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

namespace {

// Messages taken from one socket before the others get their turn.
constexpr int receive_burst = 64;
constexpr std::size_t parts_max =
    limits::zmq_identities_max + 2 + limits::kernel_message_frames_max;

zmq::message_t part_of(std::string_view text) {
    return zmq::message_t(text.data(), text.size());
}

struct Received {
    Multipart parts;
    bool complete = true;  // within the limits
};

// Parts of one message arrive together, so that only the first can be missing.
std::optional<Received> receive(zmq::socket_t& socket) {
    Received received;
    std::size_t bytes = 0;
    bool more = true;
    while (more) {
        zmq::message_t part;
        if (!socket.recv(part, zmq::recv_flags::dontwait)) return std::nullopt;
        more = part.more();
        bytes += part.size();
        received.complete = received.complete && bytes <= limits::kernel_message_max_bytes &&
                            received.parts.size() < parts_max;
        if (received.complete) received.parts.push_back(std::move(part));
    }
    return received;
}

Multipart multipart(const std::vector<std::string>& head, std::span<const ByteView> frames) {
    Multipart parts;
    parts.reserve(head.size() + frames.size());
    for (const std::string& text : head) parts.push_back(part_of(text));
    for (const ByteView frame : frames) parts.push_back(part_of(as_text(frame)));
    return parts;
}

// What we make ourselves: small, in UTF-8.
std::vector<std::string> frames_of(const xeus::xmessage_base& message) {
    std::vector<std::string> frames;
    for (const nl::json* json :
         {&message.header(), &message.parent_header(), &message.metadata(), &message.content()}) {
        frames.push_back(json->dump(-1, ' ', false, nl::json::error_handler_t::replace));
    }
    return frames;
}

std::vector<ByteView> views_of(const std::vector<std::string>& frames) {
    std::vector<ByteView> views;
    for (const std::string& frame : frames) views.push_back(as_bytes(frame));
    return views;
}

zmq::socket_t open_socket(zmq::context_t& context, zmq::socket_type type) {
    zmq::socket_t socket(context, type);
    socket.set(zmq::sockopt::linger, static_cast<int>(limits::zmq_linger.count()));
    // Whoever announces more is disconnected before anything is allocated for it.
    socket.set(zmq::sockopt::maxmsgsize,
               static_cast<std::int64_t>(limits::kernel_message_max_bytes));
    if (type == zmq::socket_type::router) {
        // A client that connects again under its name takes its place over, as with ipykernel.
        socket.set(zmq::sockopt::router_handover, 1);
    }
    if (type == zmq::socket_type::xpub) {
        socket.set(zmq::sockopt::xpub_nodrop, 1);
        socket.set(zmq::sockopt::xpub_verbose, 1);
    }
    return socket;
}

// Binds, and notes which port it was when any would do.
void bind_socket(zmq::socket_t& socket, const ConnectionFile& file, int& port) {
    socket.bind(file.endpoint(port));
    if (port != 0) return;
    const std::string taken = socket.get(zmq::sockopt::last_endpoint);
    port = std::stoi(taken.substr(taken.rfind(':') + 1));
}

}  // namespace

// Nothing is handed between threads here.
class Server::Messenger final : public xeus::xcontrol_messenger {
    nl::json send_to_shell_impl(const nl::json&) override { return nl::json::object(); }
};

Result<std::unique_ptr<Server>> Server::bind(ConnectionFile file) {
    CB_TRY_ASSIGN(signer, Signer::create(file.signature_scheme, file.key));
    try {
        auto context = std::make_unique<zmq::context_t>(1);
        const auto open = [&](zmq::socket_type type, int ConnectionFile::* port) {
            zmq::socket_t socket = open_socket(*context, type);
            bind_socket(socket, file, file.*port);
            return socket;
        };
        std::vector<Door> doors;
        using zmq::socket_type;
        doors.push_back({Channel::shell, open(socket_type::router, &ConnectionFile::shell_port)});
        doors.push_back(
            {Channel::control, open(socket_type::router, &ConnectionFile::control_port)});
        doors.push_back({Channel::stdin_, open(socket_type::router, &ConnectionFile::stdin_port)});
        Publisher publisher(open(socket_type::xpub, &ConnectionFile::iopub_port));
        zmq::socket_t heartbeat = open(socket_type::router, &ConnectionFile::hb_port);
        return std::unique_ptr<Server>(new Server(std::move(file), std::move(signer),
                                                  std::move(context), std::move(doors),
                                                  std::move(publisher), std::move(heartbeat)));
    } catch (const zmq::error_t& error) {
        return fail(ErrorCode::unavailable,
                    "the ports of the connection file cannot be used: " + std::string(error.what()),
                    "another process may have taken one: start the kernel again");
    }
}

Server::Server(ConnectionFile file, Signer signer, std::unique_ptr<zmq::context_t> context,
               std::vector<Door> doors, Publisher publisher, zmq::socket_t heartbeat)
    : file_(std::move(file)),
      signer_(std::move(signer)),
      context_(std::move(context)),
      doors_(std::move(doors)),
      publisher_(std::move(publisher)),
      heartbeat_(std::move(heartbeat)),
      messenger_(std::make_unique<Messenger>()) {}

Server::~Server() = default;

void Server::on_request(std::function<void(const ClientRequest&)> listener) {
    on_request_ = std::move(listener);
}

// --- the loop ----------------------------------------------------------------------------------

void Server::start_impl(xeus::xpub_message message) {
    running_ = true;
    publish_impl(std::move(message), xeus::channel::SHELL);
    while (running_) turn();
}

void Server::stop_impl() {
    running_ = false;
}

milliseconds Server::time_to_wait() const {
    Deadline next = publisher_.retry_at().value_or(Deadline::max());
    for (const Watch& watch : watches_) {
        if (watch.deadline) next = std::min(next, watch.deadline());
    }
    if (next == Deadline::max()) return milliseconds(-1);
    const auto left = std::chrono::ceil<milliseconds>(next - steady_clock::now());
    return std::clamp(left, milliseconds(0), limits::zmq_poll_max);
}

void Server::turn() {
    const bool accepting = !accepts_ || accepts_();
    std::vector<zmq::pollitem_t> items;
    for (Door& door : doors_) {
        const short events = accepting ? ZMQ_POLLIN : 0;
        items.push_back({door.socket.handle(), 0, events, 0});
    }
    items.push_back({publisher_.socket().handle(), 0, ZMQ_POLLIN, 0});
    items.push_back({heartbeat_.handle(), 0, ZMQ_POLLIN, 0});
    const std::size_t own = items.size();
    for (const Watch& watch : watches_) {
        items.push_back({nullptr, watch.descriptor(), watch.events(), 0});
    }
    try {
        zmq::poll(items, time_to_wait());
    } catch (const zmq::error_t& error) {
        if (error.num() != EINTR) throw;
        return;
    }
    publisher_.retry();
    echo_heartbeats();
    welcome_subscribers();
    call_watches(std::span(items).subspan(own));
    for (std::size_t i = 0; i < doors_.size() && running_; ++i) {
        if ((items[i].revents & ZMQ_POLLIN) != 0) read_clients(doors_[i]);
    }
}

void Server::call_watches(std::span<const zmq::pollitem_t> items) {
    const Deadline now = steady_clock::now();
    for (std::size_t i = 0; i < items.size() && running_; ++i) {
        const Watch& watch = watches_[i];
        const bool due = watch.deadline && watch.deadline() <= now;
        if (items[i].revents != 0 || due) watch.ready();
    }
}

void Server::echo_heartbeats() {
    for (int i = 0; i < receive_burst; ++i) {
        auto beat = receive(heartbeat_);
        if (!beat) return;
        if (!beat->complete) continue;
        for (std::size_t part = 0; part < beat->parts.size(); ++part) {
            const bool last = part + 1 == beat->parts.size();
            const auto more = last ? zmq::send_flags::none : zmq::send_flags::sndmore;
            if (!heartbeat_.send(beat->parts[part], more | zmq::send_flags::dontwait)) break;
        }
    }
}

// JEP 65: a subscriber learns that it is one, and misses nothing that it asks for afterwards.
void Server::welcome_subscribers() {
    while (can_publish()) {
        const auto topic = publisher_.next_subscription();
        if (!topic) return;
        const nl::json nothing = nl::json::object();
        publish(xeus::xpub_message(*topic, xeus::make_header("iopub_welcome", "cellblock", ""),
                                   nothing, nothing, nl::json{{"subscription", *topic}}, {}),
                xeus::channel::SHELL);
    }
}

// --- what clients send -------------------------------------------------------------------------

void Server::read_clients(Door& door) {
    for (int i = 0; i < receive_burst && running_; ++i) {
        if (accepts_ && !accepts_()) return;
        auto received = receive(door.socket);
        if (!received) return;
        if (received->complete) {
            take(door.channel, received->parts);
        } else {
            log::warning("kernel_client_message_refused", {{"error", "it is too large"}});
        }
    }
}

void Server::take(Channel channel, const Multipart& parts) {
    std::vector<ByteView> views;
    for (const zmq::message_t& part : parts) {
        views.push_back(as_bytes({part.data<char>(), part.size()}));
    }
    const auto refuse = [channel](const Error& error) {
        log::warning("kernel_client_message_refused",
                     {{"channel", vm::link::to_string(channel)}, {"error", error.cause}});
    };
    auto wire = read_wire(views, signer_);
    if (!wire) return refuse(wire.error());
    auto routing = read_routing(wire->frames[0], wire->frames[1]);
    if (!routing) return refuse(routing.error());
    ClientRequest request;
    request.channel = channel;
    request.wire = std::move(*wire);
    request.routing = std::move(*routing);
    if (on_request_) on_request_(request);
}

bool Server::notify(const ClientRequest& request) {
    std::vector<nl::json> frames;
    for (std::size_t i = 0; i < vm::link::kJsonFrames; ++i) {
        const std::string_view text = as_text(request.wire.frames[i]);
        const auto parsed =
            parse_json(text, JsonLimits{limits::kernel_header_max_bytes}, "a control request");
        if (!parsed || !parsed->is_object()) return false;
        frames.emplace_back(*parsed);
    }
    xeus::xmessage message(request.wire.identities, std::move(frames[0]), std::move(frames[1]),
                           std::move(frames[2]), std::move(frames[3]), {});
    if (request.channel == Channel::shell) {
        notify_shell_listener(std::move(message));
    } else {
        notify_control_listener(std::move(message));
    }
    return true;
}

// --- what clients get --------------------------------------------------------------------------

Server::Door& Server::door_of(Channel channel) {
    return *std::find_if(doors_.begin(), doors_.end(),
                         [channel](const Door& door) { return door.channel == channel; });
}

void Server::send(Channel channel, const Identities& identities, std::span<const ByteView> frames) {
    zmq::socket_t& socket = door_of(channel).socket;
    Multipart parts = multipart(wire_head(identities, frames, signer_), frames);
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto more = i + 1 < parts.size() ? zmq::send_flags::sndmore : zmq::send_flags::none;
        // A ROUTER drops what is for a client that is gone.
        if (!socket.send(parts[i], more | zmq::send_flags::dontwait)) return;
    }
}

void Server::publish_frames(const std::string& topic, std::span<const ByteView> frames) {
    publisher_.publish(multipart(wire_head({topic}, frames, signer_), frames));
}

void Server::send_made(Channel channel, const xeus::xmessage& message) {
    const auto frames = frames_of(message);
    send(channel, message.identities(), views_of(frames));
}

void Server::send_shell_impl(xeus::xmessage message) {
    send_made(Channel::shell, message);
}

void Server::send_control_impl(xeus::xmessage message) {
    send_made(Channel::control, message);
}

void Server::send_stdin_impl(xeus::xmessage message) {
    send_made(Channel::stdin_, message);
}

void Server::publish_impl(xeus::xpub_message message, xeus::channel) {
    if (!can_publish()) return;  // the end of a kernel whose subscriber does not read
    const auto frames = frames_of(message);
    publish_frames(message.topic(), views_of(frames));
}

xeus::xcontrol_messenger& Server::get_control_messenger_impl() {
    return *messenger_;
}

// The kernel itself knows what is queued.
void Server::abort_queue_impl(const listener&, long) {}

void Server::update_config_impl(XeusConfiguration& config) const {
    config.m_transport = file_.transport;
    config.m_ip = file_.ip;
    config.m_shell_port = std::to_string(file_.shell_port);
    config.m_control_port = std::to_string(file_.control_port);
    config.m_stdin_port = std::to_string(file_.stdin_port);
    config.m_iopub_port = std::to_string(file_.iopub_port);
    config.m_hb_port = std::to_string(file_.hb_port);
    config.m_signature_scheme = file_.signature_scheme;
    config.m_key = file_.key;
}

}  // namespace cellblock::kernel_proxy::zmq_door
