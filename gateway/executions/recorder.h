// Turns what a kernel publishes into what a caller gets: wire lines, with text held to its budget
// and tables, pictures, charts and files put into the artifact store as they come.
//
// One per execution, owned by the handler that serves it. Loop thread; disk work goes to the
// workers. The guest's bytes are validated in kernel_proxy and artifacts before they come here.
#pragma once

#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "artifacts/capture.h"
#include "artifacts/store.h"
#include "base/worker_pool.h"
#include "gateway/executions/display_budget.h"
#include "gateway/executions/recorder_state.h"
#include "gateway/executions/text_budget.h"
#include "gateway/sandboxes/sandbox.h"
#include "kernel-proxy/output_event.h"

namespace cellblock::gateway {

// What the LLM view needs beyond the lines themselves.
struct RecordedDisplay {
    artifacts::Captured captured;  // its bytes moved to the store
    std::vector<artifacts::Artifact> artifacts;
    std::vector<CutField> cuts;  // what of it did not go inline
    kernel_proxy::DisplayKind kind = kernel_proxy::DisplayKind::display;
    std::string display_id;  // may be empty
    RecordedDisplay() = default;
};

class Recorder {
  public:
    struct Owner {
        std::string execution_id;
        std::string sandbox_id;
        std::string tenant;
        Owner() = default;
    };

    Recorder(artifacts::Store& store, WorkerPool& workers, std::shared_ptr<Sandbox> sandbox,
             Owner owner);

    // The lines for one event, in order; none for text beyond its budget. After a display,
    // keep_artifacts() is due before the next event.
    boost::asio::awaitable<std::vector<Json>> take(kernel_proxy::OutputEvent event);
    // Puts what the last display brought into the store, and gives the lines that tell of it. Apart
    // from take(), so that the disk does not hold a result back.
    boost::asio::awaitable<std::vector<Json>> keep_artifacts();

    // Removes the guest's copies of what keep_artifacts() has fetched. Once its lines are safe: a
    // gateway that takes over fetches again what it has no line of.
    boost::asio::awaitable<void> release_guest_copies();

    // Where it is, so that another one can go on there: see recorder_state.h.
    RecorderState state() const;
    std::string take_kept_text() { return text_.take_kept(); }
    boost::asio::awaitable<void> restore(RecorderState state, std::string inline_text,
                                         std::string kept_text);
    // The sandbox is not needed any more.
    void let_go_of_sandbox() { sandbox_.reset(); }
    // The cell goes on in a copy of its sandbox: what it brings from now on is fetched there.
    void move_to(std::shared_ptr<Sandbox> sandbox) { sandbox_ = std::move(sandbox); }

    // All displays so far, in order.
    const std::vector<RecordedDisplay>& displays() const { return displays_; }

  private:
    std::vector<Json> take_display(kernel_proxy::Display display);
    boost::asio::awaitable<std::vector<Json>> take_end(kernel_proxy::Finished finished);
    boost::asio::awaitable<Result<artifacts::Artifact>> store(artifacts::PendingArtifact& pending);
    boost::asio::awaitable<Result<artifacts::Artifact>> fetch(artifacts::PendingArtifact& pending);
    artifacts::ArtifactInfo info_of(const artifacts::PendingArtifact& pending) const;

    artifacts::Store& store_;
    WorkerPool& workers_;
    std::shared_ptr<Sandbox> sandbox_;
    Owner owner_;
    TextBudget text_;
    DisplayBudget display_budget_;
    std::size_t display_count_ = 0;
    std::vector<RecordedDisplay> displays_;
    bool artifacts_due_ = false;             // of displays_.back()
    std::vector<std::string> guest_copies_;  // fetched, to be removed
};

}  // namespace cellblock::gateway
