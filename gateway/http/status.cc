#include "gateway/http/status.h"

#include "base/json.h"

namespace cellblock::gateway::http {

namespace {

int general_status_of(ErrorCode code) {
    switch (code) {
        case ErrorCode::invalid_argument:
            return 400;
        case ErrorCode::unauthorized:
            return 401;
        case ErrorCode::forbidden:
            return 403;
        case ErrorCode::not_found:
            return 404;
        case ErrorCode::conflict:
            return 409;
        case ErrorCode::too_large:
            return 413;
        case ErrorCode::too_many:
            return 429;
        case ErrorCode::not_supported:
            return 501;
        case ErrorCode::unavailable:
            return 503;
        case ErrorCode::timeout:
            return 504;
        case ErrorCode::cancelled:
            return 499;  // nobody reads it; nginx's number, for the log
        case ErrorCode::connection_lost:
            return 502;
        case ErrorCode::guest_protocol:
            return 502;
        case ErrorCode::kernel_died:
            return 500;
        case ErrorCode::out_of_memory:
            return 500;
        case ErrorCode::sandbox_gone:
            return 502;  // E2B's clients read 502 as "sandbox timed out"
        case ErrorCode::disk_full:
            return 507;
        case ErrorCode::io:
            return 500;
        case ErrorCode::internal:
            return 500;
    }
    return 500;
}

}  // namespace

int status_of(ErrorStyle style, ErrorCode code) {
    const bool jupyter = style == ErrorStyle::jupyter_server || style == ErrorStyle::kernel_gateway;
    if (style == ErrorStyle::jupyter_server && code == ErrorCode::unauthorized) return 403;
    if (style == ErrorStyle::kernel_gateway && code == ErrorCode::too_many) return 403;
    // A kernel whose machine has ended is a kernel that does not exist.
    if (jupyter && code == ErrorCode::sandbox_gone) return 404;
    return general_status_of(code);
}

std::string_view reason_phrase(int status) {
    switch (status) {
        case 100:
            return "Continue";
        case 101:
            return "Switching Protocols";
        case 200:
            return "OK";
        case 201:
            return "Created";
        case 202:
            return "Accepted";
        case 204:
            return "No Content";
        case 206:
            return "Partial Content";
        case 302:
            return "Found";
        case 304:
            return "Not Modified";
        case 400:
            return "Bad Request";
        case 401:
            return "Unauthorized";
        case 403:
            return "Forbidden";
        case 404:
            return "Not Found";
        case 405:
            return "Method Not Allowed";
        case 408:
            return "Request Timeout";
        case 409:
            return "Conflict";
        case 411:
            return "Length Required";
        case 412:
            return "Precondition Failed";
        case 413:
            return "Content Too Large";
        case 414:
            return "URI Too Long";
        case 415:
            return "Unsupported Media Type";
        case 416:
            return "Range Not Satisfiable";
        case 417:
            return "Expectation Failed";
        case 422:
            return "Unprocessable Content";
        case 426:
            return "Upgrade Required";
        case 429:
            return "Too Many Requests";
        case 431:
            return "Request Header Fields Too Large";
        case 499:
            return "Client Closed Request";
        case 500:
            return "Internal Server Error";
        case 501:
            return "Not Implemented";
        case 502:
            return "Bad Gateway";
        case 503:
            return "Service Unavailable";
        case 504:
            return "Gateway Timeout";
        case 505:
            return "HTTP Version Not Supported";
        case 507:
            return "Insufficient Storage";
        default:
            return "Unknown";
    }
}

ErrorBody error_body(ErrorStyle style, int status, const Error& error) {
    if (style == ErrorStyle::code_interpreter) {
        return ErrorBody("text/plain; charset=utf-8", error.text());
    }
    if (style == ErrorStyle::jupyter_server) {
        const Json body = {{"message", error.text()}, {"reason", nullptr}, {"traceback", ""}};
        return ErrorBody("application/json", dump_ascii(body));
    }
    if (style == ErrorStyle::kernel_gateway) {
        const Json body = {{"reason", reason_phrase(status)}, {"message", error.text()}};
        return ErrorBody("application/json", dump_ascii(body));
    }
    Json body = {{"code", status},
                 {"message", error.cause},
                 {"error_code", std::string(to_string(error.code))}};
    if (!error.advice.empty()) body["advice"] = error.advice;
    return ErrorBody("application/json", dump_ascii(body));
}

}  // namespace cellblock::gateway::http
