#include "vm/agent/options.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::vm::agent;

TEST_CASE("as process 1 the agent ignores the words that the kernel passes on") {
    const auto options = parse_options({"splash", "foo=bar"});
    REQUIRE(options);
    CHECK(options->mode == Mode::guest);
    CHECK(options->run_dir == "/run/cellblock");
    CHECK(options->uid == 1000);
}

TEST_CASE("on a host the agent takes its place from flags and keeps its files beside the socket") {
    const auto options =
        parse_options({"--root-less", "--socket", "/tmp/a.sock", "--python", "/opt/py"});
    REQUIRE(options);
    CHECK(options->mode == Mode::rootless);
    CHECK(options->run_dir == "/tmp/a.sock.run");
    CHECK(options->python == "/opt/py");
}

TEST_CASE("what is wrong with the flags is said") {
    CHECK(parse_options({"--root-less"}).error().cause.find("--socket") != std::string::npos);
    CHECK(parse_options({"--root-less", "--socket"}).error().cause.find("value") !=
          std::string::npos);
    CHECK(parse_options({"--root-less", "--colour", "red"}).error().cause.find("--colour") !=
          std::string::npos);
}
