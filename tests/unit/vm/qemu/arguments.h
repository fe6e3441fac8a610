// Looking into a command line, for the tests of those who make one.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace cellblock::vm {

inline bool has(const std::vector<std::string>& arguments, const std::string& wanted) {
    return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

}  // namespace cellblock::vm
