// Any bytes as a request: the head check, the target, the body's parser. What check_head() accepts
// has to be framed the same way by Beast's parser behind it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/unicode.h"
#include "gateway/http/head_check.h"
#include "gateway/http/parser.h"
#include "gateway/http/range.h"
#include "gateway/http/uri.h"

using namespace cellblock;
using namespace cellblock::gateway::http;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void check_accepted(std::string_view head, std::string_view rest) {
    RequestParser parser;
    const auto parsed = parser.parse_head(head);
    if (!parsed) return;  // Beast may be stricter
    const auto length = parsed->headers.get("Content-Length");
    const bool chunked = parsed->headers.has("Transfer-Encoding");
    require(!(length && chunked));
    require(parsed->chunked == chunked);
    if (length)
        require(std::to_string(parsed->content_length) ==
                std::string(
                    length->substr(std::min(length->find_first_not_of('0'), length->size() - 1))));
    require(parsed->has_body() || parser.done());
    static_cast<void>(select_range(parsed->headers.get("Range"), rest.size()));
    if (const auto target = parse_target(parsed->target)) {
        for (const std::string& segment : target->segments) {
            require(is_valid_utf8(segment));
            require(segment != ".." && segment.find("/../") == std::string::npos);
        }
    }
    Bytes decoded;
    const auto taken = parser.parse_body(as_bytes(rest), decoded);
    if (!taken) return;
    require(*taken <= rest.size());
    require(decoded.size() <= *taken);
    if (!chunked) require(decoded.size() <= parsed->content_length);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const HeadEnd end = find_head_end(input);
    static_cast<void>(check_head(input));
    if (end.scan != HeadScan::complete) return 0;
    require(end.size <= size);
    const std::string_view head = input.substr(0, end.size);
    if (check_head(head)) check_accepted(head, input.substr(end.size));
    return 0;
}
