#include "gateway/jupyter/seed.h"

#include "base/limits.h"
#include "gateway/jupyter/cell_run.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;

awaitable<Result<void>> seed_kernel(kernel_proxy::Kernel& kernel,
                                    const std::vector<std::string>& cells) {
    constexpr std::size_t text_max_bytes = 64 * limits::MiB;  // nobody reads it
    for (const std::string& code : cells) {
        CB_CO_TRY_ASSIGN(run, co_await run_cell(kernel, code, limits::execution_timeout_default,
                                                text_max_bytes));
        if (run.finished.outcome == kernel_proxy::Outcome::ok) continue;
        const std::string why =
            run.raised ? run.raised->name + ": " + run.raised->value : run.finished.error.text();
        co_return fail(ErrorCode::internal, "a cell of the seed notebook failed: " + why);
    }
    co_return Result<void>();
}

}  // namespace cellblock::gateway::jupyter
