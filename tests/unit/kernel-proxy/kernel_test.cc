#include "kernel-proxy/kernel.h"

#include <doctest/doctest.h>

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
