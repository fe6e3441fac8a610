#include "vm/snapshot/template.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <utime.h>

#include <algorithm>
#include <cerrno>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "base/awaitable.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/files.h"
#include "base/log.h"
#include "vm/qemu/device_state.h"
#include "vm/qemu/left_machines.h"
#include "vm/snapshot/template_builder.h"

namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace cellblock::vm {
namespace {

// The base of a science image is some 600 MB; a build that runs out of disk after a minute helps
// nobody.
constexpr std::uint64_t free_disk_min_bytes = 2 * limits::GiB;

Result<TemplateManifest> read_template_manifest(const fs::path& folder) {
    CB_TRY_ASSIGN(text, read_file(folder / "manifest.json", limits::manifest_max_bytes));
    CB_TRY_ASSIGN(json,
                  parse_json(text, JsonLimits{limits::manifest_max_bytes}, "a template manifest"));
    return template_manifest_from(json);
}

struct LoadedTemplate {
    TemplateManifest manifest;
    CloneSource source;

    LoadedTemplate() = default;
};

CloneSource make_source(const TemplateManifest& manifest, Fd ram, Fd root, Fd devices) {
    CloneSource source;
    source.template_key = manifest.key;
    source.hardware = manifest.hardware;
    source.ram = std::make_shared<const Fd>(std::move(ram));
    source.root = std::make_shared<const Fd>(std::move(root));
    source.device_state = std::make_shared<const Fd>(std::move(devices));
    return source;
}

// Worker: everything that a clone needs, verified, in memory.
Result<LoadedTemplate> load_template(const fs::path& folder, const std::string& key,
                                     const fs::path& image_folder) {
    LoadedTemplate loaded;
    CB_TRY_ASSIGN(manifest, read_template_manifest(folder));
    if (manifest.key != key) {
        return fail(ErrorCode::conflict, "the template in " + folder.string() + " is another one");
    }
    CB_TRY_ASSIGN(root, open_file(image_folder / "root.erofs", O_RDONLY));
    CB_TRY_ASSIGN(devices, read_file(folder / "devices", limits::qemu_file_max_bytes));
    if (devices.size() != manifest.devices_bytes ||
        sha256_hex(devices) != manifest.devices_sha256) {
        return fail(ErrorCode::io, "the template's device state is damaged");
    }
    CB_TRY_ASSIGN(devices_fd, device_state_file(devices));
    CB_TRY_ASSIGN(disk, open_file(folder / "ram", O_RDONLY));
    CB_TRY_ASSIGN(ram, make_ram_memfd(manifest.hardware.ram_bytes));
    CB_TRY_ASSIGN(sum, copy_ram(disk.get(), ram.get()));
    if (sum.sha256 != manifest.ram.sha256) {
        return fail(ErrorCode::io, "the template's RAM image is damaged");
    }
    CB_TRY(seal_ram(ram.get()));
    (void)::utime((folder / "manifest.json").c_str(), nullptr);  // for keep_last_used()
    loaded.source = make_source(manifest, std::move(ram), std::move(root), std::move(devices_fd));
    loaded.manifest = std::move(manifest);
    return std::move(loaded);
}

Result<void> sync_path(const fs::path& path) {
    CB_TRY_ASSIGN(fd, open_file(path, O_RDONLY));
    if (::fsync(fd.get()) != 0) return fail(error_from_errno(errno, "sync " + path.string()));
    return {};
}

// Worker: writes a built template beside its place and renames it there when it is complete.
Result<LoadedTemplate> store_template(const fs::path& folder, TemplateManifest manifest, Fd ram,
                                      const std::string& devices, const fs::path& image_folder) {
    fs::path fresh = folder;
    fresh += ".new";
    std::error_code error;
    fs::remove_all(fresh, error);
    CB_TRY(make_directories(fresh, 0755));
    CB_TRY(seal_ram(ram.get()));
    {
        CB_TRY_ASSIGN(disk, open_file(fresh / "ram", O_RDWR | O_CREAT | O_EXCL, 0644));
        CB_TRY_ASSIGN(sum, copy_ram(ram.get(), disk.get()));
        manifest.ram = sum;
    }
    manifest.devices_bytes = devices.size();
    manifest.devices_sha256 = sha256_hex(devices);
    CB_TRY(sync_path(fresh / "ram"));
    CB_TRY(write_file_atomically(fresh / "devices", devices));
    CB_TRY(write_file_atomically(fresh / "manifest.json", to_json(manifest).dump(2) + "\n"));
    fs::remove_all(folder, error);  // a damaged one
    if (::rename(fresh.c_str(), folder.c_str()) != 0) {
        return fail(error_from_errno(errno, "put the template at " + folder.string()));
    }
    CB_TRY(sync_path(folder.parent_path()));
    CB_TRY_ASSIGN(root, open_file(image_folder / "root.erofs", O_RDONLY));
    CB_TRY_ASSIGN(devices_fd, device_state_file(devices));
    LoadedTemplate loaded;
    loaded.source = make_source(manifest, std::move(ram), std::move(root), std::move(devices_fd));
    loaded.manifest = std::move(manifest);
    return std::move(loaded);
}

std::uint64_t allocated_bytes(const fs::path& folder) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        struct stat status;
        if (::stat(entry.path().c_str(), &status) == 0) {
            bytes += static_cast<std::uint64_t>(status.st_blocks) * 512;
        }
    }
    return bytes;
}

}  // namespace

