#include "gateway/config/kernel_gateway.h"

#include <doctest/doctest.h>

#include <map>

using namespace cellblock;
using namespace cellblock::gateway::config;

namespace {

using Variables = std::map<std::string, std::string>;

Result<Config> loaded(const Variables& variables, const std::vector<Flag>& flags) {
    return load(
        std::nullopt,
        [&](const char* name) -> const char* {
            const auto at = variables.find(name);
            return at == variables.end() ? nullptr : at->second.c_str();
        },
        flags);
}

std::vector<Flag> as_kernel_gateway() {
    return {{find_key("compat"), "kernel-gateway"}};
}

Result<Config> with(const std::vector<std::string>& arguments) {
    Config config;
    const auto unknown = apply_kernel_gateway_arguments(config, arguments);
    if (!unknown) return fail(unknown.error());
    return config;
}

}  // namespace

TEST_CASE("the variables of kernel_gateway become settings, where its manners are asked for") {
    const Variables variables = {{"KG_IP", "0.0.0.0"},
                                 {"KG_PORT", "9999"},
                                 {"KG_AUTH_TOKEN", "secret"},
                                 {"KG_MAX_KERNELS", "3"},
                                 {"KG_PRESPAWN_COUNT", "1"},
                                 {"KG_LIST_KERNELS", "True"},
                                 {"KG_ENV_WHITELIST", "LANG,TZ"},
                                 {"KG_ENV_PROCESS_WHITELIST", "['HTTP_PROXY']"},
                                 {"KG_SEED_URI", "file:///tmp/seed.ipynb"},
                                 {"KG_FORCE_KERNEL_NAME", "python3"},
                                 {"KG_ALLOW_ORIGIN", "*"}};
    const auto config = loaded(variables, as_kernel_gateway());
    REQUIRE_MESSAGE(config.has_value(), (config ? "" : config.error().text()));
    CHECK(config->listen == "0.0.0.0:9999");
    CHECK(config->token == "secret");
    CHECK(config->kernels_max == 3);
    CHECK(config->pool_size == 1);
    CHECK(config->list_kernels == "yes");
    CHECK(config->kernel_environment == std::vector<std::string>{"LANG", "TZ"});
    CHECK(config->kernel_environment_inherited == std::vector<std::string>{"HTTP_PROXY"});
    CHECK(config->seed_notebook == "/tmp/seed.ipynb");
    CHECK(config->force_kernel == "python3");
    CHECK(config->allowed_origins == std::vector<std::string>{"*"});
    const auto other = loaded(variables, {});
    REQUIRE(other.has_value());
    CHECK(other->listen == Config().listen);
    CHECK(!other->token);
}

TEST_CASE("our own variables and flags beat those of kernel_gateway") {
    auto flags = as_kernel_gateway();
    flags.push_back({find_key("kernels_max"), "7"});
    const auto config =
        loaded({{"KG_PORT", "1"}, {"CELLBLOCK_LISTEN", "[::1]:2"}, {"KG_MAX_KERNELS", "1"}}, flags);
    REQUIRE(config.has_value());
    CHECK(config->listen == "[::1]:2");
    CHECK(config->kernels_max == 7);
}

TEST_CASE("an empty token and none are told apart, and neither asks for an open gateway") {
    const auto empty = loaded({{"KG_AUTH_TOKEN", ""}}, as_kernel_gateway());
    REQUIRE(empty.has_value());
    CHECK(empty->token == "");
    CHECK(empty->insecure_no_token == "no");
    const auto none = loaded({}, as_kernel_gateway());
    REQUIRE(none.has_value());
    CHECK(!none->token);
    CHECK(none->insecure_no_token == "no");
}

TEST_CASE("a token that no header carries is refused, and an option without a value is no token") {
    for (const char* token : {"two words", "line\n", "\xc3\xa4", " "}) {
        CAPTURE(token);
        CHECK(!loaded({{"KG_AUTH_TOKEN", token}}, as_kernel_gateway()).has_value());
    }
    CHECK(!with({"--KernelGatewayApp.auth_token"}).has_value());
    CHECK(!with({"--auth_token", "--port=7"}).has_value());
    CHECK(with({"--auth_token="})->token == "");
    CHECK(with({"--JupyterWebsocketPersonality.list_kernels"})->list_kernels == "yes");
}

TEST_CASE("the command lines of smolagents and AutoGen are understood") {
    const auto smolagents = with({"--KernelGatewayApp.ip=0.0.0.0", "--KernelGatewayApp.port=8888"});
    REQUIRE(smolagents.has_value());
    CHECK(smolagents->listen == "0.0.0.0:8888");
    const auto autogen =
        with({"--KernelGatewayApp.ip", "127.0.0.1", "--KernelGatewayApp.auth_token", "t",
              "--JupyterApp.answer_yes", "true", "--JupyterApp.logging_config",
              R"({"handlers": {"file": {"filename": "/tmp/kg.log"}}})",
              "--JupyterWebsocketPersonality.list_kernels", "true"});
    REQUIRE(autogen.has_value());
    CHECK(autogen->token == "t");
    CHECK(autogen->list_kernels == "yes");
    CHECK(autogen->log_file == "/tmp/kg.log");
    const auto aliases = with({"--ip=::1", "--port=7"});
    REQUIRE(aliases.has_value());
    CHECK(aliases->listen == "[::1]:7");
}

TEST_CASE("what would be wrong to pass over in silence is refused, what is unknown is named") {
    CHECK(!with({"--KernelGatewayApp.api=kernel_gateway.mine"}).has_value());
    CHECK(!with({"--NotebookHTTPPersonality.static_path=/srv"}).has_value());
    CHECK(!with({"--NotebookHTTPPersonality.allow_notebook_download"}).has_value());
    CHECK(!with({"--KernelGatewayApp.client_ca=/ca.pem"}).has_value());
    CHECK(!with({"--KernelGatewayApp.base_url=/jupyter"}).has_value());
    CHECK(!with({"--seed_uri=https://example.org/n.ipynb"}).has_value());
    CHECK(!with({"notebook.ipynb"}).has_value());
    CHECK(!with({"--JupyterApp.logging_config={"}).has_value());
    Config config;
    const std::vector<std::string> arguments = {"--KernelGatewayApp.colour=red"};
    const auto unknown = apply_kernel_gateway_arguments(config, arguments);
    REQUIRE(unknown.has_value());
    CHECK(*unknown == std::vector<std::string>{"KernelGatewayApp.colour"});
}

TEST_CASE("a notebook's API is asked for with kernel_gateway's words, and needs a notebook") {
    const auto api = with({"--api", "kernel_gateway.notebook_http", "--seed-uri=/n.ipynb",
                           "--KernelGatewayApp.prespawn_count=3"});
    REQUIRE_MESSAGE(api.has_value(), (api ? "" : api.error().text()));
    CHECK(api->serves_notebook());
    CHECK(api->seed_notebook == "/n.ipynb");
    CHECK(api->pool_size == 3);
    CHECK(check(*api).has_value());
    CHECK(!loaded({{"KG_API", "kernel_gateway.notebook_http"}}, as_kernel_gateway()).has_value());
    CHECK(!loaded({{"KG_API", "kernel_gateway.notebook_http"},
                   {"KG_SEED_URI", "/n.ipynb"},
                   {"KG_PRESPAWN_COUNT", "3"},
                   {"KG_MAX_KERNELS", "2"}},
                  as_kernel_gateway())
               .has_value());
}
