#include "kernel-proxy/zmq/connection_file.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"

namespace cellblock::kernel_proxy::zmq_door {
namespace {

struct Port {
    const char* name;
    int ConnectionFile::* member;
};
constexpr Port ports[] = {{"shell_port", &ConnectionFile::shell_port},
                          {"iopub_port", &ConnectionFile::iopub_port},
                          {"stdin_port", &ConnectionFile::stdin_port},
                          {"control_port", &ConnectionFile::control_port},
                          {"hb_port", &ConnectionFile::hb_port}};
constexpr int port_max = 65'535;

Result<void> read_text(const Json& json, const char* name, std::string& to) {
    CB_TRY_ASSIGN(text, optional_string(json, name));
    if (text) to = std::move(*text);
    return {};
}

}  // namespace

std::string ConnectionFile::endpoint(int port) const {
    const std::string number = std::to_string(port);
    if (transport == "ipc") return "ipc://" + ip + "-" + number;
    // An IPv6 address has colons of its own.
    const bool bare_v6 = ip.find(':') != std::string::npos && ip.front() != '[';
    return "tcp://" + (bare_v6 ? "[" + ip + "]" : ip) + ":" + (port == 0 ? "*" : number);
}

Result<ConnectionFile> parse_connection_file(std::string_view text) {
    const JsonLimits bounds{limits::connection_file_max_bytes};
    CB_TRY_ASSIGN(json, parse_json(text, bounds, "the connection file"));
    if (!json.is_object()) {
        return fail(ErrorCode::invalid_argument, "the connection file is not a JSON object");
    }
    if (json.contains("curve_publickey")) {
        return fail(ErrorCode::not_supported,
                    "the client wants to encrypt its connection (CurveZMQ)",
                    "turn transport encryption off: the kernel's door is on this machine only");
    }
    ConnectionFile file;
    CB_TRY(read_text(json, "transport", file.transport));
    CB_TRY(read_text(json, "ip", file.ip));
    CB_TRY(read_text(json, "key", file.key));
    CB_TRY(read_text(json, "signature_scheme", file.signature_scheme));
    CB_TRY(read_text(json, "kernel_name", file.kernel_name));
    if ((file.transport != "tcp" && file.transport != "ipc") || file.ip.empty()) {
        return fail(ErrorCode::invalid_argument,
                    "the connection file names neither a tcp nor an ipc address");
    }
    for (const Port& port : ports) {
        CB_TRY_ASSIGN(number, required_integer(json, port.name));
        if (number < 1 || number > port_max) {
            return fail(ErrorCode::invalid_argument,
                        std::string("the connection file's ") + port.name + " is no port");
        }
        file.*port.member = static_cast<int>(number);
    }
    return file;
}

Result<ConnectionFile> read_connection_file(const std::filesystem::path& path) {
    CB_TRY_ASSIGN(text, read_file(path, limits::connection_file_max_bytes));
    return parse_connection_file(text);
}

Result<void> write_connection_file(const std::filesystem::path& path, const ConnectionFile& file) {
    Json json = {{"transport", file.transport},
                 {"ip", file.ip},
                 {"key", file.key},
                 {"signature_scheme", file.signature_scheme},
                 {"kernel_name", file.kernel_name}};
    for (const Port& port : ports) json[port.name] = file.*port.member;
    return write_file_atomically(path, json.dump(2) + "\n", 0600);
}

}  // namespace cellblock::kernel_proxy::zmq_door
