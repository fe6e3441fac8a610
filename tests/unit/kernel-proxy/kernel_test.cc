#include "kernel-proxy/kernel.h"

#include <doctest/doctest.h>

#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/running_cell.h"
#include "tests/unit/kernel-proxy/kernel_fixture.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using testing::FakeGuest;
namespace asio = boost::asio;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

using testing::Ended;
using testing::Fixture;

TEST_CASE_FIXTURE(Fixture, "a cell's output comes in order and ends ok") {
    const Ended ended = run("print hello");
    CHECK(ended.text == "hello");
    CHECK(ended.finished.outcome == Outcome::ok);
    CHECK(std::holds_alternative<ExecutionStarted>(ended.events.front()));
    CHECK(kernel->state() == KernelState::idle);
}

TEST_CASE_FIXTURE(Fixture, "an error that only the reply tells is delivered all the same") {
    const Ended ended = run("raise");
    CHECK(ended.finished.outcome == Outcome::error);
    CHECK(ended.errors == std::vector<std::string>{"ValueError"});
}

TEST_CASE_FIXTURE(Fixture, "cells run one after the other in the order in which they came") {
    const auto first = submit("hang");
    const auto second = submit("print second");
    until([&] { return first->state() == ExecutionState::running; });
    CHECK(second->state() == ExecutionState::queued);
    first->stop(StopReason::interrupted);
    CHECK(finish(first).finished.outcome == Outcome::interrupted);
    CHECK(finish(second).text == "second");
}

TEST_CASE_FIXTURE(Fixture, "a queued cell that is taken back never reaches the kernel") {
    const auto first = submit("hang");
    const auto second = submit("die");
    until([&] { return first->state() == ExecutionState::running; });
    second->stop(StopReason::cancelled);
    CHECK(finish(second).finished.outcome == Outcome::cancelled);
    CHECK(first->state() == ExecutionState::running);
    first->stop(StopReason::interrupted);
    finish(first);
    CHECK(guest.restarts == 0);
}

TEST_CASE_FIXTURE(Fixture, "a deadline interrupts the cell and is told with its length") {
    const Ended ended = run("hang", milliseconds(50));
    CHECK(ended.finished.outcome == Outcome::timeout);
    CHECK(ended.finished.error.cause.find("0.05 s") != std::string::npos);
    // Our interrupt is no error of the cell; where it struck is told with the typed end.
    CHECK(ended.errors.empty());
    CHECK(ended.finished.traceback == std::vector<std::string>{"line 1"});
    CHECK(guest.interrupts == 1);
    CHECK(guest.restarts == 0);
    CHECK(run("print on").text == "on");
}

TEST_CASE_FIXTURE(Fixture, "a cell that missed its interrupt is ended by a second one") {
    guest.interrupts_missed = 1;
    CHECK(run("hang", milliseconds(50)).finished.outcome == Outcome::timeout);
    CHECK(guest.interrupts == 2);
    CHECK(guest.restarts == 0);
}

TEST_CASE_FIXTURE(Fixture, "a cell that ignores its interrupt costs the kernel its process") {
    CHECK(run("ignore", milliseconds(50)).finished.outcome == Outcome::timeout);
    until([&] { return guest.restarts == 1 && kernel->state() == KernelState::idle; });
    CHECK(run("print again").text == "again");
    CHECK(unresponsive.empty());
}

TEST_CASE_FIXTURE(Fixture, "a kernel that cannot be replaced is reported as unresponsive") {
    guest.refuse_restart = true;
    CHECK(run("ignore", milliseconds(50)).finished.outcome == Outcome::timeout);
    until([&] { return !unresponsive.empty(); });
    CHECK(kernel->state() == KernelState::dead);
    ExecuteRequest request;
    CHECK(kernel->execute(request).error().code == ErrorCode::kernel_died);
}

TEST_CASE_FIXTURE(Fixture, "a process that dies ends its cell with the reason and is replaced") {
    const Ended ended = run("die");
    CHECK(ended.finished.outcome == Outcome::kernel_died);
    CHECK(ended.finished.error.cause.find("Segmentation fault") != std::string::npos);
    until([&] { return guest.restarts == 1 && kernel->state() == KernelState::idle; });
    CHECK(run("print on").text == "on");
}

TEST_CASE_FIXTURE(Fixture, "news of a process that was replaced long ago changes nothing") {
    KernelDeath stale;
    stale.pid = 1;
    kernel->on_died(stale);
    CHECK(run("print on").text == "on");
    CHECK(guest.restarts == 0);
}

TEST_CASE_FIXTURE(Fixture, "a lost reply does not hang the caller") {
    CHECK(run("lose-reply").finished.outcome == Outcome::ok);
}

TEST_CASE_FIXTURE(Fixture, "closing ends the running and every queued cell with the reason") {
    const auto first = submit("hang");
    const auto second = submit("print x");
    until([&] { return first->state() == ExecutionState::running; });
    kernel->close(Outcome::sandbox_gone, Error(ErrorCode::sandbox_gone, "deleted"));
    const Ended ended = finish(first);
    CHECK(ended.finished.outcome == Outcome::sandbox_gone);
    CHECK(ended.finished.error.cause == "deleted");
    CHECK(finish(second).finished.outcome == Outcome::sandbox_gone);
    CHECK(kernel->execute(ExecuteRequest()).error().code == ErrorCode::sandbox_gone);
}

