#include "gateway/jupyter/notebook_service.h"

#include <utility>

#include "base/limits.h"
#include "gateway/jupyter/cell_run.h"
#include "gateway/jupyter/notebook_request.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

constexpr std::size_t answer_max_bytes = 16 * limits::MiB;
// It is escaped three times on its way into the guest, which makes nine bytes of some.
constexpr std::size_t body_max_bytes = 4 * limits::MiB;
static_assert(10 * body_max_bytes < limits::kernel_message_max_bytes);

struct Said {
    std::string text;
    bool raised = false;

    Said() = default;
};

// An error: the cell did not come to its own end, and the kernel may be anything.
awaitable<Result<Said>> ask(kernel_proxy::Kernel& kernel, std::string code,
                            std::chrono::milliseconds timeout) {
    CB_CO_TRY_ASSIGN(run, co_await run_cell(kernel, std::move(code), timeout, answer_max_bytes));
    Said said;
    if (run.raised) {
        said.raised = true;
        said.text = "Error " + run.raised->name + ": " + run.raised->value + " \n";
    } else if (run.finished.outcome != kernel_proxy::Outcome::ok) {
        co_return fail(run.finished.error);
    } else if (!run.text.empty()) {
        said.text = std::move(run.text);
    } else if (!run.result.is_null()) {
        said.text = dump_ascii(run.result);
    }
    co_return said;
}

// The notebook's fault, told as the original tells it.
NotebookAnswer failed(std::string text) {
    NotebookAnswer answer;
    answer.info.status = 500;
    answer.body = std::move(text);
    return answer;
}

awaitable<Result<NotebookAnswer>> answer_of(kernel_proxy::Kernel& kernel,
                                            const NotebookOperation& operation,
                                            std::string statement,
                                            std::chrono::milliseconds timeout) {
    CB_CO_TRY_ASSIGN(assigned, co_await ask(kernel, std::move(statement), timeout));
    if (assigned.raised) co_return failed(std::move(assigned.text));
    CB_CO_TRY_ASSIGN(said, co_await ask(kernel, operation.code, timeout));
    if (said.raised) co_return failed(std::move(said.text));
    NotebookAnswer answer;
    answer.body = std::move(said.text);
    if (operation.response_info.empty()) co_return answer;
    CB_CO_TRY_ASSIGN(printed, co_await ask(kernel, operation.response_info, timeout));
    if (printed.raised) co_return failed(std::move(printed.text));
    auto info = response_info_from(printed.text);
    if (!info) co_return failed("Error ResponseInfo: " + info.error().cause + " \n");
    answer.info = std::move(*info);
    co_return answer;
}

}  // namespace

NotebookService::NotebookService(boost::asio::any_io_executor executor, Door& door, NotebookApi api)
    : door_(door),
      api_(std::move(api)),
      swagger_(dump_ascii(swagger_of(api_))),
      kernels_(std::make_shared<NotebookKernels>(executor, door)) {}

NotebookService::~NotebookService() = default;

awaitable<Result<void>> NotebookService::start(std::size_t kernels) {
    co_return co_await kernels_->start(kernels);
}

void NotebookService::add_routes(http::Router& router) {
    http::RouteOptions options = door_.route_options();
    const auto swagger = [this](Request&, ResponseWriter& writer) {
        return writer.send(200, "application/json", swagger_);
    };
    router.add("GET", "/_api/spec/swagger.json", options, swagger);
    options.on_disconnect = http::OnDisconnect::cancel;
    options.body_max_bytes = body_max_bytes;
    for (const NotebookEndpoint& endpoint : api_.endpoints) {
        for (const auto& [verb, operation] : endpoint.operations) {
            const NotebookOperation* found = &operation;
            auto handler = [this, found](Request& request, ResponseWriter& writer) {
                return answer(*found, request, writer);
            };
            router.add(verb, endpoint.pattern, options, handler);
        }
    }
}

awaitable<Result<void>> NotebookService::answer(const NotebookOperation& operation,
                                                Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(body, co_await request.read_all(body_max_bytes));
    const std::string type(request.headers().get("Content-Type").value_or("text/plain"));
    CB_CO_TRY_ASSIGN(value, notebook_body(type, body));
    const Json described = notebook_request(request, std::move(value), door_.services.access_token);
    CB_CO_TRY_ASSIGN(answer, co_await run(operation, request_statement(described)));
    for (const auto& [name, field] : answer.info.headers) writer.headers().set(name, field);
    const int status = answer.info.status;
    if (status == 204 || status == 304) co_return co_await writer.send_empty(status);
    co_return co_await writer.send(status, answer.info.content_type, answer.body);
}

// The kernel is free again before a slow client has read its answer.
awaitable<Result<NotebookAnswer>> NotebookService::run(const NotebookOperation& operation,
                                                       std::string statement) {
    const auto timeout = door_.services.execution_timeout;
    const Deadline deadline = std::chrono::steady_clock::now() + timeout;
    CB_CO_TRY_ASSIGN(lease, co_await kernels_->take(deadline));
    CB_CO_TRY_ASSIGN(answer,
                     co_await answer_of(lease.kernel(), operation, std::move(statement), timeout));
    lease.mark_sound();
    co_return answer;
}

}  // namespace cellblock::gateway::jupyter
