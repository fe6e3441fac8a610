// As much of the Jupyter wire protocol as the agent needs: it relays frames and asks one question
// of its own ("are you there?"). Kernels in the guest run with an empty key, so nothing is signed.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/json.h"
#include "vm/agent/zmq_channel.h"

namespace cellblock::vm::agent {

// [<IDS|MSG>, signature, header, parent_header, metadata, content, buffers...] as DEALER sends it.
Multipart make_request(std::string_view session, std::string_view message_id, std::string_view type,
                       const Json& content);

// Where the header is in what a socket received (iopub has a topic first); nothing when the message
// has no delimiter or fewer than four frames after the signature.
std::optional<std::size_t> header_index(const Multipart& message);

inline std::string_view text_of(const zmq::message_t& part) {
    return {part.data<char>(), part.size()};
}

// Whether the parent header is of `session`. A substring is enough: session ids are random.
bool answers_session(const Multipart& message, std::string_view session);

// The sockets of one kernel process: "ipc://<sockets>/k-1" and so on.
struct KernelEndpoints {
    std::string shell, iopub, stdin_, control;
};

// What a connection file says. Messages within the guest are not signed: an empty key says so to
// ipykernel, whose scheme must be an hmac. xeus takes an empty key for one to make up, and wants
// the scheme "none" instead.
struct ConnectionOptions {
    std::filesystem::path sockets;  // the folder of the sockets
    std::string kernel_name;
    std::string signature_scheme = "hmac-sha256";
    uid_t uid = 0;  // who owns the file
    gid_t gid = 0;

    ConnectionOptions() = default;
};
Result<KernelEndpoints> write_connection_file(const std::filesystem::path& dir,
                                              const ConnectionOptions& options);
inline std::filesystem::path connection_file(const std::filesystem::path& dir) {
    return dir / "connection.json";
}

}  // namespace cellblock::vm::agent
