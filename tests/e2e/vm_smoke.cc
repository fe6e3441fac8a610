// Template and clones end to end, without a gateway: builds (or opens) the template of an image,
// starts clones, claims them, and prints what each step took. For people who work on vm/.
//
//   vm_smoke --image <folder> --guest-files <cpio> [--cache DIR] [--clones N] [--accelerator auto]
//            [--forks N] [--hold SECONDS]
#include <cstdio>
#include <sstream>
#include <vector>

#include <CLI/CLI.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/files.h"
#include "base/log.h"
#include "base/worker_pool.h"
#include "vm/link/call.h"
#include "vm/link/link_image.h"
#include "vm/qemu/accelerator.h"
#include "vm/qemu/jail.h"
#include "vm/snapshot/template.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
    std::string image;
    std::string guest_files;
    std::string cache = "/tmp/cellblock-smoke";
    std::string accelerator = "auto";
    int clones = 2;
    int forks = 1;  // of the first clone, while it runs
    int hold_s = 0;

    Options() {}
};

// One line to stdout when the statement ends.
class Say {
  public:
    Say() = default;
    ~Say() {
        std::fputs(text_.str().c_str(), stdout);
        std::fflush(stdout);
    }
    template <typename T>
    Say&& operator<<(const T& value) && {
        text_ << value;
        return std::move(*this);
    }

  private:
    std::ostringstream text_;
};

long ms_since(Clock::time_point begin) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - begin).count();
}

