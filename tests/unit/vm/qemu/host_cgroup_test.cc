#include "vm/qemu/host_cgroup.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "base/ids.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace fs = std::filesystem;

namespace {

// A folder that looks like /sys/fs/cgroup as far as files go.
struct FakeMount {
    fs::path path = fs::temp_directory_path() / ("cgroup-" + new_short_id());
    FakeMount() { fs::create_directories(path); }
    ~FakeMount() { fs::remove_all(path); }
    void file(const std::string& name, const std::string& text = "") const {
        fs::create_directories((path / name).parent_path());
        REQUIRE(write_file_atomically(path / name, text).has_value());
    }
    std::string text(const std::string& name) const { return *read_file(path / name, 4096); }
};

}  // namespace

TEST_CASE("without cgroups there is a reason, not a failure") {
    const FakeMount mount;
    const CgroupRoot root = find_cgroup_root(mount.path);
    CHECK(root.version == CgroupRoot::Version::none);
    CHECK_FALSE(root.reason.empty());
    CHECK(HostCgroup::create(root, "vm1", 1, 1).error().code == ErrorCode::not_supported);
}

TEST_CASE("cgroup v1 groups are made in the memory and the pids hierarchy") {
    const FakeMount mount;
    mount.file("memory/cgroup.procs");
    mount.file("pids/cgroup.procs");
    const CgroupRoot root = find_cgroup_root(mount.path);
    REQUIRE(root.version == CgroupRoot::Version::v1);
    CHECK(root.memory == mount.path / "memory/cellblock");
    CHECK(root.tasks == mount.path / "pids/cellblock");
}

TEST_CASE("cgroup v2 needs the memory controller for its children") {
    const FakeMount mount;
    mount.file("cgroup.controllers", "cpu memory pids\n");
    mount.file("cgroup.subtree_control", "cpu pids\n");
    CHECK(find_cgroup_root(mount.path).version == CgroupRoot::Version::none);
}

TEST_CASE("empty groups of crashed gateways are removed, others stay") {
    const FakeMount mount;
    mount.file("memory/cgroup.procs");
    const CgroupRoot root = find_cgroup_root(mount.path);
    fs::create_directories(root.memory / "old");
    mount.file("memory/cellblock/busy/inside");
    sweep_cgroups(root);
    CHECK_FALSE(fs::exists(root.memory / "old"));
    CHECK(fs::exists(root.memory / "busy"));
}
