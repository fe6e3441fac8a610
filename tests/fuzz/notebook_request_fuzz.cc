// Any bytes as the body of a request to a notebook's API, and as what its ResponseInfo cell prints.
// The first line is the Content-Type.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "gateway/jupyter/notebook_request.h"
#include "gateway/jupyter/response_info.h"

using namespace cellblock;
using namespace cellblock::gateway::jupyter;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input(reinterpret_cast<const char*>(data), size);
    const std::size_t line = std::min(input.find('\n'), size);
    const std::string_view rest = input.substr(std::min(line + 1, size));
    if (const auto body = notebook_body(input.substr(0, line), rest)) {
        const std::string statement = request_statement(Json{{"body", *body}});
        // One literal and nothing else, whatever was in it.
        require(statement.starts_with("REQUEST = \"") && statement.ends_with('"'));
        bool escaped = false;
        for (const char c : std::string_view(statement).substr(11, statement.size() - 12)) {
            require(c >= ' ' && c <= '~');
            require(escaped || c != '"');
            escaped = !escaped && c == '\\';
        }
        require(!escaped);
    }
    if (const auto info = response_info_from(input)) {
        require(info->status >= 200 && info->status <= 599);
        for (const auto& [name, value] : info->headers) {
            require(name.find_first_of("\r\n: ") == std::string::npos);
            require(value.find_first_of("\r\n") == std::string::npos);
        }
    }
    return 0;
}
