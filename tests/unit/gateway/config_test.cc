#include "gateway/config/config.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "tests/unit/repository_file.h"

using namespace cellblock;
using namespace cellblock::gateway::config;

namespace {

const std::string sample_path = repository_file("gateway/config/cellblock.toml");

std::string error_of(std::string_view toml) {
    Config config;
    const auto applied = apply_toml(config, toml, "x.toml");
    return applied ? std::string() : applied.error().text();
}

const char* no_environment(const char*) {
    return nullptr;
}

}  // namespace

TEST_CASE("the shipped sample documents every key and holds the defaults") {
    const auto text = read_file(sample_path, 1 << 20);
    REQUIRE(text.has_value());
    const Config defaults;
    for (const Key& key : keys()) {
        CAPTURE(std::string(key.name));
        const std::string line =
            "\n" + std::string(key.name) + " = " + value_text(defaults, key) + "\n";
        CHECK(text->find(line) != std::string::npos);
    }
    Config parsed;
    const auto applied = apply_toml(parsed, *text, "cellblock.toml");
    REQUIRE_MESSAGE(applied.has_value(), (applied ? "" : applied.error().text()));
    for (const Key& key : keys()) CHECK(value_text(parsed, key) == value_text(defaults, key));
}

TEST_CASE("unknown keys are refused with their line and the nearest name") {
    CHECK(error_of("listen = \"a:1\"\npol_size = 3\n") ==
          "x.toml:2: unknown key \"pol_size\" (did you mean \"pool_size\"?)");
    CHECK(error_of("[server]\n").find("x.toml:1: unknown key \"server\"") == 0);
}

TEST_CASE("wrong values are refused with their line") {
    CHECK(error_of("pool_size = \"many\"").find("x.toml:1: pool_size takes a number") == 0);
    CHECK(error_of("listen = 5").find("x.toml:1: listen takes a text") == 0);
    CHECK(error_of("allowed_hosts = [1]").find("x.toml:1: allowed_hosts takes a list") == 0);
    CHECK(error_of("connections_max = 0").find("not between 1 and") != std::string::npos);
    CHECK(error_of("accelerator = \"xen\"").find("not one of auto kvm tcg") != std::string::npos);
    CHECK(error_of("listen = ").find("x.toml:1: ") == 0);
}

TEST_CASE("flags beat the environment, which beats the file") {
    const auto path = std::filesystem::temp_directory_path() / "cellblock-config-test.toml";
    REQUIRE(write_file_atomically(path, "pool_size = 3\nlog_file = \"a\"\nimage = \"base\"\n"));
    const auto environment = [](const char* name) -> const char* {
        if (std::string_view(name) == "CELLBLOCK_POOL_SIZE") return "4";
        if (std::string_view(name) == "CELLBLOCK_LOG_FILE") return "b";
        if (std::string_view(name) == "CELLBLOCK_ALLOWED_HOSTS") return "a, b";
        return nullptr;
    };
    std::vector<Flag> flags;
    for (const Key& key : keys()) {
        if (key.name == "pool_size") flags.push_back(Flag{&key, "5"});
    }
    const auto config = load(path, environment, flags);
    std::filesystem::remove(path);
    REQUIRE(config.has_value());
    CHECK(config->pool_size == 5);
    CHECK(config->log_file == "b");
    CHECK(config->image == "base");
    CHECK(config->allowed_hosts == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a missing file that was asked for, and half a TLS setting, are errors") {
    CHECK_FALSE(load("/nonexistent/cellblock.toml", no_environment, {}).has_value());
    for (const Key& key : keys()) {
        if (key.name != "tls_key") continue;
        const std::vector<Flag> flags = {Flag{&key, "key.pem"}};
        CHECK_FALSE(load(std::nullopt, no_environment, flags).has_value());
    }
}

TEST_CASE("names of flags and variables derive from the key") {
    const Key& key = keys().front();
    CHECK(key.flag_name() == "--listen");
    for (const Key& each : keys()) {
        CHECK(each.help.size() > 10);
        CHECK(each.help.back() == '.');
    }
}
