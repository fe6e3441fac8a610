#include "vm/image/guest_files.h"

#include <system_error>

#include "base/files.h"
#include "base/limits.h"
#include "vm/image/cpio.h"

namespace cellblock::vm {

namespace fs = std::filesystem;

namespace {

Result<void> add_package(CpioArchive& archive, const fs::path& folder) {
    std::error_code error;
    const std::string root = "cellblock/python/" + folder.filename().string();
    for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
         it.increment(error)) {
        if (!it->is_regular_file(error) || it->path().extension() != ".py") continue;
        CB_TRY_ASSIGN(content, read_file(it->path(), limits::guest_file_max_bytes));
        archive.add_file(root + "/" + it->path().lexically_relative(folder).string(), 0644,
                         std::move(content));
    }
    if (error) return fail(error_from_errno(error.value(), "read the folder " + folder.string()));
    return {};
}

}  // namespace

Result<std::string> guest_files_archive(const GuestFiles& files) {
    CpioArchive archive;
    CB_TRY_ASSIGN(agent, read_file(files.agent, limits::guest_file_max_bytes));
    archive.add_file("cellblock/bin/agent", 0755, std::move(agent));
    archive.add_directory("cellblock/python");
    for (const fs::path& folder : files.python_packages) {
        CB_TRY(add_package(archive, folder));
    }
    return archive.bytes();
}

Result<std::string> append_guest_files(const fs::path& initramfs_base, const GuestFiles& files) {
    CB_TRY_ASSIGN(initramfs, read_file(initramfs_base, limits::initramfs_max_bytes));
    CB_TRY_ASSIGN(added, guest_files_archive(files));
    return initramfs + added;
}

}  // namespace cellblock::vm
