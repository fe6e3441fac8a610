// A sandbox as an image, and a sandbox that goes on from one.
#include <optional>
#include <utility>

#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "gateway/sandboxes/sandbox_change.h"

namespace cellblock::gateway {

namespace asio = boost::asio;
using vm::link::StreamKind;
using vm::link::StreamPtr;

namespace {

// The kernel stream of `guest_id` among those that the link inherited.
StreamPtr take_kernel_stream(std::vector<StreamPtr>& streams, const std::string& guest_id) {
    for (StreamPtr& stream : streams) {
        if (!stream || stream->kind() != StreamKind::kernel) continue;
        const JsonLimits bounds{limits::link_params_max_bytes};
        const auto params = parse_json(stream->params(), bounds, "a kernel stream's parameters");
        if (params && params->is_object() && params->value("kernel_id", "") == guest_id) {
            return std::exchange(stream, nullptr);
        }
    }
    return nullptr;
}

// As the guest told when it was claimed.
std::optional<std::int64_t> claimed_pid(const vm::ClaimReply& claimed,
                                        const std::string& guest_id) {
    for (const vm::ClaimedKernel& kernel : claimed.kernels) {
        if (kernel.kernel_id == guest_id) return kernel.pid;
    }
    return std::nullopt;
}

}  // namespace

SandboxImage Sandbox::image() const {
    SandboxImage image;
    image.spec = spec_;
    image.link = machine_->link().image();
    image.contexts = context_images();
    return image;
}

std::vector<ContextImage> Sandbox::context_images() const {
    std::vector<ContextImage> images;
    for (const ContextPointer& context : contexts_) {
        ContextImage copy;
        copy.language = context->language;
        copy.kernel = context->kernel->image();
        copy.former_ids = context->former_ids;
        copy.is_default = context->id() == default_context_id_;
        images.push_back(std::move(copy));
    }
    return images;
}

Result<void> Sandbox::check_can_be_copied() const {
    for (const ContextPointer& context : contexts_) {
        const kernel_proxy::KernelSpec& kernel = context->kernel->spec();
        if (kernel.launch.argv.empty()) continue;
        return fail(ErrorCode::not_supported,
                    "kernel \"" + kernel.name +
                        "\" cannot be told that it is a copy, and would repeat its random numbers",
                    "delete it first, or use python3");
    }
    return {};
}

asio::awaitable<void> Sandbox::wait_settled() {
    const Deadline patience = std::chrono::steady_clock::now() + limits::kernel_start_timeout;
    for (const ContextPointer& context : std::vector<ContextPointer>(contexts_)) {
        co_await context->kernel->wait_settled(patience);
    }
}

asio::awaitable<Result<SandboxImage>> Sandbox::capture() {
    const auto self = shared_from_this();
    co_await wait_for_turn();
    const Change change(*this);
    co_await wait_settled();
    if (gone()) co_return fail(ErrorCode::sandbox_gone, "the sandbox is gone");
    if (!machine_) co_return fail(ErrorCode::conflict, "the sandbox is paused", "resume it first");
    CB_CO_TRY(check_can_be_copied());
    SandboxImage taken;
    auto while_stopped = [this, &taken] { taken = image(); };
    auto state = co_await machine_->capture(vm::AfterCapture::go_on, std::move(while_stopped));
    if (!state) co_return fail(state.error());
    taken.machine = std::move(*state);
    co_return taken;
}

Result<void> Sandbox::open(const SandboxImage& image, ContextIds ids, const std::string& heard) {
    listen_to_guest();
    add_contexts(image.contexts, ids, heard);
    note_down();
    start_watch();
    return {};
}

ContextPointer Sandbox::context_running(const std::string& execution_id) const {
    for (const ContextPointer& context : contexts_) {
        const auto execution = context->kernel->running();
        if (execution && execution->request().id == execution_id) return context;
    }
    return nullptr;
}

void Sandbox::add_contexts(const std::vector<ContextImage>& images, ContextIds ids,
                           const std::string& heard) {
    std::vector<StreamPtr> streams = machine_->link().take_inherited();
    for (StreamPtr& stream : streams) {
        if (stream->kind() == StreamKind::events) accept_stream(std::exchange(stream, nullptr));
    }
    for (const ContextImage& original : images) {
        kernel_proxy::KernelImage kernel = original.kernel;
        const auto pid = claimed_pid(machine_->claimed(), kernel.spec.guest_id);
        if (!pid) {
            log::warning("context_lost", {{"context_id", kernel.spec.id}});
            continue;
        }
        kernel.pid = *pid;
        if (*pid <= 0) kernel.state = kernel_proxy::KernelState::dead;
        const std::string original_id = kernel.spec.id;
        if (ids == ContextIds::fresh) kernel.spec.id = new_uuid();
        const auto context = add_kernel(original.language, kernel.spec);
        context->former_ids = original.former_ids;
        if (ids == ContextIds::fresh) context->former_ids.push_back(original_id);
        if (original.is_default) default_context_id_ = context->id();
        context->kernel->adopt(kernel, take_kernel_stream(streams, kernel.spec.guest_id));
        if (kernel.resumes) continue;  // the same cell, which is recorded on
        const auto running = context->kernel->running();
        if (running && running->request().id != heard) running->discard();
    }
    // Other streams are cut: they go with `streams`.
}

}  // namespace cellblock::gateway
