#include "base/process.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/worker_pool.h"

using namespace cellblock;
namespace asio = boost::asio;

namespace {

template <typename T>
T run(asio::io_context& loop, asio::awaitable<T> task) {
    std::optional<T> result;
    asio::co_spawn(loop, std::move(task), [&result](std::exception_ptr error, T value) {
        if (error) std::rethrow_exception(error);
        result.emplace(std::move(value));
    });
    loop.restart();
    loop.run();
    return std::move(*result);
}

Result<ExitStatus> run_to_end(std::vector<std::string> argv) {
    asio::io_context loop;
    auto process = Process::spawn(loop.get_executor(), SpawnOptions(std::move(argv)));
    if (!process) return fail(process.error());
    return run(loop, process->wait());
}

}  // namespace

TEST_CASE("a child's exit code and its signal are told apart") {
    CHECK(run_to_end({"sh", "-c", "exit 7"}).value().exit_code == 7);
    const auto killed = run_to_end({"sh", "-c", "kill -9 $$"}).value();
    CHECK(killed.signal == 9);
    CHECK_FALSE(killed.success());
}

TEST_CASE("a program that does not exist is an error that says what to do") {
    const auto result = run_to_end({"/nonexistent/program"});
    REQUIRE_FALSE(result.has_value());
    CHECK(result.error().code == ErrorCode::not_found);
    CHECK_FALSE(result.error().advice.empty());
}

TEST_CASE("a child has only the descriptors that it was given") {
    asio::io_context loop;
    const Fd kept(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    const Fd hidden(
        ::open("/dev/null", O_RDONLY));  // not close-on-exec: spawn itself must close it
    const std::string script = "test -e /proc/$$/fd/" + std::to_string(kept.get()) +
                               " && ! test -e /proc/$$/fd/" + std::to_string(hidden.get());
    SpawnOptions options({"sh", "-c", script});
    options.inherited = {kept.get()};
    auto process = Process::spawn(loop.get_executor(), std::move(options));
    REQUIRE(process.has_value());
    CHECK(run(loop, process->wait()).value().success());
}

TEST_CASE("a wait gives up at its deadline and the destructor ends the child") {
    asio::io_context loop;
    pid_t pid = -1;
    {
        auto process = Process::spawn(loop.get_executor(), SpawnOptions({"sleep", "1000"}));
        REQUIRE(process.has_value());
        pid = process->pid();
        const auto early = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
        CHECK(run(loop, process->wait_until(early)).error().code == ErrorCode::timeout);
        CHECK(process->running());
    }
    CHECK(::waitpid(pid, nullptr, 0) == -1);  // reaped already
}

TEST_CASE("run_command collects both streams and cuts them at the limit") {
    const auto output =
        run_command({"sh", "-c", "echo out; echo err >&2; head -c 100000 /dev/zero"}, 1000,
                    std::chrono::seconds(10))
            .value();
    CHECK(output.standard_output.substr(0, 4) == "out\n");
    CHECK(output.standard_output.size() == 1000);
    CHECK(output.standard_error == "err\n");
}

TEST_CASE("run_command kills what does not end in time") {
    const auto output =
        run_command({"sh", "-c", "sleep 1000 & sleep 1000"}, 1000, std::chrono::milliseconds(50));
    REQUIRE_FALSE(output.has_value());
    CHECK(output.error().code == ErrorCode::timeout);
}

namespace {
asio::awaitable<Result<int>> use_pool(WorkerPool& pool) {
    auto answer = []() -> Result<int> { return 42; };
    co_return co_await pool.run(answer);
}
}  // namespace

TEST_CASE("work on the pool comes back to the loop with its result") {
    asio::io_context loop;
    WorkerPool pool;
    CHECK(run(loop, use_pool(pool)).value() == 42);
}
