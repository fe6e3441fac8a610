// GET /artifacts/{id}?view=llm: one artifact as a Markdown document for a language model; with
// images=openai or anthropic its picture too, as content parts of a chat message. max_chars: the
// document's size.
#include "artifacts/llm_view.h"
#include "artifacts/serving.h"
#include "artifacts/stored_display.h"
#include "gateway/api/artifact_request.h"
#include "gateway/api/services.h"
#include "gateway/executions/llm_images.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

std::string document_of(const artifacts::Captured& display, const artifacts::Artifact& artifact,
                        std::size_t max_bytes) {
    artifacts::LlmInput input;
    artifacts::LlmResult result;
    result.captured = &display;
    result.artifacts.push_back(artifact);
    result.is_main_result = true;
    input.results.push_back(std::move(result));
    return artifacts::llm_view(input, max_bytes);
}

Result<Bytes> beginning_of(artifacts::OpenArtifact& opened, std::size_t max_bytes) {
    Bytes content(artifacts::content_wanted_bytes(opened.artifact, max_bytes));
    CB_TRY_ASSIGN(size, artifacts::read_at(opened.fd, 0, content));
    content.resize(size);
    return content;
}

}  // namespace

asio::awaitable<Result<void>> send_llm_view(Services& services, Request& request,
                                            ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(max_bytes,
                     number_in_query(request, "max_chars", limits::llm_view_default_bytes));
    if (max_bytes < limits::llm_view_min_bytes || max_bytes > limits::llm_view_max_bytes) {
        co_return fail(ErrorCode::invalid_argument,
                       "'max_chars' must be between " + std::to_string(limits::llm_view_min_bytes) +
                           " and " + std::to_string(limits::llm_view_max_bytes));
    }
    const auto named_shape = request.query().get("images");
    const auto shape = named_shape ? image_shape_from(*named_shape) : std::nullopt;
    if (named_shape && !shape) {
        co_return fail(ErrorCode::invalid_argument, "'images' must be \"openai\" or \"anthropic\"");
    }
    CB_CO_TRY_ASSIGN(opened, co_await open_artifact(services, request));
    auto read = [&opened, max_bytes] { return beginning_of(opened, max_bytes); };
    CB_CO_TRY_ASSIGN(content, co_await services.workers.run(std::move(read)));
    const artifacts::Captured display = artifacts::captured_again(opened.artifact, content);
    std::string text = document_of(display, opened.artifact, max_bytes);
    if (!shape) co_return co_await writer.send(200, "text/markdown; charset=utf-8", text);
    ImageParts images(*shape);
    images.add(display);
    const Json parts = message_of(std::move(text), images);
    co_return co_await writer.send_json(200, parts);
}

}  // namespace cellblock::gateway::api