TemplateStore::TemplateStore(fs::path cache_folder, std::shared_ptr<QemuHost> host,
                             WorkerPool& workers)
    : folder_(std::move(cache_folder) / "templates"), host_(std::move(host)), workers_(workers) {}

asio::awaitable<Result<TemplateStore::Shared>> TemplateStore::load(std::string key,
                                                                   fs::path image_folder) {
    if (auto already = open_[key].lock()) co_return already;
    auto read = [folder = folder_ / short_key(key), key, image_folder] {
        return load_template(folder, key, image_folder);
    };
    auto pending = workers_.run(std::move(read));
    auto loaded = co_await std::move(pending);
    if (!loaded) co_return fail(loaded.error());
    auto opened =
        std::make_shared<const Template>(std::move(loaded->manifest), std::move(loaded->source));
    open_[key] = opened;
    co_return opened;
}

asio::awaitable<Result<TemplateStore::Shared>> TemplateStore::open(TemplateRecipe recipe) {
    auto compute = [recipe] { return template_key_inputs(recipe); };
    auto computing = workers_.run(std::move(compute));
    auto inputs = co_await std::move(computing);
    if (!inputs) co_return fail(inputs.error());
    const std::string key = template_key(*inputs);
    if (!fs::exists(folder_ / short_key(key) / "manifest.json")) {
        co_return fail(ErrorCode::not_found,
                       "there is no template of image " + recipe.image_name + " for this host",
                       "build it: cellblock template build");
    }
    co_return co_await load(key, recipe.image_folder);
}

asio::awaitable<Result<TemplateStore::Shared>> TemplateStore::open_or_build(TemplateRecipe recipe,
                                                                            ProgressSink progress) {
    auto compute = [recipe] { return template_key_inputs(recipe); };
    auto computing = workers_.run(std::move(compute));
    auto inputs = co_await std::move(computing);
    if (!inputs) co_return fail(inputs.error());
    const std::string key = template_key(*inputs);
    const fs::path manifest = folder_ / short_key(key) / "manifest.json";
    if (fs::exists(manifest)) {
        auto loaded = co_await load(key, recipe.image_folder);
        if (loaded) co_return loaded;
        log::warning("template_unusable",
                     {{"key", short_key(key)}, {"why", loaded.error().text()}});
    }
    auto locked = co_await lock(key, progress);
    if (!locked) co_return fail(locked.error());
    if (fs::exists(manifest)) {  // somebody else built it while we waited
        auto loaded = co_await load(key, recipe.image_folder);
        if (loaded) co_return loaded;
    }
    co_return co_await build(std::move(recipe), key, std::move(*inputs), std::move(progress));
}

asio::awaitable<Result<Fd>> TemplateStore::lock(std::string key, ProgressSink progress) {
    auto made = make_directories(folder_);
    if (!made) co_return fail(made.error());
    auto file = open_file(folder_ / (short_key(key) + ".lock"), O_RDWR | O_CREAT);
    if (!file) co_return fail(file.error());
    asio::steady_timer timer(co_await asio::this_coro::executor);
    bool told = false;
    // Polled, because a blocking flock would hold a worker for as long as the other one builds.
    while (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            co_return fail(error_from_errno(errno, "lock a template"));
        }
        if (progress && !told) {
            Progress waiting;
            waiting.step = "waiting for another process that builds this template";
            progress(waiting);
            told = true;
        }
        timer.expires_after(std::chrono::milliseconds(200));
        co_await timer.async_wait(as_tuple_awaitable);
    }
    co_return std::move(*file);
}

