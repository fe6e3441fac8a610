// What a store's folder holds: for tests that count what is left behind.
#pragma once

#include <filesystem>
#include <string>

namespace cellblock::artifacts {

// Regular files below `folder`, not counting the index and the lock: contents and temporaries.
inline std::size_t content_files(const std::filesystem::path& folder) {
    std::size_t count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (entry.is_regular_file() && name != "lock" && name.rfind("index.db", 0) != 0) ++count;
    }
    return count;
}

}  // namespace cellblock::artifacts
