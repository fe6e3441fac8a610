// Files of a sandbox as streams over its link: the host's side of `file_read` and `file_write`.
// Loop thread only; constant memory whatever the size.
#pragma once

#include <cstdint>
#include <string>

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"
#include "vm/link/link.h"

namespace cellblock::gateway {

enum class GuestFileKind { file, directory };

struct OpenGuestFile {
    GuestFileKind kind = GuestFileKind::file;
    std::uint64_t size_bytes = 0;  // when it was opened; what is read may differ if it changes
    vm::link::StreamPtr stream;    // the bytes, then END; nothing for a directory
    OpenGuestFile() = default;
};

// not_found, forbidden and the like come from the guest's agent.
boost::asio::awaitable<Result<OpenGuestFile>> open_guest_file(vm::link::Link& link,
                                                              std::string path);

// A new file, or a new content for an old one: write to the stream, finish it, then wait for the
// answer.
vm::link::StreamPtr create_guest_file(vm::link::Link& link, const std::string& path);
// The size in bytes once the file is in place. disk_full and other reasons why it is not.
boost::asio::awaitable<Result<std::uint64_t>> guest_file_written(vm::link::StreamPtr stream);

boost::asio::awaitable<Result<Json>> list_guest_folder(vm::link::Link& link, std::string path);
boost::asio::awaitable<Result<void>> remove_guest_file(vm::link::Link& link, std::string path);

}  // namespace cellblock::gateway
