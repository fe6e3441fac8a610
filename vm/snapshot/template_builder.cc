#include "vm/snapshot/template_builder.h"

#include <fcntl.h>

#include <cmath>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/files.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/spawn.h"
#include "vm/link/call.h"
#include "vm/link/link.h"
#include "vm/qemu/device_state.h"
#include "vm/snapshot/ram_image.h"

namespace asio = boost::asio;

namespace cellblock::vm {
namespace {

// Tells once a second that the current step still runs; the fraction creeps from the step's begin
// towards its end, faster at first.
class Ticker : public std::enable_shared_from_this<Ticker> {
  public:
    Ticker(const asio::any_io_executor& executor, ProgressSink sink)
        : timer_(executor), sink_(std::move(sink)) {}

    void step(std::string name, double begin, double end, double expected_s) {
        progress_.step = std::move(name);
        begin_ = begin;
        end_ = end;
        expected_s_ = expected_s;
        since_ = std::chrono::steady_clock::now();
        tell();
    }
    void stop() {
        sink_ = nullptr;
        timer_.cancel();
    }
    static asio::awaitable<void> run(std::shared_ptr<Ticker> self) {
        while (self->sink_) {
            self->timer_.expires_after(std::chrono::seconds(1));
            co_await self->timer_.async_wait(as_tuple_awaitable);
            self->tell();
        }
    }

  private:
    void tell() {
        if (!sink_) return;
        const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - since_;
        progress_.fraction =
            begin_ + (end_ - begin_) * (1 - std::exp(-1.5 * passed.count() / expected_s_));
        sink_(progress_);
    }

    asio::steady_timer timer_;
    ProgressSink sink_;
    Progress progress_;
    double begin_ = 0;
    double end_ = 0;
    double expected_s_ = 1;
    Deadline since_;
};

struct BootFiles {
    Fd kernel;
    Fd initrd;
    Fd root;

    BootFiles() = default;
};

// Kernel and initramfs go into memfds: QEMU reopens them by /proc, whatever uid it has.
Result<Fd> memory_file(std::string_view first, std::string_view second) {
    CB_TRY_ASSIGN(fd, make_ram_memfd(0));
    CB_TRY(write_all(fd.get(), first));
    CB_TRY(write_all(fd.get(), second));
    return std::move(fd);
}

Result<BootFiles> open_boot_files(const TemplateRecipe& recipe) {
    BootFiles files;
    CB_TRY_ASSIGN(kernel, read_file(recipe.image_folder / "vmlinuz", 256 * limits::MiB));
    CB_TRY_ASSIGN(initramfs,
                  read_file(recipe.image_folder / "initramfs-base.img", 256 * limits::MiB));
    CB_TRY_ASSIGN(kernel_fd, memory_file(kernel, ""));
    CB_TRY_ASSIGN(initrd_fd, memory_file(initramfs, recipe.guest_files));
    CB_TRY_ASSIGN(root_fd, open_file(recipe.image_folder / "root.erofs", O_RDONLY));
    files.kernel = std::move(kernel_fd);
    files.initrd = std::move(initrd_fd);
    files.root = std::move(root_fd);
    return files;
}

// One boot. Its coroutines share it; they end when the process does.
struct Attempt {
    std::unique_ptr<QemuProcess> process;
    link::Link link;
    bool over = false;
    bool stopping = false;  // the next STOP is ours

    explicit Attempt(const asio::any_io_executor& executor)
        : link(executor, link::Role::host, link::LinkOptions()) {}

    static asio::awaitable<void> watch(std::shared_ptr<Attempt> self) {
        auto status = co_await self->process->wait();
        std::string text = "QEMU ended while the guest was booting or warming up";
        if (status) text += " (" + status->text() + ")";
        if (!self->over) text += "; it said: " + self->process->log_tail();
        self->over = true;
        self->link.close(Error(ErrorCode::connection_lost, text));
    }

