// A writer of newc cpio archives, the format of an initramfs. The kernel takes several archives
// back to back, so files are added to an image's initramfs by appending one.
//
// Deterministic: the same entries give the same bytes (time stamps are zero, owner is root).
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace cellblock::vm {

class CpioArchive {
  public:
    // `path` is relative, without "." or ".." parts; its parent folders are added by themselves.
    // A second file of the same path replaces the first.
    void add_file(std::string_view path, unsigned permissions, std::string content);
    void add_directory(std::string_view path);

    // The archive, padded so that another may follow.
    std::string bytes() const;

  private:
    struct Entry {
        unsigned mode = 0;
        std::string content;
    };
    std::map<std::string, Entry, std::less<>> entries_;  // ordered: a folder before what is in it
};

}  // namespace cellblock::vm
