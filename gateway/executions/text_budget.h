// The text of one execution: the first part goes to the caller inline, and when there is more, all
// of it (from the beginning) is kept as an artifact, up to a bound; the rest is counted.
//
// stdout and stderr share the budget and the artifact, in the order in which they came. Loop
// thread; the artifact is written on worker threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <boost/asio/awaitable.hpp>

#include "artifacts/store.h"
#include "base/error.h"
#include "base/worker_pool.h"

namespace cellblock::gateway {

struct TruncatedText {
    std::uint64_t inline_bytes = 0;               // what the caller got
    std::uint64_t total_bytes = 0;                // what the cell printed
    std::uint64_t kept_bytes = 0;                 // what the artifact holds
    std::optional<artifacts::Artifact> artifact;  // absent when it could not be stored
    Error error;                                  // why not
    TruncatedText() = default;
};

class TextBudget {
  public:
    struct Used {
        std::uint64_t inline_bytes = 0;
        std::uint64_t total_bytes = 0;
        std::uint64_t kept_bytes = 0;
        Used() = default;
    };

    TextBudget(artifacts::Store& store, WorkerPool& workers, artifacts::ArtifactInfo info);

    // The part of `text` that is to be sent inline; empty once the budget is used up. Cut between
    // characters, never inside one.
    boost::asio::awaitable<std::string> take(std::string text);
    Used used() const;
    // What went to the artifact since the last call.
    std::string take_kept() { return std::exchange(fresh_, {}); }
    // Goes on where another one got to, which showed `inline_text` and whose artifact had `kept`.
    boost::asio::awaitable<void> restore(Used used, std::string inline_text, std::string kept);
    // std::nullopt when everything was inline.
    boost::asio::awaitable<std::optional<TruncatedText>> finish();

  private:
    boost::asio::awaitable<void> keep(std::string text);

    artifacts::Store& store_;
    WorkerPool& workers_;
    artifacts::ArtifactInfo info_;
    std::string inline_text_;  // moved to the artifact when that begins
    std::string fresh_;        // of the artifact, for take_kept()
    std::uint64_t inline_bytes_ = 0;
    std::uint64_t total_bytes_ = 0;
    std::uint64_t kept_bytes_ = 0;
    std::optional<artifacts::ArtifactWriter> writer_;
    Error error_;
    bool failed_ = false;
};

}  // namespace cellblock::gateway
