#include "vm/agent/cgroups.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include "base/limits.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::vm::agent;

namespace {

// A folder with the files that cgroupfs would make.
void make_tree(const TemporaryFolder& root) {
    root.write("cgroup.subtree_control", "");
    root.write("system/cgroup.procs", "");
    root.write("sandbox/cgroup.subtree_control", "");
    root.write("sandbox/pids.max", "");
    root.write("sandbox/memory.max", "");
    root.write("sandbox/memory.swap.max", "");
    for (const char* file : {"pids.max", "memory.oom.group", "cgroup.kill"}) {
        root.write(std::string("sandbox/kernel-1/") + file, "");
    }
}

}  // namespace

TEST_CASE("the agent moves itself out of the sandbox's group and limits that group only") {
    const TemporaryFolder root;
    make_tree(root);
    auto groups = Cgroups::set_up(root.path());
    REQUIRE(groups);
    CHECK(root.read("system/cgroup.procs") == std::to_string(::getpid()));
    CHECK(root.read("sandbox/pids.max") == std::to_string(limits::agent_sandbox_pids_max));
    CHECK(root.read("sandbox/memory.swap.max") == "0");
    REQUIRE(groups->set_memory_limit(512 * limits::MiB));
    CHECK(root.read("sandbox/memory.max") == "536870912");
    CHECK(groups->memory_limit() == 512 * limits::MiB);
}

TEST_CASE("a kernel's group is killed as one and says what memory it used") {
    const TemporaryFolder root;
    make_tree(root);
    auto groups = Cgroups::set_up(root.path());
    REQUIRE(groups);
    const auto group = groups->make_kernel_group();
    REQUIRE(group);
    CHECK(root.read("sandbox/kernel-1/memory.oom.group") == "1");
    root.write("sandbox/kernel-1/memory.current", "1000\n");
    root.write("sandbox/kernel-1/memory.peak", "2000\n");
    root.write("sandbox/kernel-1/memory.max", "max\n");
    root.write("sandbox/kernel-1/memory.events", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 3\n");
    root.write("sandbox/kernel-1/cgroup.events", "populated 1\nfrozen 0\n");
    const MemoryUse use = group->memory();
    CHECK(use.used_bytes == 1000);
    CHECK(use.peak_bytes == 2000);
    CHECK(use.limit_bytes == 0);
    CHECK(use.oom_kills == 3);
    CHECK(group->populated());
    root.write("sandbox/kernel-1/cgroup.procs", "12\n13\n400\n");
    CHECK(group->processes() == 3);
    REQUIRE(group->kill());
    CHECK(root.read("sandbox/kernel-1/cgroup.kill") == "1");
}

TEST_CASE("a tree without the memory controller is refused, not half set up") {
    const TemporaryFolder root;
    const auto groups = Cgroups::set_up(root.path());
    REQUIRE_FALSE(groups);
    CHECK(groups.error().cause.find("cgroup") != std::string::npos);
}
