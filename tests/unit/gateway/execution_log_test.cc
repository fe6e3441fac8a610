#include "gateway/executions/execution_log.h"

#include <doctest/doctest.h>

#include <fstream>

#include "base/files.h"
#include "gateway/executions/execution_files.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::gateway;
namespace fs = std::filesystem;

namespace {

LoggedExecution asked() {
    LoggedExecution execution;
    execution.request.id = "run1";
    execution.request.code = "print('\xc3\xa9')\n";
    execution.request.environment = {{"A", "b"}};
    execution.request.timeout = std::chrono::milliseconds(2500);
    execution.sandbox_id = "box";
    execution.context_id = "ctx";
    execution.tenant = "me";
    execution.created_at = WallTime(std::chrono::seconds(1'700'000'000));
    return execution;
}

const WallTime deadline{std::chrono::seconds(1'700'000'500)};
const std::string one = R"({"type":"stdout","text":"1\n"})";
const std::string two = R"({"type":"stdout","text":"2\n"})";
const std::string end = R"({"type":"end_of_execution"})";

void append_raw(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::app | std::ios::binary) << text;
}

}  // namespace

TEST_CASE("a log tells what was asked, how it was sent, and each line with its place") {
    const TemporaryFolder folder;
    auto log = ExecutionLog::create(folder.path(), "run1", header_record(asked()));
    REQUIRE(log.has_value());
    auto read = read_execution_log(log_path(folder.path(), "run1"));
    REQUIRE(read.has_value());
    CHECK(read->request.code == asked().request.code);
    CHECK(read->request.environment == asked().request.environment);
    CHECK(read->request.timeout == asked().request.timeout);
    CHECK(read->created_at == asked().created_at);
    CHECK(read->context_id == "ctx");
    CHECK(read->tenant == "me");
    CHECK(read->header.empty());

    RecorderState state;
    state.text.inline_bytes = state.text.total_bytes = 4;
    state.display_count = 3;
    state.displays_left.text_bytes = 77;
    REQUIRE(log->append(sent_record(R"({"msg_id":"m"})", deadline, 5)));
    REQUIRE(log->append(lines_record(9, {one, two}, state)));
    REQUIRE(log->append(position_record(12)));
    REQUIRE(log->append(reply_record("aborted")));
    read = read_execution_log(log_path(folder.path(), "run1"));
    REQUIRE(read.has_value());
    CHECK(read->header == R"({"msg_id":"m"})");
    CHECK(read->deadline == deadline);
    CHECK(read->position == 12);
    CHECK(read->reply == "aborted");
    CHECK_FALSE(read->raised);
    CHECK(read->heard);
    CHECK(read->lines == std::vector<std::string>{one, two});
    CHECK(read->recorder.text.total_bytes == 4);
    CHECK(read->recorder.display_count == 3);
    CHECK(read->recorder.displays_left.text_bytes == 77);
    CHECK_FALSE(read->ended);
}

TEST_CASE("a torn record is as if it had not been written, wherever it is torn") {
    const TemporaryFolder folder;
    const std::string whole = header_record(asked()) + sent_record("{}", deadline, 1) +
                              lines_record(2, {one}, RecorderState());
    const std::string last = lines_record(3, {two}, RecorderState());
    const fs::path path = log_path(folder.path(), "run1");
    for (std::size_t cut = 0; cut < last.size(); ++cut) {
        fs::remove(path);
        append_raw(path, whole + last.substr(0, cut));
        auto log = ExecutionLog::reopen(folder.path(), "run1");
        REQUIRE(log.has_value());
        REQUIRE(log->append(last));
        const auto read = read_execution_log(path);
        REQUIRE(read.has_value());
        CHECK(read->lines == std::vector<std::string>{one, two});
        CHECK(read->position == 3);
    }
}

TEST_CASE("what was printed beyond the lines is cut to what the log speaks of") {
    const TemporaryFolder folder;
    auto log = ExecutionLog::create(folder.path(), "run1", header_record(asked()));
    REQUIRE(log.has_value());
    REQUIRE(log->append_text("all that was kept"));
    REQUIRE(log->append_text(", and what no record tells of"));
    auto again = ExecutionLog::reopen(folder.path(), "run1");
    REQUIRE(again.has_value());
    CHECK(again->restore_text(17).value_or("") == "all that was kept");
    REQUIRE(again->append_text(", and more"));
    CHECK(again->restore_text(27).value_or("") == "all that was kept, and more");
    CHECK_FALSE(again->restore_text(28).has_value());
}

TEST_CASE("what is unfinished is found, what has ended is kept for a while") {
    const TemporaryFolder folder;
    auto log = ExecutionLog::create(folder.path(), "run1", header_record(asked()));
    REQUIRE(log.has_value());
    LoggedExecution other = asked();
    other.request.id = "run0";
    other.created_at -= std::chrono::seconds(1);
    REQUIRE(ExecutionLog::create(folder.path(), "run0", header_record(other)).has_value());
    auto unfinished = read_unfinished(folder.path());
    REQUIRE(unfinished.has_value());
    REQUIRE(unfinished->size() == 2);
    CHECK(unfinished->front().request.id == "run0");  // the older one

    REQUIRE(log->append(lines_record(4, {one, end}, RecorderState())));
    // The gateway died before it could rename the file.
    unfinished = read_unfinished(folder.path());
    REQUIRE(unfinished.has_value());
    CHECK(unfinished->size() == 1);
    auto done = read_execution_log(done_path(folder.path(), "run1"));
    REQUIRE(done.has_value());
    CHECK(done->ended);
    fs::last_write_time(done_path(folder.path(), "run1"),
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
    REQUIRE(trim_finished(folder.path()));
    CHECK_FALSE(fs::exists(done_path(folder.path(), "run1")));
    CHECK(fs::exists(log_path(folder.path(), "run0")));
}

TEST_CASE("a file that is no log stops nothing") {
    const TemporaryFolder folder;
    for (const char* text : {"", "\n", "[]\n", "{}\n", "{\"h\":{}}\n", "\xff\xff\n", "{\"h\":5}\n",
                             "{\"p\":-1}\n", "{\"p\":1,\"l\":[5]}\n"}) {
        append_raw(log_path(folder.path(), "run1"), text);
        CHECK_FALSE(read_execution_log(log_path(folder.path(), "run1")).has_value());
        const auto unfinished = read_unfinished(folder.path());
        REQUIRE(unfinished.has_value());
        CHECK(unfinished->empty());
        CHECK_FALSE(fs::exists(log_path(folder.path(), "run1")));
    }
}
