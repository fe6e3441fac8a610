#include "gateway/cli/kernel_lease.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.h"
#include "base/ids.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/pipe.h"

namespace cellblock::gateway::cli {
namespace {

// What the process tells its child: one letter each, then the id for `held`.
constexpr char held = 'h';
constexpr char released = 'r';
constexpr char handed_over = 'o';

std::string note_prefix(const std::filesystem::path& connection_file) {
    return connection_file.filename().string() + ".cellblock-";
}

// All that the process says until it ends.
std::string read_to_end(int pipe) {
    std::string text;
    char buffer[512];
    while (true) {
        const ssize_t count = ::read(pipe, buffer, sizeof(buffer));
        if (count > 0) {
            text.append(buffer, static_cast<std::size_t>(count));
        } else if (count == 0 || errno != EINTR) {
            return text;
        }
    }
}

// In the child: nothing of the parent's stays open, so that nobody waits for it.
void detach_from_everything(int pipe) {
    ::setsid();
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) ::signal(number, SIG_IGN);
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int descriptor : {0, 1, 2}) ::dup2(null, descriptor);
    ::dup2(pipe, 3);
    ::close_range(4, ~0U, 0);
}

// The child's whole life.
void guard(int pipe, const std::filesystem::path& note,
           const std::function<void(const std::string&)>& remove) {
    detach_from_everything(pipe);
    const std::string said = read_to_end(3);
    if (said.empty() || said.front() != held || said.back() == released) return;
    const bool expected = said.back() == handed_over;
    const std::chrono::milliseconds patience =
        expected ? limits::kernel_handover_timeout : limits::kernel_orphan_grace;
    ::poll(nullptr, 0, static_cast<int>(patience.count()));
    if (::unlink(note.c_str()) != 0) return;  // a successor has the kernel
    remove(said.substr(1, said.find('\n') - 1));
}

}  // namespace

Result<KernelLease> KernelLease::start(const std::filesystem::path& connection_file,
                                       std::function<void(const std::string&)> remove) {
    std::filesystem::path note = connection_file;
    note += ".cellblock-" + new_short_id(8);
    CB_TRY_ASSIGN(pipe, make_pipe());
    const pid_t child = ::fork();
    if (child < 0) return fail(error_from_errno(errno, "start the kernel's guard"));
    if (child == 0) {
        guard(pipe.read_end.get(), note, remove);
        ::_exit(0);
    }
    return KernelLease(std::move(pipe.write_end), std::move(note));
}

std::optional<std::string> KernelLease::claim(const std::filesystem::path& connection_file,
                                              const std::string& gateway_url) {
    const std::string prefix = note_prefix(connection_file);
    std::error_code error;
    const auto folder = std::filesystem::absolute(connection_file).parent_path();
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        if (!entry.path().filename().string().starts_with(prefix)) continue;
        const auto text = read_file(entry.path(), limits::connection_file_max_bytes);
        if (!text) continue;
        const auto json =
            parse_json(*text, JsonLimits{limits::connection_file_max_bytes}, "a kernel's note");
        if (!json || !json->is_object() || json->value("gateway", "") != gateway_url) continue;
        const auto kernel = optional_string(*json, "kernel_id");
        if (!kernel || !*kernel || !is_valid_id(**kernel)) continue;
        if (::unlink(entry.path().c_str()) == 0) return *kernel;
    }
    return std::nullopt;
}

Result<void> KernelLease::hold(const std::string& kernel_id, const std::string& gateway_url) {
    const Json note = {{"kernel_id", kernel_id}, {"gateway", gateway_url}};
    // The child first: without the note it deletes nothing, which is told below.
    CB_TRY(write_all(pipe_.get(), held + kernel_id + "\n"));
    return write_file_atomically(note_, note.dump() + "\n", 0600);
}

void KernelLease::release() {
    (void)write_all(pipe_.get(), std::string(1, released));
    ::unlink(note_.c_str());
    pipe_.reset();
}

void KernelLease::hand_over() {
    (void)write_all(pipe_.get(), std::string(1, handed_over));
    pipe_.reset();
}

}  // namespace cellblock::gateway::cli
