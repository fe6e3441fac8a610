#include "gateway/auth/token.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/files.h"
#include "base/ids.h"

namespace cellblock::gateway::auth {
namespace {

constexpr std::size_t token_min_chars = 16;
constexpr std::size_t token_max_chars = 512;

bool is_token(std::string_view text) {
    if (text.size() < token_min_chars || text.size() > token_max_chars) return false;
    for (const char c : text) {
        const bool ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.' || c == '~';
        if (!ok) return false;
    }
    return true;
}

}  // namespace

std::string new_token() {
    return "e2b_" + new_secret();
}

Result<std::string> load_token(const std::filesystem::path& file) {
    CB_TRY_ASSIGN(fd, open_file(file, O_RDONLY | O_NOFOLLOW));
    struct stat status{};
    if (::fstat(fd.get(), &status) != 0) {
        return fail(error_from_errno(errno, "look at the token file " + file.string()));
    }
    if ((status.st_mode & 0077) != 0) {
        return fail(ErrorCode::forbidden,
                    "the token file " + file.string() + " can be read by other users",
                    "run: chmod 600 " + file.string() +
                        " (and remove it first if others may have read it)");
    }
    CB_TRY_ASSIGN(text, read_file(file, 4096));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' ')) {
        text.pop_back();
    }
    if (!is_token(text)) {
        return fail(ErrorCode::invalid_argument,
                    "the token file " + file.string() + " holds no token",
                    "write one line of at least 16 letters, digits, - or _ into it, or remove it "
                    "and restart: a new token is made");
    }
    return text;
}

Result<std::string> load_or_create_token(const std::filesystem::path& file) {
    if (std::error_code ec; std::filesystem::exists(file, ec) || ec) return load_token(file);
    if (file.has_parent_path()) {
        CB_TRY(make_directories(file.parent_path(), 0700));
    }
    const std::string token = new_token();
    CB_TRY(write_file_atomically(file, token + "\n", 0600));
    return token;
}

}  // namespace cellblock::gateway::auth
