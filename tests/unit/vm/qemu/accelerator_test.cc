#include "vm/qemu/accelerator.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "base/ids.h"
#include "base/process.h"

using namespace cellblock;
using namespace cellblock::vm;

namespace {

AcceleratorFacts good_facts() {
    AcceleratorFacts facts;
    facts.kvm_device_exists = true;
    facts.cpu_has_virtualization = true;
    facts.module_kvm_vendor = true;
    return facts;
}

}  // namespace

TEST_CASE("what plainly cannot be KVM is TCG, each with its reason") {
    AcceleratorFacts facts = good_facts();
    facts.kvm_device_exists = false;
    CHECK(choose_by_facts(facts)->reason.find("no /dev/kvm") != std::string::npos);
    facts = good_facts();
    facts.cpu_has_virtualization = false;
    CHECK(choose_by_facts(facts)->reason.find("neither vmx nor svm") != std::string::npos);
    facts = good_facts();
    facts.module_kvm_pvm = true;
    facts.module_kvm_vendor = false;
    CHECK(choose_by_facts(facts)->reason.find("kvm_pvm") != std::string::npos);
    facts = good_facts();
    facts.kvm_open_error = "could not open /dev/kvm: Permission denied; join the group kvm";
    const auto choice = choose_by_facts(facts);
    CHECK(choice->reason == "KVM is not used: " + facts.kvm_open_error);
    CHECK(choice->kind == AcceleratorKind::tcg);
    CHECK(choice->tier == IsolationTier::reduced);
}

TEST_CASE("facts that speak for KVM prove nothing: a probe must") {
    CHECK_FALSE(choose_by_facts(good_facts()).has_value());
    AcceleratorFacts both = good_facts();
    both.module_kvm_pvm = true;
    CHECK_FALSE(choose_by_facts(both).has_value());
}

TEST_CASE("what the user asks for is what he gets") {
    CHECK(choose_accelerator(AcceleratorWish::tcg, "/nonexistent").kind == AcceleratorKind::tcg);
    CHECK(choose_accelerator(AcceleratorWish::kvm, "/nonexistent").kind == AcceleratorKind::kvm);
    CHECK(choose_accelerator(AcceleratorWish::kvm, "/nonexistent").tier == IsolationTier::hardware);
    CHECK(accelerator_wish_from("auto").has_value());
    CHECK_FALSE(accelerator_wish_from("xen").has_value());
}

TEST_CASE("the probe guest runs to its end under TCG, and a deadline is kept") {
    if (!qemu_build()) {
        MESSAGE("no QEMU here");
        return;
    }
    // Generous: the host may be busy. The real probe gives KVM 2 s.
    const auto finished = probe_accelerator(AcceleratorKind::tcg, std::chrono::seconds(60));
    REQUIRE_MESSAGE(finished.has_value(), finished.error().text());
    CHECK(*finished);
    const auto hurried = probe_accelerator(AcceleratorKind::tcg, std::chrono::milliseconds(1));
    REQUIRE(hurried.has_value());
    CHECK_FALSE(*hurried);
}

TEST_CASE("the TSC rate is measured once and then kept, unless the host changed") {
    const auto folder = std::filesystem::temp_directory_path() / ("tsc-" + new_short_id());
    const auto first = host_tsc_khz(folder);
    CHECK(first > 100'000);
    CHECK(first < 10'000'000);
    CHECK(host_tsc_khz(folder) == first);
    std::filesystem::remove_all(folder);
}
