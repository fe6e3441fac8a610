// A job's record and its output, as they stand on disk.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "gateway/jobs/job_output.h"
#include "gateway/jobs/job_record.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::gateway::jobs;

namespace {

JobRecord sample() {
    JobRecord record;
    record.id = "job1";
    record.execution_id = "e1";
    record.tenant = "owner";
    record.origin_sandbox_id = "s1";
    record.origin_context_id = "c1";
    record.sandbox_id = "s2";
    record.context_id = "c2";
    record.state = JobState::failed;
    record.started_at = WallTime(std::chrono::seconds(1'700'000'000));
    record.created_at = record.started_at + std::chrono::seconds(5);
    record.ended_at = record.created_at + std::chrono::seconds(60);
    record.error = {{"name", "ValueError"}, {"value", "x"}, {"traceback", "..."}};
    record.artifacts.push_back({{"id", "a1"}});
    record.detached_from = 12;
    record.output_bytes = 99;
    record.notices.webhook = Webhook{"https://hooks.example.org/", "0123456789abcdef"};
    record.notices.email = "someone@example.org";
    record.webhook.state = NoticeState::pending;
    record.webhook.attempts = 2;
    record.webhook.last_error = "refused";
    record.email.state = NoticeState::delivered;
    return record;
}

}  // namespace

TEST_CASE("a record is read as it was written") {
    const Json written = to_json(sample());
    const auto read = job_record_from(Json::parse(written.dump()));
    REQUIRE(read);
    CHECK(to_json(*read).dump() == written.dump());
    CHECK(read->notices.webhook->secret == "0123456789abcdef");
    CHECK(read->state == JobState::failed);
    CHECK(read->ended_at == sample().ended_at);
}

TEST_CASE("a secret is shown to nobody, and kept no longer than it is needed") {
    JobRecord record = sample();
    CHECK(job_json(record).dump().find("0123456789abcdef") == std::string::npos);
    record.webhook.state = NoticeState::delivered;
    CHECK(to_json(record).dump().find("0123456789abcdef") == std::string::npos);
}

TEST_CASE("a record that is not one of ours is refused") {
    for (const char* field : {"id", "state", "sandbox_id", "started_at_ns", "artifacts"}) {
        CAPTURE(field);
        Json json = to_json(sample());
        json.erase(field);
        CHECK_FALSE(job_record_from(json));
        json[field] = "../x";
        CHECK_FALSE(job_record_from(json));
    }
    CHECK_FALSE(job_record_from(Json::array()));
}

TEST_CASE("output is read in whole lines from any line's beginning") {
    const TemporaryFolder folder;
    const auto output = JobOutput::open(folder.path() / "output");
    REQUIRE(output);
    const std::string lines = "first\nsecond one\nthird\n";
    REQUIRE((*output)->append(lines, 0));
    const JobOutput& file = **output;
    CHECK(file.read(0, lines.size(), 1000).value() == lines);
    CHECK(file.read(6, lines.size(), 1000).value() == "second one\nthird\n");
    // As much as fits, and one line at the least.
    CHECK(file.read(0, lines.size(), 10).value() == "first\n");
    CHECK(file.read(6, lines.size(), 3).value() == "second one\n");
    // Not past what is known to be whole.
    CHECK(file.read(0, 6, 1000).value() == "first\n");
    CHECK(file.read(lines.size(), lines.size(), 1000).value().empty());
    for (const std::uint64_t wrong : {std::uint64_t{1}, std::uint64_t{lines.size() + 1}}) {
        CHECK(file.read(wrong, lines.size(), 10).error().code == ErrorCode::invalid_argument);
    }
}

TEST_CASE("a line that a crash cut off is not there any more") {
    const TemporaryFolder folder;
    const auto path = folder.path() / "output";
    std::ofstream(path) << "whole\nhal";
    const auto output = JobOutput::open(path);
    REQUIRE(output);
    CHECK((*output)->size_at_opening() == 6);
    REQUIRE((*output)->append("next\n", 6));
    CHECK((*output)->read(0, 11, 100).value() == "whole\nnext\n");
    std::ofstream(folder.path() / "other") << "no line at all";
    CHECK(JobOutput::open(folder.path() / "other").value()->size_at_opening() == 0);
}