// Copies of a running machine, each with a copy of the host's end of its link.
asio::awaitable<Result<void>> fork_machine(const Options& options, Machine& parent,
                                           std::shared_ptr<const Template> source,
                                           std::shared_ptr<QemuHost> host, WorkerPool& workers) {
    const auto executor = co_await asio::this_coro::executor;
    link::LinkImage image;
    auto while_stopped = [&parent, &image] { image = parent.link().image(); };
    auto begin = Clock::now();
    CB_CO_TRY_ASSIGN(state, co_await parent.capture(AfterCapture::go_on, while_stopped));
    Say() << "captured " << state->pages.bytes().size() / 1048576 << " MiB in "
          << state->runs.size() << " runs, devices " << state->devices.size() << " bytes, in "
          << ms_since(begin) << " ms\n";
    for (int i = 0; i < options.forks; ++i) {
        RestoreRequest request;
        request.state = state;
        request.link =
            std::make_shared<link::Link>(executor, link::Role::host, link::LinkOptions(), image);
        begin = Clock::now();
        const std::filesystem::path run_root = std::filesystem::path(options.cache) / "run";
        auto child = co_await QemuMachine::restore(host, source->clone_source(), run_root, workers,
                                                   std::move(request));
        if (!child) co_return fail(child.error());
        const long started = ms_since(begin);
        begin = Clock::now();
        CB_CO_TRY(co_await (*child)->claim(ClaimRequest()));
        const auto link = (*child)->link().stats();
        Say() << "fork " << (*child)->id() << " running after " << started << " ms, claim "
              << ms_since(begin) << " ms, clock was off "
              << (*child)->claimed().clock_error_ns / 1000000 << " ms, kernels "
              << (*child)->claimed().kernels.size() << ", streams inherited "
              << (*child)->link().take_inherited().size() << ", frames sent again "
              << link.frames_retransmitted << "\n";
        CB_CO_TRY(co_await parent.check(std::chrono::seconds(5)));
        co_await (*child)->kill("the smoke test is over");
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> clone_all(const Options& options,
                                        std::shared_ptr<const Template> source,
                                        std::shared_ptr<QemuHost> host, WorkerPool& workers) {
    std::vector<std::unique_ptr<Machine>> machines;
    for (int i = 0; i < options.clones; ++i) {
        auto begin = Clock::now();
        const std::filesystem::path run_root = std::filesystem::path(options.cache) / "run";
        auto machine = co_await QemuMachine::clone(host, source->clone_source(), run_root, workers);
        if (!machine) co_return fail(machine.error());
        const long started = ms_since(begin);
        begin = Clock::now();
        auto claimed = co_await (*machine)->claim(ClaimRequest());
        if (!claimed) co_return fail(claimed.error());
        const long claim_ms = ms_since(begin);
        begin = Clock::now();
        auto answer = co_await (*machine)->check(std::chrono::seconds(5));
        if (!answer) co_return fail(answer.error());
        auto info = co_await link::call((*machine)->link(), "info", Json::object(),
                                        std::chrono::seconds(5));
        auto memory = co_await (*machine)->memory_usage();
        std::ostringstream line;
        line << (*machine)->id() << " pid " << (*machine)->info().pid << " running after "
             << started << " ms, claim " << claim_ms << " ms, clock+info " << ms_since(begin)
             << " ms, clock was off " << (*machine)->claimed().clock_error_ns / 1000000
             << " ms, kernels " << (*machine)->claimed().kernels.size();
        if (memory) {
            line << ", private " << memory->private_bytes / 1048576 << " MiB, PSS "
                 << memory->proportional_bytes / 1048576 << " MiB";
        }
        Say() << line.str() << "\n";
        if (info && i == 0) Say() << "info: " << dump_ascii(*info) << "\n";
        machines.push_back(std::move(*machine));
    }
    if (options.forks > 0 && !machines.empty()) {
        CB_CO_TRY(co_await fork_machine(options, *machines.front(), source, host, workers));
    }
    if (options.hold_s > 0) {
        asio::steady_timer timer(co_await asio::this_coro::executor,
                                 std::chrono::seconds(options.hold_s));
        co_await timer.async_wait(asio::use_awaitable);
        for (const auto& machine : machines) {
            auto memory = co_await machine->memory_usage();
            if (memory) {
                Say() << machine->id() << " after " << options.hold_s << " s: private "
                      << memory->private_bytes / 1048576 << " MiB, PSS "
                      << memory->proportional_bytes / 1048576 << " MiB\n";
            }
        }
    }
    for (const auto& machine : machines) {
        const auto begin = Clock::now();
        co_await machine->kill("the smoke test is over");
        Say() << machine->id() << " killed in " << ms_since(begin) << " ms\n";
    }
    co_return Result<void>();
}

asio::awaitable<Result<void>> smoke(const Options& options, WorkerPool& workers) {
    const std::filesystem::path cache = options.cache;
    CB_CO_TRY(check_jail());
    CB_CO_TRY_ASSIGN(wish, accelerator_wish_from(options.accelerator));
    const auto choice = choose_accelerator(wish, cache);
    Say() << to_string(choice.kind) << ": " << choice.reason << "\n";
    TemplateRecipe recipe;
    recipe.image_name = std::filesystem::path(options.image).filename();
    recipe.image_folder = options.image;
    CB_CO_TRY_ASSIGN(files, read_file(options.guest_files, 512 << 20));
    recipe.guest_files = std::move(files);
    recipe.hardware.accelerator = choice.kind;
    recipe.hardware.tsc_khz = host_tsc_khz(cache);
    CB_CO_TRY_ASSIGN(build, qemu_build());
    recipe.qemu_build = std::move(build);
    auto host = QemuHost::detect();
    Say() << recipe.qemu_build << "; TSC " << recipe.hardware.tsc_khz << " kHz; "
          << host->cgroups.reason << "\n";
    TemplateStore store(cache, host, workers);
    auto begin = Clock::now();
    std::string step;
    ProgressSink progress = [&step, begin](const Progress& now) {
        if (now.step == step) return;
        step = now.step;
        Say() << "  " << ms_since(begin) << " ms: " << step << "\n";
    };
    auto opened = co_await store.open_or_build(recipe, progress);
    if (!opened) co_return fail(opened.error());
    const auto& manifest = (*opened)->manifest();
    Say() << "template " << short_key(manifest.key) << " ready after " << ms_since(begin)
          << " ms (built in " << manifest.build_ms << " ms, " << manifest.attempts
          << " attempts), RAM data " << manifest.ram.data_bytes / 1048576 << " MiB, devices "
          << manifest.devices_bytes << " bytes\n";
    std::shared_ptr<const Template> source = *opened;
    co_return co_await clone_all(options, source, host, workers);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    CLI::App app("cellblock vm smoke test");
    app.add_option("--image", options.image)->required();
    app.add_option("--guest-files", options.guest_files)->required();
    app.add_option("--cache", options.cache);
    app.add_option("--accelerator", options.accelerator);
    app.add_option("--clones", options.clones);
    app.add_option("--forks", options.forks);
    app.add_option("--hold", options.hold_s);
    CLI11_PARSE(app, argc, argv);
    int exit_code = 1;
    asio::io_context loop;
    WorkerPool workers;  // joined before the loop dies
    asio::co_spawn(loop, smoke(options, workers),
                   [&exit_code, &loop](std::exception_ptr error, Result<void> result) {
                       if (error) {
                           Say() << "exception\n";
                       } else if (!result) {
                           Say() << "failed: " << result.error().text() << "\n";
                       } else {
                           exit_code = 0;
                       }
                       (void)loop;
                   });
    loop.run();
    return exit_code;
}
