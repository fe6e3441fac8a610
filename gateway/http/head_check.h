// Refuses request heads that two HTTP readers could understand differently, before Beast parses
// them.
//
// Pure functions over the raw bytes; no state, any thread; fuzzed (tests/fuzz/http_head.cc).
// Request smuggling lives on disagreement: a proxy in front of us frames a request one way, we the
// other way. Beast 1.81 decides Content-Length against Transfer-Encoding by the order of the
// fields, takes Transfer-Encoding on HTTP/1.0, joins folded lines and lets duplicates pass. Here
// everything that RFC 9112 calls invalid or leaves to choice is refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace cellblock::gateway::http {

struct HeadProblem {
    int status;
    std::string message;

    HeadProblem(int status_, std::string message_)
        : status(status_), message(std::move(message_)) {}
};

enum class HeadScan { need_more, complete, bare_newline };

struct HeadEnd {
    HeadScan scan;
    std::size_t size;  // of the head with its empty line, when complete
};

// Finds the end of the head in what arrived so far. A line feed without a carriage return is never
// waited out: it is reported at once.
HeadEnd find_head_end(std::string_view received);

// Checks one complete head, from the request line to the empty line.
tl::expected<void, HeadProblem> check_head(std::string_view head);

// "example.org:8888", "[::1]:80", "localhost": RFC 3986 host [":" port], no user information.
bool is_valid_host(std::string_view host);

}  // namespace cellblock::gateway::http
