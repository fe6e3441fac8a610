// What lies beside a sandbox's machine, for the gateway that finds it after this one has gone: all
// of the sandbox that is not in the guest. Values; JSON on disk, checked when it is read.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "gateway/sandboxes/sandbox_image.h"

namespace cellblock::gateway {

enum class CallersDefault { no, yes };

struct SandboxNote {
    std::string sandbox_id;
    // Counts up over the sandbox's machines: of two that say they are one sandbox (a crash came
    // between a restore and the end of the old machine) the later one is.
    std::uint64_t revision = 0;
    WallTime started_at;
    WallTime ends_at;
    // The sandbox of requests that name none.
    CallersDefault callers_default = CallersDefault::no;
    SandboxSpec spec;
    std::vector<ContextImage> contexts;

    SandboxNote() = default;
};

std::string to_text(const SandboxNote& note);
Result<SandboxNote> sandbox_note_from(std::string_view text);

}  // namespace cellblock::gateway
