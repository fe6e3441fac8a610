// Boots a guest once and leaves what every clone starts from: the RAM (sealed memfd) and the device
// state. A guest under an emulator sometimes hangs while it boots on a busy host, so there is a
// watchdog, and several attempts.
//
// Loop thread only; what blocks goes to the worker pool.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/fd.h"
#include "base/progress.h"
#include "base/worker_pool.h"
#include "vm/qemu/qemu_process.h"
#include "vm/snapshot/template_key.h"

namespace cellblock::vm {

struct BuiltTemplate {
    Fd ram;  // not sealed yet
    std::string device_state;
    int attempts = 0;

    BuiltTemplate() = default;
};

struct TemplateBuild {
    std::shared_ptr<QemuHost> host;
    TemplateRecipe recipe;
    std::string key;
    std::filesystem::path run_root;
    ProgressSink progress;  // called on the loop, about once a second; may be empty

    TemplateBuild() = default;
};

boost::asio::awaitable<Result<BuiltTemplate>> build_template(TemplateBuild build,
                                                             WorkerPool& workers);

}  // namespace cellblock::vm
