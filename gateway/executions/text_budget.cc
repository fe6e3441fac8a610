#include "gateway/executions/text_budget.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"
#include "base/unicode.h"

namespace cellblock::gateway {

namespace asio = boost::asio;

TextBudget::TextBudget(artifacts::Store& store, WorkerPool& workers, artifacts::ArtifactInfo info)
    : store_(store), workers_(workers), info_(std::move(info)) {}

asio::awaitable<std::string> TextBudget::take(std::string text) {
    total_bytes_ += text.size();
    const std::size_t room = limits::execution_inline_text_max_bytes - inline_bytes_;
    // Once something was cut, nothing more goes inline: a gap in the middle would read as complete
    // text.
    const std::size_t shown = writer_ || failed_ ? 0 : cut_utf8(text, room).size();
    std::string head = text.substr(0, shown);
    inline_bytes_ += shown;
    if (shown == text.size()) {
        inline_text_ += head;
        co_return head;
    }
    co_await keep(std::exchange(inline_text_, {}) + text);
    co_return head;
}

asio::awaitable<void> TextBudget::keep(std::string text) {
    if (failed_) co_return;
    const std::uint64_t room = limits::execution_spill_max_bytes - kept_bytes_;
    text.resize(std::min<std::uint64_t>(text.size(), room));
    if (text.empty()) co_return;
    kept_bytes_ += text.size();
    fresh_ += text;
    auto append = [this, text = std::move(text)]() -> Result<void> {
        if (!writer_) {
            CB_TRY_ASSIGN(begun, store_.begin(info_));
            writer_.emplace(std::move(begun));
        }
        return writer_->append(as_bytes(text));
    };
    const auto kept = co_await workers_.run(std::move(append));
    if (!kept) {
        failed_ = true;
        error_ = kept.error();
    }
}

TextBudget::Used TextBudget::used() const {
    Used used;
    used.inline_bytes = inline_bytes_;
    used.total_bytes = total_bytes_;
    used.kept_bytes = kept_bytes_;
    return used;
}

asio::awaitable<void> TextBudget::restore(Used used, std::string inline_text, std::string kept) {
    inline_bytes_ =
        std::min<std::uint64_t>(used.inline_bytes, limits::execution_inline_text_max_bytes);
    total_bytes_ = used.total_bytes;
    if (!kept.empty()) {
        co_await keep(std::move(kept));
        fresh_.clear();
    } else if (used.kept_bytes > 0) {
        failed_ = true;
        error_ = Error(ErrorCode::io, "it was lost with an earlier gateway");
    } else {
        inline_text_ = std::move(inline_text);
    }
}

asio::awaitable<std::optional<TruncatedText>> TextBudget::finish() {
    if (total_bytes_ == inline_bytes_) co_return std::nullopt;
    TruncatedText truncated;
    truncated.inline_bytes = inline_bytes_;
    truncated.total_bytes = total_bytes_;
    truncated.error = error_;
    if (!failed_ && writer_) {
        auto finish_writer = [this] { return writer_->finish(); };
        auto artifact = co_await workers_.run(std::move(finish_writer));
        if (artifact) {
            truncated.kept_bytes = kept_bytes_;
            truncated.artifact = std::move(*artifact);
        } else {
            truncated.error = artifact.error();
        }
    }
    co_return truncated;
}

}  // namespace cellblock::gateway
