#include "kernel-proxy/kernel_messages.h"

#include <doctest/doctest.h>

#include "kernel-proxy/kernel.h"
#include "tests/unit/kernel-proxy/messages.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using testing::make_iopub;
using testing::make_message;

namespace {

Result<Output> read(std::string_view msg_type, std::string_view content) {
    const KernelMessage message = make_iopub(msg_type, content);
    return read_output(message, read_routing(message).value());
}

template <typename Event>
Event event_of(std::string_view msg_type, std::string_view content) {
    const auto output = read(msg_type, content);
    REQUIRE(output.has_value());
    REQUIRE(output->event.has_value());
    return std::get<Event>(*output->event);
}

}  // namespace

TEST_CASE("an execute request carries the code verbatim and the environment beside it") {
    ExecuteRequest request;
    request.id = "e1";
    request.code = "%%time\nprint('\u00e9 None null')\n";
    request.environment = {{"KEY", "it's \"quoted\""}};
    const Request message = execute_request("session-1", request);
    REQUIRE(message.frames.size() == 4);
    const Json header = Json::parse(as_text(message.frames[0]));
    CHECK(header["msg_type"] == "execute_request");
    CHECK(header["msg_id"] == message.msg_id);
    CHECK(header["session"] == "session-1");
    const Json metadata = Json::parse(as_text(message.frames[2]));
    CHECK(metadata["cellblock"]["env"]["KEY"] == "it's \"quoted\"");
    CHECK(metadata["cellblock"]["execution_id"] == "e1");
    const Json content = Json::parse(as_text(message.frames[3]));
    CHECK(content["code"] == request.code);
    CHECK(content["store_history"] == true);
    CHECK(content["allow_stdin"] == false);
    CHECK(content["stop_on_error"] == false);
}

TEST_CASE("each kind of output becomes its event") {
    CHECK(
        event_of<ExecutionStarted>("execute_input", R"({"execution_count": 7})").execution_count ==
        7);
    const auto text = event_of<StreamText>("stream", R"({"name": "stderr", "text": "oh\n"})");
    CHECK(text.name == StreamName::standard_error);
    CHECK(text.text == "oh\n");
    const auto result = event_of<Display>("execute_result", R"({"data": {"text/plain": "2"}})");
    CHECK(result.kind == DisplayKind::result);
    CHECK(result.data["text/plain"] == "2");
    const auto update = event_of<Display>("update_display_data",
                                          R"({"data": {}, "transient": {"display_id": "d1"}})");
    CHECK(update.kind == DisplayKind::update);
    CHECK(update.display_id == "d1");
    CHECK(event_of<ClearOutput>("clear_output", R"({"wait": true})").when ==
          ClearWhen::with_next_output);
    const auto error = event_of<CellError>(
        "error", R"({"ename": "ValueError", "evalue": "no", "traceback": ["a", "b"]})");
    CHECK(error.name == "ValueError");
    CHECK(error.traceback.size() == 2);
}

TEST_CASE("idle is told, busy and unknown messages are nothing") {
    CHECK(read("status", R"({"execution_state": "idle"})")->idle);
    CHECK_FALSE(read("status", R"({"execution_state": "busy"})")->idle);
    CHECK_FALSE(read("comm_msg", R"({})")->event.has_value());
    CHECK_FALSE(read("from_the_future", R"({})")->event.has_value());
}

TEST_CASE("what a hostile kernel sends is an error or an empty event and never a crash") {
    CHECK(read("stream", "not json").error().code == ErrorCode::guest_protocol);
    CHECK(read("stream", "[1]").error().code == ErrorCode::guest_protocol);
    CHECK(read("stream", std::string(70, '{')).error().code == ErrorCode::guest_protocol);
    CHECK(event_of<StreamText>("stream", R"({"name": 3, "text": {"x": 1}})").text.empty());
    CHECK(event_of<Display>("display_data", R"({"data": [1, 2], "metadata": null})").data.empty());
    CHECK(event_of<CellError>("error", R"({"traceback": [1, null, "x"]})").traceback.size() == 1);
    CHECK(read("execute_input", R"({"execution_count": "many"})").error().code ==
          ErrorCode::invalid_argument);
    CHECK(read("clear_output", R"({"wait": 3})").error().code == ErrorCode::invalid_argument);
}

TEST_CASE("routing refuses headers without ids and accepts an empty parent") {
    const auto route = [](std::string_view header, std::string_view parent) {
        return read_routing(make_message(Channel::iopub, header, parent, "{}"));
    };
    CHECK(route(R"({"msg_type": "status", "msg_id": "1"})", "{}")->parent_msg_id.empty());
    CHECK_FALSE(route(R"({"msg_id": "1"})", "{}").has_value());
    CHECK_FALSE(route(R"({"msg_type": 1, "msg_id": "1"})", "{}").has_value());
    CHECK(route(R"({"msg_type": "status", "msg_id": "1", "msg_id": "2"})", "{}")->msg_id == "2");
    CHECK(route(R"({"msg_type": "status", "msg_id": "a\"\u00e9"})", "{}")->msg_id == "a\"é");
    CHECK(route(R"({"msg_type": "status", "msg_id": "1"})", R"({"msg_id": null})").has_value());
    CHECK_FALSE(route(R"({"msg_type": "status", "msg_id": "\ud800"})", "{}").has_value());
    CHECK_FALSE(route("", "").has_value());
    CHECK_FALSE(route("\xff", "{}").has_value());
    const std::string long_header = R"({"msg_type": ")" + std::string(70'000, 'x') + R"("})";
    CHECK(route(long_header, "{}").error().code == ErrorCode::guest_protocol);
}

TEST_CASE("replies are ok, error with its reason, or aborted under both of its names") {
    const auto reply = [](std::string_view content) {
        return read_execute_reply(make_message(
            Channel::shell, R"({"msg_type": "execute_reply", "msg_id": "1"})", "{}", content));
    };
    CHECK(reply(R"({"status": "ok"})")->status == ReplyStatus::ok);
    CHECK(reply(R"({"status": "aborted"})")->status == ReplyStatus::aborted);
    CHECK(reply(R"({"status": "abort"})")->status == ReplyStatus::aborted);
    const auto failed = reply(R"({"status": "error", "ename": "E", "evalue": "v"})");
    CHECK(failed->status == ReplyStatus::error);
    CHECK(failed->error->name == "E");
    CHECK_FALSE(reply("{}").has_value());
}

TEST_CASE("a kernel's death is told by its cause: memory, processes, or its own end") {
    KernelDeath death;
    death.out_of_memory = true;
    death.peak_bytes = 1024LL * 1024 * 1024;
    death.limit_bytes = 1024LL * 1024 * 1024;
    const Error error = describe(death);
    CHECK(error.code == ErrorCode::out_of_memory);
    CHECK(error.cause.find("peak 1024 MiB, limit 1024 MiB") != std::string::npos);
    CHECK(outcome_of(death) == Outcome::out_of_memory);
    death.processes_max = 64;
    CHECK(outcome_of(death) == Outcome::too_many_processes);
    CHECK(describe(death).cause.find("more than 64 processes") != std::string::npos);
    death.processes_max = 0;
    death.out_of_memory = false;
    CHECK(outcome_of(death) == Outcome::kernel_died);
    death.how = "signal 11 (Segmentation fault)";
    CHECK(describe(death).code == ErrorCode::kernel_died);
    CHECK(describe(death).cause.find("Segmentation fault") != std::string::npos);
}
