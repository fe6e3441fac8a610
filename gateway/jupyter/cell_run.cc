#include "gateway/jupyter/cell_run.h"

#include <utility>
#include <variant>

#include "base/ids.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;

namespace {

void keep(CellRun& run, kernel_proxy::OutputEvent event) {
    if (auto* stream = std::get_if<kernel_proxy::StreamText>(&event)) {
        const bool shown = stream->name == kernel_proxy::StreamName::standard_output;
        if (shown) run.text += stream->text;
    } else if (auto* display = std::get_if<kernel_proxy::Display>(&event)) {
        const bool result = display->kind == kernel_proxy::DisplayKind::result;
        if (result) run.result = std::move(display->data);
    } else if (auto* error = std::get_if<kernel_proxy::CellError>(&event)) {
        run.raised = std::move(*error);
    } else if (auto* finished = std::get_if<kernel_proxy::Finished>(&event)) {
        run.finished = std::move(*finished);
    }
}

}  // namespace

awaitable<Result<CellRun>> run_cell(kernel_proxy::Kernel& kernel, std::string code,
                                    std::chrono::milliseconds timeout, std::size_t text_max_bytes) {
    kernel_proxy::ExecuteRequest request;
    request.id = new_uuid();
    request.code = std::move(code);
    request.timeout = timeout;
    CB_CO_TRY_ASSIGN(execution, kernel.execute(std::move(request)));
    CellRun run;
    while (true) {
        auto event = co_await execution->next(Deadline::max());
        if (!event) {
            execution->abandon();
            co_return fail(ErrorCode::cancelled, "nobody waits for the cell any more");
        }
        const bool last = std::holds_alternative<kernel_proxy::Finished>(*event);
        keep(run, std::move(*event));
        if (last) co_return run;
        if (run.text.size() > text_max_bytes) {
            execution->abandon();
            co_return fail(ErrorCode::too_large,
                           "the cell wrote more than " + std::to_string(text_max_bytes) + " bytes");
        }
    }
}

}  // namespace cellblock::gateway::jupyter
