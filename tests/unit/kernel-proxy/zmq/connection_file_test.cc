#include "kernel-proxy/zmq/connection_file.h"

#include <doctest/doctest.h>

#include <sys/stat.h>

#include "base/files.h"
#include "base/ids.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy::zmq_door;

namespace {

const std::string written = R"({"shell_port": 51001, "iopub_port": 51002, "stdin_port": 51003,
    "control_port": 51004, "hb_port": 51005, "ip": "127.0.0.1", "key": "a-key",
    "transport": "tcp", "signature_scheme": "hmac-sha256", "kernel_name": "x",
    "jupyter_session": "/home/user/a.ipynb"})";

std::string with(const std::string& from, const std::string& to) {
    std::string text = written;
    text.replace(text.find(from), from.size(), to);
    return text;
}

}  // namespace

TEST_CASE("what jupyter_client writes is understood") {
    const auto file = parse_connection_file(written);
    REQUIRE(file);
    CHECK(file->endpoint(file->shell_port) == "tcp://127.0.0.1:51001");
    CHECK(file->endpoint(file->hb_port) == "tcp://127.0.0.1:51005");
    CHECK(file->key == "a-key");
    CHECK(file->kernel_name == "x");
}

TEST_CASE("ipc and IPv6 addresses become the endpoints that clients connect to") {
    auto ipc = with("\"tcp\"", "\"ipc\"");
    ipc.replace(ipc.find("127.0.0.1"), 9, "/tmp/k");
    CHECK(parse_connection_file(ipc)->endpoint(3) == "ipc:///tmp/k-3");
    CHECK(parse_connection_file(with("127.0.0.1", "::1"))->endpoint(3) == "tcp://[::1]:3");
}

TEST_CASE("ports that are none, other transports and CurveZMQ are refused with the reason") {
    for (const char* port : {"0", "65536", "-1", "\"51001\"", "1.5", "null"}) {
        const auto file = parse_connection_file(with("51001", port));
        REQUIRE_FALSE(file);
        CHECK(file.error().cause.find("shell_port") != std::string::npos);
    }
    CHECK_FALSE(parse_connection_file(with("\"tcp\"", "\"udp\"")));
    CHECK_FALSE(parse_connection_file("[]"));
    CHECK_FALSE(parse_connection_file("{"));
    const auto curve = parse_connection_file(with("\"kernel_name\"", "\"curve_publickey\""));
    CHECK(curve.error().code == ErrorCode::not_supported);
}

TEST_CASE("a file that is written comes back the same, and only its owner reads it") {
    const auto path = std::filesystem::temp_directory_path() / ("cb-" + new_short_id(8) + ".json");
    auto file = parse_connection_file(written).value();
    file.key = "\"quoted\"";
    REQUIRE(write_connection_file(path, file));
    struct stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    const auto again = read_connection_file(path);
    std::filesystem::remove(path);
    REQUIRE(again);
    CHECK(again->key == file.key);
    CHECK(again->control_port == 51004);
}
