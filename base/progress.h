// How long work tells what it does: image builds, template builds, large uploads.
#pragma once

#include <functional>
#include <string>

namespace cellblock {

struct Progress {
    std::string step;      // "installing packages"
    double fraction = -1;  // 0 to 1 over the whole work; below 0: unknown
    std::string detail;    // "pandas 2.3.3"; may be empty
};

using ProgressSink = std::function<void(const Progress&)>;

}  // namespace cellblock
