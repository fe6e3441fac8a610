// JSON that comes from outside: parsed without exceptions, bounded in size and depth, read field by
// field with errors that name the field.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/ordered_object.h"

namespace cellblock {

// Members keep the order in which they were written: a frame's columns come out as they went in.
using Json = nlohmann::basic_json<OrderedObject>;

struct JsonLimits {
    std::size_t max_bytes;
    // nlohmann's parser keeps its own stack on the heap, but destroying, dumping and walking deep
    // values recurse: 64 levels are more than any document we know needs.
    std::size_t max_depth = 64;
};

// invalid_argument (with the byte offset), or too_large. `what` names the document in the message.
Result<Json> parse_json(std::string_view text, JsonLimits limits, std::string_view what);

// One line, all non-ASCII escaped, invalid UTF-8 replaced: safe for every line-based reader
// (Python's splitlines also splits on U+2028; clients decode network chunks one by one).
std::string dump_ascii(const Json& value);

// Fields of an object. An absent or null field is std::nullopt; a wrong type is invalid_argument.
Result<std::optional<std::string>> optional_string(const Json& object, std::string_view field);
Result<std::optional<std::int64_t>> optional_integer(const Json& object, std::string_view field);
Result<std::optional<double>> optional_number(const Json& object, std::string_view field);
Result<std::optional<bool>> optional_boolean(const Json& object, std::string_view field);
// Required: absent is invalid_argument too.
Result<std::string> required_string(const Json& object, std::string_view field);
Result<std::int64_t> required_integer(const Json& object, std::string_view field);
// ... and not negative.
Result<std::uint64_t> required_count(const Json& object, std::string_view field);

}  // namespace cellblock
