// GET|POST|PUT|PATCH|DELETE /api/contents/{path}, and .../checkpoints.
//
// Over the folder that the setting `contents_dir` names; without one nothing is there (404). Files
// are the host's: kernels do not see them.
#include "gateway/http/uri.h"
#include "gateway/jupyter/contents.h"
#include "gateway/jupyter/door.h"

namespace cellblock::gateway::jupyter {

using boost::asio::awaitable;
using http::Request;
using http::ResponseWriter;

namespace {

constexpr std::string_view checkpoints = "checkpoints";

// A path's meaning: "a/b", "a/b/checkpoints", "a/b/checkpoints/ID".
struct Target {
    std::string path;
    bool is_checkpoints = false;
    std::string checkpoint;

    Target() = default;
};

Result<Target> target_of(const Request& request) {
    Target target;
    target.path = request.param("path");
    const auto cut = [&target](std::size_t at) {
        target.is_checkpoints = true;
        target.path.resize(at);
    };
    const std::string all = "/" + std::string(checkpoints);
    const std::size_t one = target.path.rfind(all + "/");
    if (target.path.ends_with(all)) {
        cut(target.path.size() - all.size());
    } else if (one != std::string::npos &&
               target.path.find('/', one + all.size() + 1) == std::string::npos) {
        target.checkpoint = target.path.substr(one + all.size() + 1);
        cut(one);
    }
    CB_TRY(check_contents_path(target.path));
    return target;
}

// Runs on a worker; the folder is opened there, so that one that is replaced is seen.
template <typename Function>
auto with_folder(Door& door, Function function)
    -> awaitable<std::invoke_result_t<Function, const ContentsFolder&>> {
    using Answer = std::invoke_result_t<Function, const ContentsFolder&>;
    if (door.settings.contents_folder.empty()) {
        co_return fail(ErrorCode::not_found, "this gateway serves no files",
                       "its operator can name a folder with contents_dir");
    }
    auto work = [root = door.settings.contents_folder, function]() -> Answer {
        CB_TRY_ASSIGN(folder, ContentsFolder::open(root));
        return function(folder);
    };
    co_return co_await door.services.workers.run(std::move(work));
}

std::string address_of(const std::string& path) {
    std::string address = "/api/contents";
    std::string_view rest = path;
    while (!rest.empty()) {
        const std::size_t slash = std::min(rest.find('/'), rest.size());
        address += "/" + http::percent_encode(rest.substr(0, slash));
        rest.remove_prefix(std::min(slash + 1, rest.size()));
    }
    return address;
}

awaitable<Result<void>> send_model(ResponseWriter& writer, int status, const Json& model) {
    if (status == 201) {
        writer.headers().set("Location", address_of(model["path"].get<std::string>()));
    }
    co_return co_await writer.send_json(status, model);
}

ContentsQuery without_content() {
    ContentsQuery query;
    query.content = WithContent::no;
    return query;
}

awaitable<Result<void>> get_contents(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(target, target_of(request));
    if (target.is_checkpoints) {
        auto list = [path = target.path](const ContentsFolder& folder) {
            return list_checkpoints(folder, path);
        };
        CB_CO_TRY_ASSIGN(answer, co_await with_folder(door, std::move(list)));
        co_return co_await writer.send_json(200, answer);
    }
    ContentsQuery query;
    query.type = request.query().get("type").value_or("");
    query.format = request.query().get("format").value_or("");
    if (request.query().get("content") == "0") query.content = WithContent::no;
    auto read = [path = target.path, query](const ContentsFolder& folder) {
        return read_model(folder, path, query);
    };
    CB_CO_TRY_ASSIGN(model, co_await with_folder(door, std::move(read)));
    co_return co_await send_model(writer, 200, model);
}

awaitable<Result<void>> post_contents(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(target, target_of(request));
    if (target.is_checkpoints && target.checkpoint.empty()) {
        auto make = [path = target.path](const ContentsFolder& folder) {
            return make_checkpoint(folder, path);
        };
        CB_CO_TRY_ASSIGN(made, co_await with_folder(door, std::move(make)));
        co_return co_await writer.send_json(201, made);
    }
    if (target.is_checkpoints) {
        auto restore = [target](const ContentsFolder& folder) {
            return restore_checkpoint(folder, target.path, target.checkpoint);
        };
        CB_CO_TRY(co_await with_folder(door, std::move(restore)));
        co_return co_await writer.send_empty(204);
    }
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    auto make = [path = target.path, body](const ContentsFolder& folder) -> Result<Json> {
        CB_TRY_ASSIGN(made, make_untitled(folder, path, body));
        return read_model(folder, made, without_content());
    };
    CB_CO_TRY_ASSIGN(model, co_await with_folder(door, std::move(make)));
    co_return co_await send_model(writer, 201, model);
}

awaitable<Result<void>> put_contents(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(target, target_of(request));
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    if (target.is_checkpoints || target.path.empty()) {
        co_return fail(ErrorCode::invalid_argument, "nothing can be saved there");
    }
    Saved saved = Saved::replaced;
    auto save = [path = target.path, body, &saved](const ContentsFolder& folder) -> Result<Json> {
        CB_TRY_ASSIGN(done, save_model(folder, path, body));
        saved = done;
        return read_model(folder, path, without_content());
    };
    CB_CO_TRY_ASSIGN(model, co_await with_folder(door, std::move(save)));
    co_return co_await send_model(writer, saved == Saved::created ? 201 : 200, model);
}

awaitable<Result<void>> patch_contents(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(target, target_of(request));
    CB_CO_TRY_ASSIGN(body, co_await request.read_json());
    CB_CO_TRY_ASSIGN(to, required_string(body, "path"));
    CB_CO_TRY(check_contents_path(to));
    if (target.is_checkpoints || target.path.empty() || to.empty()) {
        co_return fail(ErrorCode::invalid_argument, "only a file or a folder has a new name");
    }
    auto rename = [from = target.path, to](const ContentsFolder& folder) -> Result<Json> {
        if (from != to) {
            CB_TRY(folder.rename(from, to));
        }
        return read_model(folder, to, without_content());
    };
    CB_CO_TRY_ASSIGN(model, co_await with_folder(door, std::move(rename)));
    co_return co_await send_model(writer, 200, model);
}

awaitable<Result<void>> delete_contents(Door& door, Request& request, ResponseWriter& writer) {
    CB_CO_TRY_ASSIGN(target, target_of(request));
    if (target.path.empty()) {
        co_return fail(ErrorCode::invalid_argument, "the folder itself cannot be deleted");
    }
    auto work = [target](const ContentsFolder& folder) -> Result<void> {
        if (target.is_checkpoints) return remove_checkpoint(folder, target.path, target.checkpoint);
        return folder.remove(target.path);
    };
    CB_CO_TRY(co_await with_folder(door, std::move(work)));
    co_return co_await writer.send_empty(204);
}

}  // namespace

void add_contents_routes(http::Router& router, Door& door) {
    const http::RouteOptions options = door.route_options();
    for (const char* pattern : {"/api/contents", "/api/contents/{path*}"}) {
        router.add("GET", pattern, options, bind(door, get_contents));
        router.add("POST", pattern, options, bind(door, post_contents));
    }
    router.add("PUT", "/api/contents/{path*}", options, bind(door, put_contents));
    router.add("PATCH", "/api/contents/{path*}", options, bind(door, patch_contents));
    router.add("DELETE", "/api/contents/{path*}", options, bind(door, delete_contents));
}

}  // namespace cellblock::gateway::jupyter
