#include "gateway/cli/kernelspecs.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "base/files.h"
#include "base/limits.h"
#include "gateway/cli/answers.h"

namespace cellblock::gateway::cli {

namespace fs = std::filesystem;

namespace {

// Ours are told from others by the key of this name in their metadata.
constexpr const char* mark = "cellblock";

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string() : value;
}

// One component of a path, as Jupyter allows it in names of kernels and of their files.
bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > 100 || name.front() == '.') return false;
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
    });
}

// What the client's machine needs of the gateway's description.
Json local_spec(const Json& spec, const std::string& name, const std::string& gateway_url,
                std::vector<std::string> command) {
    command.insert(command.end(), {"--kernel-name", name});
    Json metadata = spec.value("metadata", Json::object());
    if (!metadata.is_object()) metadata = Json::object();
    metadata[mark] = Json{{"gateway", gateway_url}};
    return Json{{"argv", command},
                {"display_name", spec.value("display_name", name + " (microVM)")},
                {"language", spec.value("language", "python")},
                // Whatever the kernel itself wants: the relay turns it into that.
                {"interrupt_mode", "message"},
                {"env", Json::object()},
                {"metadata", metadata}};
}

Result<void> write_resources(HttpClient& client, const Json& resources, const fs::path& folder) {
    if (!resources.is_object()) return {};
    for (const auto& [key, address] : resources.items()) {
        if (!address.is_string() || !address.get<std::string>().starts_with("/")) continue;
        HttpCall call;
        call.path = address.get<std::string>();
        call.timeout = limits::kernel_call_timeout;
        const std::string file = fs::path(call.path).filename();
        // Scripts and styles are for the front end of the gateway, not for this one.
        if (!is_plain_name(file) || !file.starts_with("logo-")) continue;
        CB_TRY_ASSIGN(reply, client.expect_success(call));
        CB_TRY(write_file_atomically(folder / file, reply.body));
    }
    return {};
}

Result<Json> get_json(HttpClient& client, const std::string& path) {
    HttpCall call;
    call.path = path;
    call.timeout = limits::kernel_call_timeout;
    CB_TRY_ASSIGN(reply, client.expect_success(call));
    return json_of(reply);
}

bool is_ours(const fs::path& folder) {
    const auto text = read_file(folder / "kernel.json", limits::image_description_max_bytes);
    if (!text) return false;
    const JsonLimits bounds{limits::image_description_max_bytes};
    const auto spec = parse_json(*text, bounds, "a kernelspec");
    if (!spec || !spec->is_object()) return false;
    const auto metadata = spec->find("metadata");
    return metadata != spec->end() && metadata->is_object() && metadata->contains(mark);
}

}  // namespace

fs::path jupyter_data_folder(const std::string& prefix) {
    if (!prefix.empty()) return fs::absolute(prefix) / "share" / "jupyter";
    if (const auto folder = variable("JUPYTER_DATA_DIR"); !folder.empty()) return folder;
    const auto data = variable("XDG_DATA_HOME");
    const fs::path base =
        data.empty() ? fs::path(variable("HOME")) / ".local" / "share" : fs::path(data);
    return base / "jupyter";
}

Result<std::vector<fs::path>> install_kernelspecs(HttpClient& client, const fs::path& data_folder,
                                                  const std::vector<std::string>& command) {
    CB_TRY_ASSIGN(all, get_json(client, "/api/kernelspecs"));
    if (!all.is_object() || !all.contains("kernelspecs") || !all["kernelspecs"].is_object()) {
        return fail(ErrorCode::io, "the gateway's answer lists no kernels");
    }
    std::vector<fs::path> made;
    for (const auto& [name, description] : all["kernelspecs"].items()) {
        if (!is_plain_name(name) || !description.is_object()) continue;
        const Json spec = description.value("spec", Json::object());
        const fs::path folder = data_folder / "kernels" / ("cellblock-" + name);
        CB_TRY(make_directories(folder));
        CB_TRY(write_resources(client, description.value("resources", Json()), folder));
        const Json local = local_spec(spec, name, client.url(), command);
        CB_TRY(write_file_atomically(folder / "kernel.json", local.dump(1) + "\n"));
        made.push_back(folder);
    }
    return made;
}

Result<std::vector<fs::path>> remove_kernelspecs(const fs::path& data_folder) {
    std::vector<fs::path> ours;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(data_folder / "kernels", error)) {
        if (is_ours(entry.path())) ours.push_back(entry.path());
    }
    for (const fs::path& folder : ours) {
        fs::remove_all(folder, error);
        if (error) return fail(error_from_errno(error.value(), "remove " + folder.string()));
    }
    return ours;
}

}  // namespace cellblock::gateway::cli
