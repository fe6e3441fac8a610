// Where the repository's own files are, for the few tests that read some.
#pragma once

#include <string>
#include <string_view>

namespace cellblock {

// repository_file("tests/data/charts/bar.json"): an absolute path.
std::string repository_file(std::string_view path);

}  // namespace cellblock
