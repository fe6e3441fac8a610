// Going on with the sandboxes of an earlier gateway, some at a time.
#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using std::chrono::steady_clock;

namespace {

// Each asks its guest some questions; one that does not answer must not hold up the others.
constexpr std::size_t adoptions_at_once = 8;

}  // namespace

struct SandboxManager::Adoption {
    struct Candidate {
        vm::FoundMachine machine;
        SandboxNote note;
        Candidate(vm::FoundMachine machine_, SandboxNote note_)
            : machine(std::move(machine_)), note(std::move(note_)) {}
    };
    std::vector<Candidate> candidates;
    PrepareKernel prepare;
    std::size_t next = 0;
    std::size_t unfinished = 0;
    Condition ended;

    explicit Adoption(asio::any_io_executor executor) : ended(std::move(executor)) {}
};

asio::awaitable<Result<void>> SandboxManager::adopt_one(vm::FoundMachine& found, SandboxNote& note,
                                                        const PrepareKernel& prepare) {
    CB_CO_TRY_ASSIGN(machine,
                     co_await pool_.take_over(found.take_over, note.spec.memory_limit_bytes));
    for (ContextImage& context : note.contexts) {
        context.kernel.resumes = context.kernel.channels.has_value();
        prepare(context.kernel.spec.id, context.kernel);
    }
    auto sandbox = std::make_shared<Sandbox>(executor_, note, std::move(machine));
    sandbox->open(note);
    // Its machine is as new as what is on disk, or newer: a crash came while it was paused, or just
    // after it was resumed.
    const auto removed = co_await paused_.remove(note.sandbox_id);
    if (!removed) log::warning("saved_state_stays", {{"error", removed.error().text()}});
    if (sandbox->is_callers_default()) default_id_ = sandbox->id();
    enter(std::move(sandbox));
    adopted_counter_.Increment();
    co_return Result<void>();
}

asio::awaitable<void> SandboxManager::adopt_some(std::shared_ptr<Adoption> adoption) {
    while (adoption->next < adoption->candidates.size()) {
        Adoption::Candidate& candidate = adoption->candidates[adoption->next++];
        const auto adopted =
            co_await adopt_one(candidate.machine, candidate.note, adoption->prepare);
        if (adopted) {
            log::info("sandbox_adopted", {{"sandbox_id", candidate.note.sandbox_id},
                                          {"machine_id", candidate.machine.id}});
        } else {
            log::warning("sandbox_not_adopted", {{"sandbox_id", candidate.note.sandbox_id},
                                                 {"machine_id", candidate.machine.id},
                                                 {"why", adopted.error().text()}});
            const Error reason(ErrorCode::sandbox_gone,
                               "it did not outlive an end of the gateway: " + adopted.error().cause,
                               "make a new sandbox; what was in this one is lost");
            gone_.push_back(Gone{candidate.note.sandbox_id, reason});
        }
        --adoption->unfinished;
        adoption->ended.notify_all();
    }
}

asio::awaitable<void> SandboxManager::adopt_found(std::vector<vm::FoundMachine> found,
                                                  PrepareKernel prepare) {
    const auto started = steady_clock::now();
    const auto adoption = std::make_shared<Adoption>(executor_);
    adoption->prepare = std::move(prepare);
    auto& candidates = adoption->candidates;
    for (vm::FoundMachine& machine : found) {
        auto note = sandbox_note_from(machine.note);
        if (!note) {
            co_await machine.end(note.error().text());
            continue;
        }
        const auto twin = std::find_if(
            candidates.begin(), candidates.end(),
            [&](const auto& other) { return other.note.sandbox_id == note->sandbox_id; });
        if (twin == candidates.end()) {
            candidates.emplace_back(std::move(machine), std::move(*note));
            continue;
        }
        // A crash came between a restore and the end of the machine that it replaced.
        Adoption::Candidate other(std::move(machine), std::move(*note));
        if (other.note.revision > twin->note.revision) std::swap(other, *twin);
        co_await other.machine.end("another machine is the sandbox by now");
    }
    if (candidates.empty()) co_return;
    adoption->unfinished = candidates.size();
    for (std::size_t i = 0; i < std::min(candidates.size(), adoptions_at_once); ++i) {
        spawn_logged(executor_, adopt_some(adoption), "sandbox_adopt", adoption);
    }
    while (adoption->unfinished > 0) co_await adoption->ended.wait();
    const std::chrono::duration<double> took = steady_clock::now() - started;
    log::info("sandboxes_adopted", {{"sandboxes", sandboxes_.size()},
                                    {"found", candidates.size()},
                                    {"seconds", took.count()}});
}

}  // namespace cellblock::gateway
