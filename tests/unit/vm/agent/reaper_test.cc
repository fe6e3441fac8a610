#include "vm/agent/reaper.h"

#include <doctest/doctest.h>
#include <signal.h>

#include <optional>

#include <boost/asio/io_context.hpp>

#include "vm/agent/launcher.h"

using namespace cellblock;
using namespace cellblock::vm::agent;

namespace {

pid_t start(boost::asio::io_context& loop, const std::string& script) {
    auto process = Process::spawn(loop.get_executor(), SpawnOptions({"sh", "-c", script})).value();
    return process.release();
}

template <typename Done>
void run_until(boost::asio::io_context& loop, Done done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    loop.restart();
    while (!done() && std::chrono::steady_clock::now() < deadline) {
        loop.run_for(std::chrono::milliseconds(5));
    }
}

}  // namespace

TEST_CASE("how a watched process ended is told once, by exit code or by signal") {
    boost::asio::io_context loop;
    Reaper reaper(loop.get_executor());
    reaper.start();
    std::optional<ExitStatus> exited;
    std::optional<ExitStatus> killed;
    reaper.watch(start(loop, "exit 7"), [&](ExitStatus status) { exited = status; });
    reaper.watch(start(loop, "kill -9 $$"), [&](ExitStatus status) { killed = status; });
    run_until(loop, [&] { return exited && killed; });
    reaper.stop();
    REQUIRE(exited);
    REQUIRE(killed);
    CHECK(exited->exit_code == 7);
    CHECK(killed->signal == SIGKILL);
}

TEST_CASE("a process that died before anyone asked is still told of") {
    boost::asio::io_context loop;
    Reaper reaper(loop.get_executor());
    reaper.start();
    const pid_t pid = start(loop, "exit 3");
    run_until(loop, [&] { return reaper.reaped() == 1; });
    std::optional<ExitStatus> told;
    reaper.watch(pid, [&](ExitStatus status) { told = status; });
    run_until(loop, [&] { return told.has_value(); });
    reaper.stop();
    REQUIRE(told);
    CHECK(told->exit_code == 3);
}
