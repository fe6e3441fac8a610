// The connection file: where a Jupyter client and its kernel meet, and the key that they share.
#pragma once

#include <filesystem>
#include <string>

#include "base/error.h"

namespace cellblock::kernel_proxy::zmq_door {

struct ConnectionFile {
    std::string transport = "tcp";  // or "ipc", where `ip` is the path before "-PORT"
    std::string ip = "127.0.0.1";
    int shell_port = 0;  // 0: any free one
    int iopub_port = 0;
    int stdin_port = 0;
    int control_port = 0;
    int hb_port = 0;
    std::string key;
    std::string signature_scheme = "hmac-sha256";
    std::string kernel_name;

    ConnectionFile() = default;
    std::string endpoint(int port) const;
};

// not_found, too_large, invalid_argument; not_supported for a client that wants CurveZMQ.
Result<ConnectionFile> read_connection_file(const std::filesystem::path& path);
Result<ConnectionFile> parse_connection_file(std::string_view text);
// Readable by its owner only: whoever has the key commands the kernel.
Result<void> write_connection_file(const std::filesystem::path& path, const ConnectionFile& file);

}  // namespace cellblock::kernel_proxy::zmq_door
