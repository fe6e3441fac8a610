// Guest images on disk: one folder each (vmlinuz, initramfs-base.img, root.erofs, image.json),
// named <recipe>-<first 12 digits of the key>. The key is a hash of what an image is made from, so
// a folder that exists is complete and never changes. Functions without awaitable block.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/progress.h"

namespace cellblock::vm {

struct ImageFile {
    std::uint64_t bytes = 0;
    std::string sha256;
};

// A kernel that the image offers: its kernel.json (jupyter_client, "Kernel specs").
struct ImageKernelspec {
    std::vector<std::string> argv;  // "{connection_file}" stands for the file's path
    std::string display_name;
    std::string language;
    std::string interrupt_mode;  // "signal" or "message"
    std::map<std::string, std::string> environment;

    ImageKernelspec() = default;
};

struct Image {
    std::filesystem::path folder;
    std::string recipe;          // "science" or "base"
    std::string key;             // 64 hex digits
    std::string instead_of;      // the recipe that was asked for and could not be built, or empty
    std::string kernel_release;  // "6.12.57+deb13-cloud-amd64"
    std::string debian_version;  // "13.2"
    std::string python_version;
    std::map<std::string, std::string> packages;  // Debian's: name to version
    std::map<std::string, std::string> wheels;
    std::map<std::string, ImageFile> files;
    std::map<std::string, ImageKernelspec> kernelspecs;  // by name; images of earlier builds: none

    Image() = default;
    std::string name() const { return recipe + "-" + key.substr(0, 12); }
    std::filesystem::path kernel() const { return folder / "vmlinuz"; }
    std::filesystem::path initramfs_base() const { return folder / "initramfs-base.img"; }
    std::filesystem::path root() const { return folder / "root.erofs"; }
    std::uint64_t bytes() const;
};

// Reads and checks image.json, and that every file is there in its full size.
Result<Image> read_image(const std::filesystem::path& folder);

// All complete images under `images`, by name. A folder that is none is left out; so is one that
// cannot be read. No such folder: no images.
Result<std::vector<Image>> list_images(const std::filesystem::path& images);

// The program that builds images: beside an installed cellblock, else in the source tree.
std::filesystem::path default_image_builder();

// The key that `recipe` would be built under now.
Result<std::string> image_key(const std::filesystem::path& builder, std::string_view recipe);

// The image that a build of `recipe` would find, or that was built instead of it (see instead_of):
// not_found if there is neither. Builds nothing.
Result<Image> find_image(const std::filesystem::path& builder, const std::filesystem::path& images,
                         std::string_view recipe);

struct ImageBuild {
    std::filesystem::path builder = default_image_builder();
    std::string recipe = "science";
    std::filesystem::path images;  // the folder that holds images
    std::filesystem::path cache;   // where downloads are kept; empty: the parent of `images`
    std::string mirror;            // a Debian mirror; empty: mmdebstrap's default
    ProgressSink progress;         // called on the loop; may be empty
    // A plain sentence that the user should read: "... building recipe base instead".
    std::function<void(const std::string&)> notice;

    ImageBuild() = default;
};

// Builds the image, or returns at once the one that exists. Takes minutes. When the coroutine is
// destroyed the build is stopped and leaves nothing behind but its log and downloads.
boost::asio::awaitable<Result<Image>> build_image(ImageBuild build);

}  // namespace cellblock::vm
