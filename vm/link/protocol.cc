#include "vm/link/protocol.h"

namespace cellblock::vm::link {

std::string_view to_string(StreamKind kind) {
    switch (kind) {
        case StreamKind::call:
            return "call";
        case StreamKind::kernel:
            return "kernel";
        case StreamKind::file_read:
            return "file_read";
        case StreamKind::file_write:
            return "file_write";
        case StreamKind::process:
            return "process";
        case StreamKind::tcp:
            return "tcp";
        case StreamKind::events:
            return "events";
    }
    return "unknown";
}

}  // namespace cellblock::vm::link
