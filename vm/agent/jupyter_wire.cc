#include "vm/agent/jupyter_wire.h"

#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/files.h"

namespace cellblock::vm::agent {
namespace {

constexpr std::string_view delimiter = "<IDS|MSG>";

zmq::message_t part_of(std::string_view text) {
    return zmq::message_t(text.data(), text.size());
}

}  // namespace

Multipart make_request(std::string_view session, std::string_view message_id, std::string_view type,
                       const Json& content) {
    const Json header = {{"msg_id", message_id},  {"session", session}, {"username", "cellblock"},
                         {"date", iso8601_now()}, {"msg_type", type},   {"version", "5.3"}};
    Multipart message;
    for (const std::string& text : {std::string(delimiter), std::string(), dump_ascii(header),
                                    std::string("{}"), std::string("{}"), dump_ascii(content)}) {
        message.push_back(part_of(text));
    }
    return message;
}

std::optional<std::size_t> header_index(const Multipart& message) {
    for (std::size_t i = 0; i < message.size() && i < 4; ++i) {
        if (text_of(message[i]) != delimiter) continue;
        if (message.size() < i + 6) return std::nullopt;
        return i + 2;
    }
    return std::nullopt;
}

bool answers_session(const Multipart& message, std::string_view session) {
    const auto header = header_index(message);
    return header && text_of(message[*header + 1]).find(session) != std::string_view::npos;
}

Result<KernelEndpoints> write_connection_file(const std::filesystem::path& dir,
                                              const ConnectionOptions& options) {
    const std::string prefix = (options.sockets / "k").string();
    if (prefix.size() + 2 >= sizeof(sockaddr_un::sun_path)) {
        return fail(
            ErrorCode::invalid_argument,
            "the folder " + options.sockets.string() + " is too long a path for Unix sockets",
            "use a shorter --run-dir or kernel id");
    }
    const Json connection = {{"transport", "ipc"},
                             {"ip", prefix},
                             {"shell_port", 1},
                             {"iopub_port", 2},
                             {"stdin_port", 3},
                             {"control_port", 4},
                             {"hb_port", 5},
                             {"key", ""},
                             {"signature_scheme", options.signature_scheme},
                             {"kernel_name", options.kernel_name}};
    const auto file = connection_file(dir);
    CB_TRY(write_file_atomically(file, dump_ascii(connection), 0600));
    if (::getuid() == 0 && ::chown(file.c_str(), options.uid, options.gid) != 0) {
        return fail(error_from_errno(errno, "give " + file.string() + " to the kernel's user"));
    }
    const std::string base = "ipc://" + prefix + "-";
    return KernelEndpoints{base + "1", base + "2", base + "3", base + "4"};
}

}  // namespace cellblock::vm::agent