asio::awaitable<Result<TemplateStore::Shared>> TemplateStore::build(TemplateRecipe recipe,
                                                                    std::string key,
                                                                    KeyInputs inputs,
                                                                    ProgressSink progress) {
    const Deadline begin = std::chrono::steady_clock::now();
    auto room = free_bytes(folder_);
    if (room && *room < free_disk_min_bytes) {
        co_return fail(ErrorCode::disk_full,
                       "a template needs up to 2 GiB of disk, and " + folder_.string() + " has " +
                           std::to_string(*room / limits::MiB) + " MiB free",
                       "free some, or choose another --cache-dir");
    }
    TemplateBuild order;
    order.host = host_;
    order.recipe = recipe;
    order.key = key;
    // Its own run root per template: who holds the lock may sweep what an earlier build left there.
    order.run_root = folder_ / "run" / short_key(key);
    order.progress = progress;
    auto sweep = [root = order.run_root] { return sweep_orphans(root); };
    auto sweeping = workers_.run(std::move(sweep));
    (void)co_await std::move(sweeping);
    auto built = co_await build_template(std::move(order), workers_);
    if (!built) co_return fail(built.error());

    TemplateManifest manifest;
    manifest.key = key;
    manifest.inputs = std::move(inputs);
    manifest.image_name = recipe.image_name;
    manifest.image_folder = recipe.image_folder;
    manifest.hardware = recipe.hardware;
    manifest.created_at_ns = wall_clock_ns();
    manifest.attempts = built->attempts;
    manifest.build_ms = std::chrono::duration_cast<std::chrono::milliseconds>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
    // std::function wants copyable captures.
    auto ram = std::make_shared<Fd>(std::move(built->ram));
    auto store = [folder = folder_ / short_key(key), manifest, ram,
                  devices = std::move(built->device_state), image = recipe.image_folder] {
        return store_template(folder, manifest, std::move(*ram), devices, image);
    };
    auto storing = workers_.run(std::move(store));
    auto loaded = co_await std::move(storing);
    if (!loaded) co_return fail(loaded.error().in("storing the template"));
    log::info("template_built", {{"key", short_key(key)},
                                 {"image", recipe.image_name},
                                 {"ms", loaded->manifest.build_ms},
                                 {"ram_data_bytes", loaded->manifest.ram.data_bytes}});
    if (progress) {
        Progress done;
        done.step = "template ready";
        done.fraction = 1;
        progress(done);
    }
    auto opened =
        std::make_shared<const Template>(std::move(loaded->manifest), std::move(loaded->source));
    open_[key] = opened;
    co_return opened;
}

Result<std::vector<TemplateSummary>> TemplateStore::list() const {
    std::vector<TemplateSummary> summaries;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder_, error)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory(error) || name.size() != 12) continue;
        auto manifest = read_template_manifest(entry.path());
        if (!manifest || short_key(manifest->key) != name) continue;
        TemplateSummary summary;
        summary.manifest = std::move(*manifest);
        summary.disk_bytes = allocated_bytes(entry.path());
        summaries.push_back(std::move(summary));
    }
    std::sort(summaries.begin(), summaries.end(), [](const auto& a, const auto& b) {
        return a.manifest.created_at_ns > b.manifest.created_at_ns;
    });
    return summaries;
}

asio::awaitable<Result<std::string>> TemplateStore::remove(std::string key_prefix) {
    auto all = list();
    if (!all) co_return fail(all.error());
    std::vector<std::string> fitting;
    for (const auto& summary : *all) {
        if (summary.manifest.key.starts_with(key_prefix)) fitting.push_back(summary.manifest.key);
    }
    if (key_prefix.size() < 6 || fitting.size() != 1) {
        co_return fail(fitting.empty() ? ErrorCode::not_found : ErrorCode::invalid_argument,
                       "no single template has a key that begins with \"" + key_prefix + "\"",
                       "see `cellblock template ls`");
    }
    const std::string key = fitting.front();
    auto locked = co_await lock(key, {});
    if (!locked) co_return fail(locked.error());
    auto erase = [folder = folder_ / short_key(key)]() -> Result<bool> {
        std::error_code error;
        fs::remove_all(folder, error);
        if (error) return fail(ErrorCode::io, "could not remove " + folder.string());
        return true;
    };
    auto erasing = workers_.run(std::move(erase));
    auto erased = co_await std::move(erasing);
    if (!erased) co_return fail(erased.error());
    open_.erase(key);
    co_return key;
}

asio::awaitable<Result<std::vector<std::string>>> TemplateStore::keep_last_used(
    std::size_t keep_count) {
    auto all = list();
    if (!all) co_return fail(all.error());
    std::vector<std::pair<fs::file_time_type, std::string>> by_use;
    for (const auto& summary : *all) {
        const std::string& key = summary.manifest.key;
        std::error_code error;
        by_use.emplace_back(fs::last_write_time(folder_ / short_key(key) / "manifest.json", error),
                            key);
    }
    std::sort(by_use.rbegin(), by_use.rend());
    std::vector<std::string> removed;
    for (std::size_t i = keep_count; i < by_use.size(); ++i) {
        CB_CO_TRY_ASSIGN(gone, co_await remove(by_use[i].second));
        removed.push_back(std::move(gone));
    }
    co_return removed;
}

}  // namespace cellblock::vm
