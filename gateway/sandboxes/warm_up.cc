#include "gateway/sandboxes/warm_up.h"

#include <boost/asio/this_coro.hpp>

#include "base/ids.h"
#include "base/spawn.h"
#include "kernel-proxy/kernel_messages.h"
#include "kernel-proxy/message.h"
#include "vm/link/call.h"
#include "vm/link/link.h"

namespace cellblock::gateway {

namespace asio = boost::asio;

namespace {

// What first cells do: an error with its traceback (an interrupt is one, and must be quick), a
// frame, its summary, all that is made of it for display. Twice: an emulator translates code at the
// first pass and links the pieces at the second. In a function, so that no name stays; a guest
// without pandas has nothing more to warm.
constexpr std::string_view warm_up_code = R"(def _cellblock_warm_up():
    import sys
    try:
        raise ValueError("warm-up")
    except ValueError:
        get_ipython().InteractiveTB.structured_traceback(*sys.exc_info())
    try:
        import pandas
    except ImportError:
        return
    for _ in range(2):
        summary = pandas.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3, 2, 1]}).describe()
        get_ipython().display_formatter.format(summary)
_cellblock_warm_up()
del _cellblock_warm_up
)";

// The kernel's own answer to the request; what it publishes meanwhile is dropped.
asio::awaitable<Result<void>> read_reply(vm::link::StreamPtr stream, std::string msg_id) {
    while (true) {
        auto message = co_await vm::link::read_kernel_message(*stream);
        if (!message) co_return fail(message.error());
        if (!*message) co_return fail(ErrorCode::kernel_died, "the kernel closed its stream");
        if ((*message)->channel() != kernel_proxy::Channel::shell) continue;
        const auto routing = kernel_proxy::read_routing(**message);
        if (!routing) co_return fail(routing.error());
        if (routing->parent_msg_id != msg_id) continue;
        const auto reply = kernel_proxy::read_execute_reply(**message);
        if (!reply) co_return fail(reply.error());
        if (reply->status != kernel_proxy::ReplyStatus::ok) {
            co_return fail(ErrorCode::internal, "the warm-up cell failed in the guest");
        }
        co_return Result<void>();
    }
}

}  // namespace

asio::awaitable<Result<void>> warm_up(vm::Machine& machine) {
    CB_CO_TRY(co_await machine.rehearse_claim());
    const Json params = {{"kernel_id", "default"}};
    const vm::link::StreamPtr stream =
        machine.link().open(vm::link::StreamKind::kernel, params.dump());
    const Json content = {{"code", warm_up_code},   {"silent", true},
                          {"store_history", false}, {"user_expressions", Json::object()},
                          {"allow_stdin", false},   {"stop_on_error", true}};
    const auto request = kernel_proxy::make_request(kernel_proxy::Channel::shell, "execute_request",
                                                    new_uuid(), content);
    const auto views = request.views();
    const auto sent = co_await vm::link::write_kernel_message(*stream, request.channel, views);
    if (!sent) co_return fail(sent.error());
    // The pool bounds the whole start of a machine, this cell included.
    auto replied = co_await read_reply(stream, request.msg_id);
    stream->reset(Error(ErrorCode::cancelled, "warmed up"));
    co_return replied;
}

}  // namespace cellblock::gateway
