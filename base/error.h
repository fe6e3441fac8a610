// The one error type of the project: a code, what failed and why, and what to do about it.
//
// Errors are values: a fallible function returns Result<T>. Exceptions of libraries are caught in
// the adapter that calls them. The table from code to HTTP status is gateway/http/status.h, and
// only there.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <tl/expected.hpp>

namespace cellblock {

enum class ErrorCode {
    invalid_argument,  // the caller sent something malformed
    unauthorized,      // no token, or a wrong one
    forbidden,         // known caller, not allowed (Host, Origin, another tenant's resource)
    not_found,         // no such sandbox, context, artifact, file
    conflict,          // legal request, wrong moment (already deleted, already paused)
    too_large,         // a limit on size was crossed
    too_many,          // a limit on count or rate was crossed
    not_supported,     // we do not do this (yet)
    unavailable,       // cannot now, may later: no capacity, template being built
    timeout,           // a deadline passed
    cancelled,         // the caller went away or asked to stop
    connection_lost,   // the byte stream to a guest or a client broke
    guest_protocol,    // a guest sent what no honest guest sends
    kernel_died,       // the kernel process in the guest ended
    out_of_memory,     // ... because the sandbox's memory limit was reached
    sandbox_gone,      // the microVM is gone
    disk_full,         // ENOSPC or EDQUOT on the host
    io,                // any other failure of the operating system
    internal,          // a bug of ours
};

// The code's name as clients and logs see it: "not_found".
std::string_view to_string(ErrorCode code);
// The inverse; names that we do not know (a newer peer) become `internal`.
ErrorCode error_code_from(std::string_view name);

struct Error {
    ErrorCode code = ErrorCode::internal;
    std::string cause;   // one sentence: what failed and why
    std::string advice;  // one sentence: what the reader can do; may be empty

    Error() = default;
    Error(ErrorCode code_, std::string cause_, std::string advice_ = {})
        : code(code_), cause(std::move(cause_)), advice(std::move(advice_)) {}

    // "cause (advice)", for logs and terminals.
    std::string text() const;
    // The same error, told from one level further up: "starting a kernel: cause".
    Error in(std::string_view doing) const;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string cause, std::string advice = {}) {
    return tl::unexpected<Error>(Error(code, std::move(cause), std::move(advice)));
}
inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

// An errno as an Error; ENOSPC and EDQUOT become disk_full, ENOENT not_found, the rest io.
// `doing` completes "could not ...": "open /var/lib/cellblock/state.db".
Error error_from_errno(int error_number, std::string_view doing);

}  // namespace cellblock

// Plain statements, so that they are safe beside co_await (no statement expressions; GCC PR
// 115851). CB_TRY(result);              returns the error of `result` if it has one
// CB_TRY_ASSIGN(var, result);  declares `var` as the value
// CB_CO_TRY / CB_CO_TRY_ASSIGN the same with co_return
#define CB_CONCAT_INNER(a, b) a##b
#define CB_CONCAT(a, b) CB_CONCAT_INNER(a, b)
#define CB_TRY_IMPL(name, expression, return_keyword) \
    auto name = (expression);                         \
    if (!name) return_keyword ::cellblock::fail(std::move(name).error())
#define CB_TRY(expression) CB_TRY_IMPL(CB_CONCAT(cb_try_, __LINE__), expression, return)
#define CB_CO_TRY(expression) CB_TRY_IMPL(CB_CONCAT(cb_try_, __LINE__), expression, co_return)
#define CB_TRY_ASSIGN_IMPL(name, variable, expression, return_keyword) \
    CB_TRY_IMPL(name, expression, return_keyword);                     \
    auto variable = std::move(*name)
#define CB_TRY_ASSIGN(variable, expression) \
    CB_TRY_ASSIGN_IMPL(CB_CONCAT(cb_try_, __LINE__), variable, expression, return)
#define CB_CO_TRY_ASSIGN(variable, expression) \
    CB_TRY_ASSIGN_IMPL(CB_CONCAT(cb_try_, __LINE__), variable, expression, co_return)
