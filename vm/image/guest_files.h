// What a template adds to an image's initramfs: the agent and the guest's Python, under /cellblock.
// The guest's /init copies it to /opt/cellblock and runs /opt/cellblock/bin/agent.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"

namespace cellblock::vm {

struct GuestFiles {
    std::filesystem::path agent;                         // the program
    std::vector<std::filesystem::path> python_packages;  // folders; their .py files are taken

    GuestFiles() = default;
};

// A cpio archive with /cellblock/bin/agent and /cellblock/python/<package>/**. Blocking.
Result<std::string> guest_files_archive(const GuestFiles& files);

// An image's initramfs-base.img followed by such an archive. Blocking.
Result<std::string> append_guest_files(const std::filesystem::path& initramfs_base,
                                       const GuestFiles& files);

}  // namespace cellblock::vm
