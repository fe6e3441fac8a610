#include "gateway/jupyter/kernelspecs.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway::jupyter;

namespace {

Kernelspecs with_native_kernel() {
    std::map<std::string, OfferedKernel> others;
    OfferedKernel& native = others["xpython"];
    native.display_name = "XPython";
    native.language = "python";
    native.launch.argv = {"xpython", "-f", "{connection_file}"};
    native.launch.interrupt_mode = kernel_proxy::InterruptMode::message;
    others["python3"].display_name = "the image's own ipykernel";
    return Kernelspecs(std::move(others));
}

}  // namespace

TEST_CASE("the image's kernels are offered beside python3, which is always ours") {
    const Kernelspecs specs = with_native_kernel();
    const Json list = specs.list("xpython");
    CHECK(list["default"] == "xpython");
    REQUIRE(list["kernelspecs"].size() == 2);
    CHECK(list["kernelspecs"]["python3"]["spec"]["display_name"] == "Python 3 (microVM)");
    const Json& native = list["kernelspecs"]["xpython"];
    CHECK(native["spec"]["display_name"] == "XPython (microVM)");
    CHECK(native["spec"]["interrupt_mode"] == "message");
    CHECK(native["resources"]["logo-svg"] == "/kernelspecs/xpython/logo-svg.svg");
    CHECK(specs.other("python3") == nullptr);
    REQUIRE(specs.other("xpython") != nullptr);
    CHECK(specs.other("xpython")->launch.argv.front() == "xpython");
}

TEST_CASE("kernels are found by their names, whatever the case, and python is python3") {
    const Kernelspecs specs = with_native_kernel();
    CHECK(specs.resolve("Python") == "python3");
    CHECK(specs.resolve("XPython") == "xpython");
    CHECK_FALSE(specs.resolve("ruby"));
    CHECK_FALSE(specs.find("ruby"));
    CHECK((*specs.find("PYTHON3"))["name"] == "python3");
    CHECK_FALSE(Kernelspecs().resolve("xpython"));
}

TEST_CASE("every kernel has its pictures, and no other file") {
    const Kernelspecs specs = with_native_kernel();
    CHECK(specs.resource("xpython", "logo-64x64.png")->content_type == "image/png");
    CHECK(specs.resource("python3", "logo-svg.svg")->content_type == "image/svg+xml");
    CHECK_FALSE(specs.resource("xpython", "kernel.js"));
    CHECK_FALSE(specs.resource("ruby", "logo-64x64.png"));
}
