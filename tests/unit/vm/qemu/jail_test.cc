#include "vm/qemu/jail.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "base/process.h"
#include "tests/unit/vm/qemu/arguments.h"

using namespace cellblock;
using namespace cellblock::vm;

namespace {

std::size_t index_of(const std::vector<std::string>& arguments, const std::string& wanted) {
    const auto found = std::find(arguments.begin(), arguments.end(), wanted);
    REQUIRE_MESSAGE(found != arguments.end(), wanted);
    return static_cast<std::size_t>(found - arguments.begin());
}

// What `script` prints in a jail as this test's user gets it; absent where the host allows no jail.
std::string in_jail(const std::string& script) {
    JailOptions options;
    options.uid = choose_vm_uid({});
    const auto output = run_command(jail_arguments(options, {"/bin/sh", "-c", script}), 65536,
                                    std::chrono::seconds(20));
    REQUIRE(output.has_value());
    REQUIRE_MESSAGE(output->status.success(), output->standard_error);
    return output->standard_output;
}

}  // namespace

TEST_CASE("root drops to the VM's uid first, then limits, then namespaces, then the command") {
    JailOptions options;
    options.uid = 12345;
    const auto arguments = jail_arguments(options, {"qemu", "-x"});
    CHECK(arguments.front() == "setpriv");
    CHECK(has(arguments, "--reuid=12345"));
    CHECK(has(arguments, "--regid=12345"));
    CHECK(has(arguments, "--clear-groups"));
    CHECK(has(arguments, "--no-new-privs"));
    CHECK(index_of(arguments, "prlimit") < index_of(arguments, "bwrap"));
    CHECK(arguments[arguments.size() - 2] == "qemu");
    CHECK(arguments[arguments.size() - 3] == "--");
}

TEST_CASE("an unprivileged user goes straight into the limits and the namespaces") {
    const auto arguments = jail_arguments(JailOptions(), {"qemu"});
    CHECK(arguments.front() == "prlimit");
    CHECK_FALSE(has(arguments, "setpriv"));
    // The limit counts all processes of a user: a user's own must not be capped by us.
    CHECK(std::none_of(arguments.begin(), arguments.end(),
                       [](const std::string& text) { return text.starts_with("--nproc"); }));
}

TEST_CASE("the KVM device and its group come with the KVM accelerator only") {
    JailOptions options;
    options.uid = 12345;
    options.kvm_gid = 106;
    CHECK_FALSE(has(jail_arguments(options, {"qemu"}), "/dev/kvm"));
    CHECK(has(jail_arguments(options, {"qemu"}), "--clear-groups"));
    options.accelerator = AcceleratorKind::kvm;
    CHECK(has(jail_arguments(options, {"qemu"}), "/dev/kvm"));
    CHECK(has(jail_arguments(options, {"qemu"}), "--groups=106"));
}

TEST_CASE("only a template's boot dies with its builder") {
    JailOptions options;
    CHECK_FALSE(has(jail_arguments(options, {"qemu"}), "--die-with-parent"));
    options.lifetime = JailOptions::Lifetime::with_parent;
    CHECK(has(jail_arguments(options, {"qemu"}), "--die-with-parent"));
}

TEST_CASE("two VMs never get one uid") {
    if (::geteuid() != 0) {
        CHECK_FALSE(choose_vm_uid({}).has_value());
        return;
    }
    std::set<std::uint32_t> used;
    for (int i = 0; i < 200; ++i) {
        const auto uid = choose_vm_uid(used);
        REQUIRE(uid.has_value());
        CHECK(*uid >= 40000);
        CHECK(used.insert(*uid).second);
    }
}

TEST_CASE("in the jail there is no capability, no network, and no file of the host but /usr") {
    if (!check_jail()) {
        MESSAGE("this host allows no jail; the other tests still check its arguments");
        return;
    }
    const std::string seen = in_jail(
        "ls -A /; id -u; cat /proc/self/status; cat /proc/net/dev; hostname; ulimit -c; ulimit -n; "
        "touch /x 2>&1; touch /usr/x 2>&1; ls /home /root /etc/shadow /run /var 2>&1; true");
    CHECK(seen.find("\n0\n") != std::string::npos);  // core size
    CHECK(seen.find("CapEff:\t0000000000000000") != std::string::npos);
    CHECK(seen.find("CapBnd:\t0000000000000000") != std::string::npos);
    CHECK(seen.find("NoNewPrivs:\t1") != std::string::npos);
    CHECK(seen.find("eth0") == std::string::npos);
    CHECK(seen.find("\ncellblock\n") != std::string::npos);
    CHECK(seen.find("\n256\n") != std::string::npos);
    CHECK(seen.find("'/x'") != std::string::npos);
    CHECK(seen.find("'/usr/x'") != std::string::npos);
    for (const char* place : {"/home", "/root", "/etc/shadow", "/run", "/var"}) {
        CHECK(seen.find("'" + std::string(place) + "'") != std::string::npos);
    }
}
