// Templates: guests that have booted and warmed up once, kept as base RAM and device state.
//
//   <cache>/templates/<key12>/manifest.json   all that the key is made of, sizes, checksums
//                             ram             sparse file, loaded into a sealed memfd once
//                             devices         QEMU's device state
//   <cache>/templates/<key12>.lock            flock: one builder between all processes
//   <cache>/templates/<key12>.new/            a build in progress, renamed when complete
//   <cache>/templates/run/                    run folders of template boots
//
// A template is used only if its key is exactly the one wanted; a changed host, image, kernel, QEMU
// or agent makes another key and so another build. Owner: the gateway's root object. Loop thread
// only. A Template outlives its removal from disk.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "base/progress.h"
#include "base/worker_pool.h"
#include "vm/qemu/qemu_machine.h"
#include "vm/qemu/qemu_process.h"
#include "vm/snapshot/ram_image.h"
#include "vm/snapshot/template_key.h"

namespace cellblock::vm {

struct TemplateManifest {
    std::string key;
    KeyInputs inputs;
    std::string image_name;
    std::filesystem::path image_folder;
    GuestHardware hardware;
    RamChecksum ram;
    std::string devices_sha256;
    std::uint64_t devices_bytes = 0;
    std::int64_t created_at_ns = 0;
    std::int64_t build_ms = 0;
    int attempts = 0;

    TemplateManifest() = default;
};

Json to_json(const TemplateManifest& manifest);
Result<TemplateManifest> template_manifest_from(const Json& json);

class Template {
  public:
    Template(TemplateManifest manifest, CloneSource source)
        : manifest_(std::move(manifest)), source_(std::move(source)) {}
    const std::string& key() const { return manifest_.key; }
    const TemplateManifest& manifest() const { return manifest_; }
    const CloneSource& clone_source() const { return source_; }

  private:
    TemplateManifest manifest_;
    CloneSource source_;
};

struct TemplateSummary {
    TemplateManifest manifest;
    std::uint64_t disk_bytes = 0;  // really allocated

    TemplateSummary() = default;
};

class TemplateStore {
  public:
    // `workers` must outlive the store.
    TemplateStore(std::filesystem::path cache_folder, std::shared_ptr<QemuHost> host,
                  WorkerPool& workers);

    // The template of `recipe`: already open, from disk, or built now. Waits while another process
    // builds the same one. A template on disk that is damaged is built again, and that is logged.
    boost::asio::awaitable<Result<std::shared_ptr<const Template>>> open_or_build(
        TemplateRecipe recipe, ProgressSink progress);
    // As above but never builds: not_found when there is none.
    boost::asio::awaitable<Result<std::shared_ptr<const Template>>> open(TemplateRecipe recipe);

    // Blocking, some milliseconds: for the CLI. Broken folders are left out.
    Result<std::vector<TemplateSummary>> list() const;
    // `key_prefix`: at least 6 characters that fit one template. Clones that run are not disturbed.
    boost::asio::awaitable<Result<std::string>> remove(std::string key_prefix);
    // Removes all but the `keep_count` last used. The keys removed.
    boost::asio::awaitable<Result<std::vector<std::string>>> keep_last_used(std::size_t keep_count);

  private:
    using Shared = std::shared_ptr<const Template>;
    boost::asio::awaitable<Result<Shared>> load(std::string key,
                                                std::filesystem::path image_folder);
    boost::asio::awaitable<Result<Shared>> build(TemplateRecipe recipe, std::string key,
                                                 KeyInputs inputs, ProgressSink progress);
    boost::asio::awaitable<Result<Fd>> lock(std::string key, ProgressSink progress);

    std::filesystem::path folder_;
    std::shared_ptr<QemuHost> host_;
    WorkerPool& workers_;
    std::map<std::string, std::weak_ptr<const Template>> open_;
};

}  // namespace cellblock::vm
