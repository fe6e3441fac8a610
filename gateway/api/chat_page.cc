#include "gateway/api/chat_page.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "gateway/http/router.h"

namespace cellblock::gateway::api {

namespace asio = boost::asio;
using http::Request;
using http::ResponseWriter;

namespace {

// The page runs its own scripts and nothing else, and calls its own gateway and nobody else. Charts
// are drawn without eval (Vega's interpreter), so there is no exception to make.
constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
// The frame shows markup of guests: no origin, no requests, no script but the one that puts the
// markup there; which one that is, the page's own policy says by its hash (both policies count).
constexpr std::string_view frame_policy =
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'self'";

struct PageFile {
    Fd fd;
    struct stat status{};

    PageFile() = default;
};

Result<PageFile> open_page_file(const std::filesystem::path& path) {
    // A link is nothing that the build makes.
    CB_TRY_ASSIGN(fd, open_file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    PageFile file;
    if (::fstat(fd.get(), &file.status) != 0) {
        return fail(error_from_errno(errno, "looking at " + path.string()));
    }
    if (!S_ISREG(file.status.st_mode)) return fail(ErrorCode::not_found, "no such file");
    file.fd = std::move(fd);
    return file;
}

Error not_built(const std::filesystem::path& folder) {
    return {ErrorCode::not_found, "the chat page is not in " + folder.string(),
            "examples/chat/build makes it (it needs node and npm); chat_dir names another folder"};
}

// Changes with every build: the clock's nanoseconds and the size tell two builds apart.
std::string tag_of(const struct stat& status) {
    return "\"" + std::to_string(status.st_mtim.tv_sec) + "." +
           std::to_string(status.st_mtim.tv_nsec) + "-" + std::to_string(status.st_size) + "\"";
}

asio::awaitable<Result<void>> get_page_file(WorkerPool& workers, std::filesystem::path folder,
                                            Request& request, ResponseWriter& writer) {
    std::string name = request.param("file");
    if (name.empty()) name = "index.html";
    const std::string_view type = page_file_type(name);
    if (!is_page_file(name) || type.empty()) {
        co_return fail(ErrorCode::not_found, "the chat page has no file of that name");
    }
    auto open = [path = folder / name] { return open_page_file(path); };
    auto file = co_await workers.run(std::move(open));
    if (!file && name == "index.html") co_return fail(not_built(folder));
    if (!file) co_return fail(ErrorCode::not_found, "the chat page has no file of that name");
    http::FileBody body;
    body.size = static_cast<std::uint64_t>(file->status.st_size);
    body.content_type = type;
    body.etag = tag_of(file->status);
    body.fd = std::move(file->fd);
    writer.headers().set("Content-Security-Policy",
                         std::string(name == "frame.html" ? frame_policy : page_policy));
    writer.headers().set("Referrer-Policy", "no-referrer");
    writer.headers().set("Cache-Control", "no-cache");
    co_return co_await writer.send_file(std::move(body));
}

// Its links are relative to the folder.
asio::awaitable<Result<void>> to_folder(ResponseWriter& writer) {
    writer.headers().set("Location", "/examples/chat/");
    co_return co_await writer.send_empty(302);
}

bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

}  // namespace

bool is_page_file(std::string_view name) {
    const auto allowed = [](char c) {
        return is_letter_or_digit(c) || c == '-' || c == '_' || c == '.';
    };
    return !name.empty() && name.front() != '.' && name.size() <= 100 &&
           std::all_of(name.begin(), name.end(), allowed);
}

std::string_view page_file_type(std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> types = {
        {{".html", "text/html; charset=utf-8"},
         {".js", "text/javascript; charset=utf-8"},
         {".css", "text/css; charset=utf-8"}}};
    for (const auto& [ending, type] : types) {
        if (name.ends_with(ending)) return type;
    }
    return "";
}

void add_chat_page_routes(http::Router& router, WorkerPool& workers, std::filesystem::path folder) {
    http::RouteOptions open;
    open.access = http::Access::open;
    router.add("GET", "/examples/chat", open,
               [](Request&, ResponseWriter& writer) { return to_folder(writer); });
    router.add("GET", "/examples/chat/{file*}", open,
               [&workers, folder = std::move(folder)](Request& request, ResponseWriter& writer) {
                   return get_page_file(workers, folder, request, writer);
               });
}

}  // namespace cellblock::gateway::api
