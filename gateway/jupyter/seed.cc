#include "gateway/jupyter/seed.h"

#include <optional>
#include <utility>
#include <variant>

#include "base/ids.h"
#include "kernel-proxy/kernel.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;

namespace {

awaitable<Result<void>> run_cell(kernel_proxy::Kernel& kernel, const std::string& code) {
    kernel_proxy::ExecuteRequest request;
    request.id = new_uuid();
    request.code = code;
    CB_CO_TRY_ASSIGN(execution, kernel.execute(std::move(request)));
    std::optional<kernel_proxy::CellError> raised;
    while (true) {
        auto event = co_await execution->next(Deadline::max());
        if (!event) {
            execution->abandon();  // the client that wanted the kernel is gone
            co_return fail(ErrorCode::cancelled, "the kernel was not seeded to its end");
        }
        if (auto* error = std::get_if<kernel_proxy::CellError>(&*event)) {
            raised = std::move(*error);
        }
        const auto* finished = std::get_if<kernel_proxy::Finished>(&*event);
        if (finished == nullptr) continue;
        if (finished->outcome == kernel_proxy::Outcome::ok) co_return Result<void>();
        const std::string why =
            raised ? raised->name + ": " + raised->value : finished->error.text();
        co_return fail(ErrorCode::internal, "a cell of the seed notebook failed: " + why);
    }
}

}  // namespace

awaitable<Result<void>> seed_kernel(kernel_proxy::Kernel& kernel,
                                    const std::vector<std::string>& cells) {
    for (const std::string& code : cells) {
        CB_CO_TRY(co_await run_cell(kernel, code));
    }
    co_return Result<void>();
}

}  // namespace cellblock::gateway::jupyter
