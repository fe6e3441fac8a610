// The one test source that knows the checkout's path: the objects of all others are the same in
// every checkout, and ccache serves them to all.
#include "tests/unit/repository_file.h"

namespace cellblock {

std::string repository_file(std::string_view path) {
    return std::string(CELLBLOCK_SOURCE_DIR) + "/" + std::string(path);
}

}  // namespace cellblock
