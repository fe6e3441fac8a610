// The members of a JSON object as slices of its text, for passing them on byte for byte.
//
// Parsing a 1 MB picture into values and writing it again costs 15 ms and changes numbers; finding
// where it begins and ends costs a fraction and changes nothing. Checked is the structure that
// framing depends on: strings end, brackets match, members and commas alternate, the text is UTF-8.
// What a number or a literal looks like is left to whoever reads the value. Pure, without
// recursion.
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"

namespace cellblock::kernel_proxy {

struct JsonMember {
    std::string_view name;   // between the quotes, escapes as they are
    std::string_view value;  // without the spaces around it
};

// invalid_argument for anything but one object, nested at most `json_members_max_depth` deep.
Result<std::vector<JsonMember>> split_json_object(std::string_view text);

inline constexpr std::size_t json_members_max_depth = 256;

// The value of the last member of that name (as JSON parsers have it); empty when there is none.
std::string_view find_member(const std::vector<JsonMember>& members, std::string_view name);

}  // namespace cellblock::kernel_proxy
