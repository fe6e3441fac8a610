// Limits of what Jupyter clients may hold of a kernel and of a connection, with their reasons.
//
// Apart from limits.h, which everything includes: these concern few sources.
#pragma once

#include "base/limits.h"

namespace cellblock::limits {

// --- kernel-proxy: Jupyter clients ---------------------------------------------------------------
// What a kernel's journal keeps for clients that are behind or away: minutes of a notebook's
// output; a hundred busy kernels stay below 1 GiB.
inline constexpr std::size_t journal_max_bytes = 8 * MiB;
inline constexpr std::size_t journal_entries_max = 32 * 1024;
// A client that is further behind than the journal is waited for: this long if others keep up,
inline constexpr seconds client_patience{1};
// and this long since any of them has taken something if all are behind. Then it is closed.
inline constexpr seconds client_stall_timeout{10};
// Sessions whose place in the journal is kept, per kernel: open tabs and those that may come back.
inline constexpr std::size_t client_sessions_max = 256;
inline constexpr std::size_t client_session_name_max_bytes = 256;
// A client that connects again waits at most this long for its old connection to be read out.
inline constexpr seconds client_takeover_timeout{1};
// Requests of clients that have no reply yet, per kernel: "run all" of a huge notebook.
inline constexpr std::size_t client_requests_open_max = 16 * 1024;
// A reply waits for its `idle` at most this long; then it goes out alone.
inline constexpr seconds reply_hold_timeout{10};
// The kernel asks for input and the client is away: clients reconnect within seconds.
inline constexpr seconds input_orphan_grace{10};

// --- gateway/http: WebSocket ---------------------------------------------------------------------
// One message of a client: what the link carries, and JSON's escapes on top (the legacy protocol).
inline constexpr std::size_t websocket_message_max_bytes = kernel_message_max_bytes + 1 * MiB;
// Proxies cut connections that are idle for 60 s; three unanswered pings mean a dead peer.
inline constexpr seconds websocket_ping_interval{30};
inline constexpr seconds websocket_silence_max{90};
// After our close frame the peer gets this long to answer it.
inline constexpr seconds websocket_close_timeout{2};
static_assert(websocket_silence_max > 2 * websocket_ping_interval);

}  // namespace cellblock::limits