TEST_CASE_FIXTURE(Fixture, "the queue is bounded") {
    const auto first = submit("hang");
    until([&] { return first->state() == ExecutionState::running; });
    for (std::size_t i = 0; i < limits::execution_queue_max; ++i) submit("print x");
    CHECK(kernel->execute(ExecuteRequest()).error().code == ErrorCode::too_many);
}

TEST_CASE_FIXTURE(Fixture,
                  "while its guest stands still no deadline passes and nothing is forced") {
    const auto execution = submit("hang", milliseconds(40));
    until([&] { return execution->state() == ExecutionState::running; });
    kernel->freeze();
    // Longer than the deadline and the interrupt's grace would be.
    const auto later = steady_clock::now() + milliseconds(200);
    until([&] { return steady_clock::now() > later; });
    CHECK(execution->state() == ExecutionState::running);
    CHECK(guest.interrupts == 0);
    kernel->thaw();
    CHECK(finish(execution).finished.outcome == Outcome::timeout);
    CHECK(guest.interrupts == 1);
}

TEST_CASE_FIXTURE(Fixture, "a cell that is queued while the guest stands still runs afterwards") {
    kernel->freeze();
    const auto execution = submit("print later");
    const auto soon = steady_clock::now() + milliseconds(50);
    until([&] { return steady_clock::now() > soon; });
    CHECK(execution->state() == ExecutionState::queued);
    kernel->thaw();
    CHECK(finish(execution).text == "later");
}

TEST_CASE_FIXTURE(Fixture, "an image has the cell that runs, and none that is still queued") {
    CHECK(kernel->image().running == nullptr);
    const auto first = submit("hang");
    const auto second = submit("print queued");
    until([&] { return kernel->image().running != nullptr; });
    const KernelImage image = kernel->image();
    CHECK(image.state == KernelState::busy);
    CHECK(image.spec.guest_id == "guest-id");
    CHECK(kernel->running() == first);
    first->stop(StopReason::interrupted);
    CHECK(finish(first).finished.outcome == Outcome::interrupted);
    CHECK(finish(second).text == "queued");
    CHECK(kernel->image().running == nullptr);
}

namespace {

struct Keeper final : ExecutionKeeper {
    std::string header;
    std::uint64_t sent_after = 99;
    std::vector<std::uint64_t> acknowledging_before;
    std::string reply;
    void sending(std::string_view text, std::uint64_t position) override {
        header = text;
        sent_after = position;
    }
    void answered(std::string_view status) override { reply = status; }
    void acknowledging(std::uint64_t position) override {
        acknowledging_before.push_back(position);
    }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "what is not settled is not acknowledged, and all is in the end") {
    const auto keeper = std::make_shared<Keeper>();
    ExecuteRequest request;
    request.code = "print hello";
    const auto kept = std::make_shared<Execution>(loop.get_executor(), request);
    kept->keep_by(keeper);
    REQUIRE(kernel->execute(kept).has_value());
    CHECK(finish(kept).text == "hello");
    CHECK(keeper->sent_after == 0);
    CHECK(Json::parse(keeper->header).at("msg_type") == "execute_request");
    CHECK(keeper->reply == "ok");
    // busy, input, the text, the reply and idle: the first that is not settled holds all back.
    CHECK(kept->first_unsettled() == 1);
    CHECK(run("print another").text == "another");
    CHECK(guest.acknowledged.empty());
    kept->settle(3);
    until([&] { return !guest.acknowledged.empty(); });
    CHECK(guest.acknowledged.front() == 3);
    kept->settle_all();
    until([&] { return guest.acknowledged.back() == guest.said; });
    CHECK(guest.said == 10);
}

TEST_CASE_FIXTURE(Fixture, "a kernel stream that is lost is opened again from where it was") {
    CHECK(run("print one").text == "one");
    const auto hanging = submit("hang");
    until([&] { return kernel->image().received == 7; });
    guest.cut_kernel_stream();
    until([&] { return guest.attached_after.size() == 2; });
    CHECK(guest.attached_after == std::vector<std::int64_t>{-1, 7});
    CHECK(hanging->state() == ExecutionState::running);
    hanging->stop(StopReason::interrupted);
    CHECK(finish(hanging).finished.outcome == Outcome::interrupted);
}

TEST_CASE_FIXTURE(Fixture, "a kernel of an earlier gateway goes on with its cell") {
    ExecuteRequest request;
    request.code = "print told again";
    request.timeout = milliseconds(30'000);
    const auto execution = std::make_shared<Execution>(loop.get_executor(), request);
    execution->set_running();
    const Request sent = execute_request("session", request);
    KernelImage image;
    image.spec.id = "adopted";
    image.spec.guest_id = "guest-id";
    image.pid = 1;
    image.received = 41;
    image.resumes = true;
    image.running = std::make_shared<RunningCell>(execution, sent.msg_id);
    image.running->set_sent(steady_clock::now() + milliseconds(30'000));
    image.send_again = std::make_shared<const Request>(sent);
    const auto adopted =
        std::make_shared<Kernel>(loop.get_executor(), guest.host, image.spec, [](const Error&) {});
    adopted->adopt(image, nullptr);
    CHECK(finish(execution).text == "told again");
    CHECK(guest.attached_after.back() == 41);
    CHECK(adopted->state() == KernelState::idle);
    adopted->close(Outcome::cancelled, Error(ErrorCode::cancelled, "the test is over"));
}
