#include "vm/agent/quiet.h"

#include <doctest/doctest.h>

#include "tests/unit/temporary_folder.h"

namespace cellblock::vm::agent {

TEST_CASE("housekeeping that a guest does not need is turned down where the kernel has it") {
    const TemporaryFolder sys;
    sys.write("vm/stat_interval", "1\n");
    REQUIRE(quiet_kernel(sys.path()).has_value());
    CHECK(sys.read("vm/stat_interval").starts_with("60"));
    CHECK_FALSE(std::filesystem::exists(sys / "vm/compaction_proactiveness"));
}

TEST_CASE("a PIT that the kernel keeps time by is left alone") {
    const TemporaryFolder folder;
    folder.write("current_device", "pit\n");
    // Reaching for its ports would end an unprivileged test, and disturb the machine of another.
    CHECK(stop_unused_pit(folder / "current_device").has_value());
    CHECK_FALSE(stop_unused_pit(folder / "none").has_value());
}

}  // namespace cellblock::vm::agent