    static asio::awaitable<void> serve(std::shared_ptr<Attempt> self) {
        while (!self->over && !self->link.closed()) {
            auto connection = self->process->connect_port();
            if (connection) {
                auto ended = co_await self->link.run(std::move(*connection));
                if (!ended && !self->over) {
                    log::debug("template_link_lost", {{"why", ended.error().text()}});
                }
            }
            asio::steady_timer timer(co_await asio::this_coro::executor,
                                     std::chrono::milliseconds(50));
            co_await timer.async_wait(as_tuple_awaitable);
        }
    }
};

void on_boot_event(const std::weak_ptr<Attempt>& weak, const QmpEvent& event) {
    const auto attempt = weak.lock();
    if (!attempt) return;
    if (event.name == "SHUTDOWN" || event.name == "GUEST_PANICKED") {
        attempt->link.close(Error(ErrorCode::io, "the guest shut down instead of starting"));
    } else if (event.name == "STOP" && !attempt->stopping) {
        attempt->link.close(
            Error(ErrorCode::sandbox_gone, "QEMU could not go on running the guest"));
    }
}

asio::awaitable<Result<std::string>> warm_up_and_save(std::shared_ptr<Attempt> attempt,
                                                      std::shared_ptr<Ticker> ticker,
                                                      std::chrono::seconds boot_timeout) {
    const Deadline hello = std::chrono::steady_clock::now() + boot_timeout;
    auto connected = co_await attempt->link.wait_connected(hello);
    if (!connected) co_return fail(connected.error().in("waiting for the guest's agent"));
    ticker->step("warming up Python in the guest", 0.25, 0.85, 45);
    auto prepared = co_await link::call(attempt->link, "prepare_template", Json::object(),
                                        limits::template_prepare_timeout);
    if (!prepared) co_return fail(prepared.error().in("warming up the guest"));
    ticker->step("saving the template", 0.85, 1.0, 4);
    attempt->stopping = true;
    auto stopped = co_await attempt->process->command("stop");
    if (!stopped) co_return fail(stopped.error());
    attempt->link.close(Error(ErrorCode::cancelled, "the template is being saved"));
    co_return co_await save_device_state(*attempt->process);
}

asio::awaitable<Result<BuiltTemplate>> try_once(const TemplateBuild& build, const BootFiles& files,
                                                std::shared_ptr<Ticker> ticker,
                                                std::chrono::seconds boot_timeout) {
    const auto executor = co_await asio::this_coro::executor;
    ticker->step("booting the guest", 0.02, 0.25, 15);
    BuiltTemplate built;
    auto ram = make_ram_memfd(build.recipe.hardware.ram_bytes);
    if (!ram) co_return fail(ram.error());
    built.ram = std::move(*ram);
    QemuLaunch launch;
    launch.host = build.host;
    launch.run_root = build.run_root;
    launch.id = new_short_id();
    launch.template_key = build.key;
    launch.hardware = build.recipe.hardware;
    launch.start = QemuStart::boot;
    launch.ram = built.ram.get();
    launch.root = files.root.get();
    launch.kernel = files.kernel.get();
    launch.initrd = files.initrd.get();
    auto attempt = std::make_shared<Attempt>(executor);
    auto on_event = [weak = std::weak_ptr<Attempt>(attempt)](const QmpEvent& event) {
        on_boot_event(weak, event);
    };
    QmpClient::EventHandler handler(std::move(on_event));
    auto process = co_await QemuProcess::start(std::move(launch), std::move(handler));
    if (!process) co_return fail(process.error());
    attempt->process = std::move(*process);
    spawn_logged(executor, Attempt::watch(attempt), "template_watch", nullptr);
    spawn_logged(executor, Attempt::serve(attempt), "template_serve", nullptr);

    auto state = co_await warm_up_and_save(attempt, ticker, boot_timeout);
    std::string console;
    if (!state && !attempt->over) console = co_await attempt->process->console_tail();
    attempt->over = true;
    // Not `quit`: the guest is stopped and its RAM is in our memfd, so killing is as good and
    // surer.
    if (!co_await attempt->process->kill()) {
        co_return fail(ErrorCode::io, "QEMU could not be ended after the template's boot");
    }
    if (!state) {
        Error error = state.error();
        if (!console.empty()) error.cause += "; the guest's console ends with: " + console;
        co_return fail(std::move(error));
    }
    built.device_state = std::move(*state);
    co_return std::move(built);
}

}  // namespace

asio::awaitable<Result<BuiltTemplate>> build_template(TemplateBuild build, WorkerPool& workers) {
    const auto executor = co_await asio::this_coro::executor;
    auto open = [recipe = build.recipe] { return open_boot_files(recipe); };
    auto opening = workers.run(std::move(open));
    auto files = co_await std::move(opening);
    if (!files) co_return fail(files.error());
    auto ticker = std::make_shared<Ticker>(executor, build.progress);
    spawn_logged(executor, Ticker::run(ticker), "template_ticker", nullptr);
    Error last;
    const bool kvm = build.recipe.hardware.accelerator == AcceleratorKind::kvm;
    const int attempts = kvm ? 1 : limits::template_build_attempts;
    for (int attempt = 1; attempt <= attempts; ++attempt) {
        // A first attempt that hangs must not cost the patience that a slow host needs.
        const auto timeout = kvm ? limits::template_boot_kvm_timeout
                                 : limits::template_boot_timeout * attempt / attempts;
        auto built = co_await try_once(build, *files, ticker, timeout);
        if (built) {
            ticker->stop();
            built->attempts = attempt;
            co_return std::move(built);
        }
        last = built.error();
        log::warning("template_attempt_failed", {{"attempt", attempt}, {"why", last.text()}});
        if (last.code == ErrorCode::not_supported || last.code == ErrorCode::not_found) break;
    }
    ticker->stop();
    last = last.in("building the template");
    if (last.advice.empty()) last.advice = "run `cellblock doctor`; it checks what a guest needs";
    co_return fail(std::move(last));
}

}  // namespace cellblock::vm
