#include "base/error.h"

#include <array>
#include <cerrno>
#include <cstring>

namespace cellblock {
namespace {

struct Name {
    ErrorCode code;
    std::string_view name;
};

constexpr std::array kNames = {
    Name{ErrorCode::invalid_argument, "invalid_argument"},
    Name{ErrorCode::unauthorized, "unauthorized"},
    Name{ErrorCode::forbidden, "forbidden"},
    Name{ErrorCode::not_found, "not_found"},
    Name{ErrorCode::conflict, "conflict"},
    Name{ErrorCode::too_large, "too_large"},
    Name{ErrorCode::too_many, "too_many"},
    Name{ErrorCode::not_supported, "not_supported"},
    Name{ErrorCode::unavailable, "unavailable"},
    Name{ErrorCode::timeout, "timeout"},
    Name{ErrorCode::cancelled, "cancelled"},
    Name{ErrorCode::connection_lost, "connection_lost"},
    Name{ErrorCode::guest_protocol, "guest_protocol"},
    Name{ErrorCode::kernel_died, "kernel_died"},
    Name{ErrorCode::out_of_memory, "out_of_memory"},
    Name{ErrorCode::sandbox_gone, "sandbox_gone"},
    Name{ErrorCode::disk_full, "disk_full"},
    Name{ErrorCode::io, "io"},
    Name{ErrorCode::internal, "internal"},
};

}  // namespace

std::string_view to_string(ErrorCode code) {
    for (const Name& entry : kNames) {
        if (entry.code == code) return entry.name;
    }
    return "internal";
}

ErrorCode error_code_from(std::string_view name) {
    for (const Name& entry : kNames) {
        if (entry.name == name) return entry.code;
    }
    return ErrorCode::internal;
}

std::string Error::text() const {
    return advice.empty() ? cause : cause + " (" + advice + ")";
}

Error Error::in(std::string_view doing) const {
    return Error(code, std::string(doing) + ": " + cause, advice);
}

Error error_from_errno(int error_number, std::string_view doing) {
    ErrorCode code = ErrorCode::io;
    std::string advice;
    if (error_number == ENOSPC || error_number == EDQUOT) {
        code = ErrorCode::disk_full;
        advice = "free some disk space and try again";
    } else if (error_number == ENOENT) {
        code = ErrorCode::not_found;
    }
    // strerrordesc_np, not strerror: the latter is not thread-safe.
    const char* description = ::strerrordesc_np(error_number);
    return Error(code,
                 "could not " + std::string(doing) + ": " +
                     (description ? description : "error " + std::to_string(error_number)),
                 std::move(advice));
}

}  // namespace cellblock
