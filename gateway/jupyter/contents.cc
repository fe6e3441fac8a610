#include "gateway/jupyter/contents.h"

#include <array>

#include "base/base64.h"
#include "base/limits.h"
#include "base/unicode.h"

namespace cellblock::gateway::jupyter {
namespace {

constexpr std::string_view checkpoint_id = "checkpoint";
constexpr std::string_view checkpoint_folder = ".ipynb_checkpoints";
constexpr int untitled_max = 1000;

tl::unexpected<Error> bad(std::string cause) {
    return fail(ErrorCode::invalid_argument, std::move(cause));
}

bool is_notebook(std::string_view path) {
    return path.ends_with(".ipynb");
}

std::string parent_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
}

std::string joined(const std::string& directory, std::string_view name) {
    return directory.empty() ? std::string(name) : directory + "/" + std::string(name);
}

// All but content, format and mimetype, which are null.
Json model_of(const FolderEntry& entry) {
    const bool directory = entry.kind == EntryKind::directory;
    const char* const type = directory                 ? "directory"
                             : is_notebook(entry.path) ? "notebook"
                                                       : "file";
    Json model = {{"name", entry.name()},
                  {"path", entry.path},
                  {"type", type},
                  {"writable", entry.writable},
                  {"created", iso8601(entry.modified)},
                  {"last_modified", iso8601(entry.modified)},
                  {"size", directory ? Json() : Json(entry.size)},
                  {"mimetype", nullptr},
                  {"content", nullptr},
                  {"format", nullptr}};
    return model;
}

Result<void> add_listing(const ContentsFolder& folder, const std::string& path, Json& model) {
    CB_TRY_ASSIGN(entries, folder.list(path));
    Json list = Json::array();
    for (const FolderEntry& entry : entries) list.push_back(model_of(entry));
    model["content"] = std::move(list);
    model["format"] = "json";
    return {};
}

Result<void> add_notebook(const std::string& text, Json& model) {
    auto notebook = parse_json(text, JsonLimits{limits::http_json_body_max_bytes}, "the notebook");
    if (!notebook || !notebook->is_object()) {
        return bad("Unreadable Notebook: " + model["path"].get<std::string>());
    }
    model["content"] = std::move(*notebook);
    model["format"] = "json";
    return {};
}

Result<void> add_file(const std::string& text, const std::string& format, Json& model) {
    const bool is_text = is_valid_utf8(text);
    if (format == "text" && !is_text) {
        return bad(model["path"].get<std::string>() + " is not UTF-8 encoded");
    }
    const bool as_text = is_text && format != "base64";
    model["content"] = as_text ? text : base64_encode(as_bytes(text));
    model["format"] = as_text ? "text" : "base64";
    model["mimetype"] = as_text ? "text/plain" : "application/octet-stream";
    return {};
}

// What a model's content is as a file.
Result<std::string> bytes_of(const Json& model, const std::string& type,
                             const std::string& format) {
    const auto content = model.find("content");
    if (content == model.end() || content->is_null()) return bad("No file content provided");
    if (type == "notebook") {
        if (!content->is_object()) return bad("the content of a notebook must be an object");
        return content->dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    }
    if (!content->is_string()) return bad("the content of a file must be a string");
    std::string text = content->get<std::string>();
    if (format != "base64") return text;
    CB_TRY_ASSIGN(decoded, base64_decode(text));
    return std::string(as_text(decoded));
}

Result<std::string> free_name(const ContentsFolder& folder, const std::string& directory,
                              std::string_view stem, std::string_view extension) {
    for (int i = 0; i < untitled_max; ++i) {
        std::string name(stem);
        if (i > 0) name += std::to_string(i);
        name += extension;
        const std::string path = joined(directory, name);
        const auto there = folder.stat(path);
        if (there) continue;
        if (there.error().code != ErrorCode::not_found) return fail(there.error());
        return path;
    }
    return fail(ErrorCode::conflict, "there are too many untitled files in " + directory);
}

Result<std::string> copy(const ContentsFolder& folder, const std::string& from,
                         const std::string& directory) {
    CB_TRY(check_contents_path(from));
    CB_TRY_ASSIGN(text, folder.read(from, limits::file_transfer_max_bytes));
    const std::string name = from.substr(from.rfind('/') + 1);
    const std::size_t dot = std::min(name.rfind('.'), name.size());
    CB_TRY_ASSIGN(to,
                  free_name(folder, directory, name.substr(0, dot) + "-Copy", name.substr(dot)));
    CB_TRY(folder.write(to, text));
    return to;
}

// "a/b.ipynb" -> "a/.ipynb_checkpoints/b-checkpoint.ipynb"
std::string checkpoint_path(const std::string& path) {
    const std::string name = path.substr(path.rfind('/') + 1);
    const std::size_t dot = std::min(name.rfind('.'), name.size());
    const std::string kept = name.substr(0, dot) + "-checkpoint" + name.substr(dot);
    return joined(joined(parent_of(path), checkpoint_folder), kept);
}

Json checkpoint_model(const FolderEntry& entry) {
    return Json{{"id", checkpoint_id}, {"last_modified", iso8601(entry.modified)}};
}

Result<void> check_checkpoint_id(const std::string& id) {
    if (id == checkpoint_id) return {};
    return fail(ErrorCode::not_found, "No such checkpoint: " + id);
}

}  // namespace

Result<Json> read_model(const ContentsFolder& folder, const std::string& path,
                        const ContentsQuery& query) {
    CB_TRY_ASSIGN(entry, folder.stat(path));
    Json model = model_of(entry);
    const bool directory = entry.kind == EntryKind::directory;
    if (!query.type.empty() && (query.type == "directory") != directory) {
        return bad(path + " is not a " + query.type);
    }
    if (query.type == "notebook" || query.type == "file") model["type"] = query.type;
    if (query.content == WithContent::no) return model;
    if (directory) {
        CB_TRY(add_listing(folder, path, model));
        return model;
    }
    CB_TRY_ASSIGN(text, folder.read(path, limits::http_json_body_max_bytes));
    if (model["type"] == "notebook") {
        CB_TRY(add_notebook(text, model));
    } else {
        CB_TRY(add_file(text, query.format, model));
    }
    return model;
}

Result<Saved> save_model(const ContentsFolder& folder, const std::string& path, const Json& model) {
    if (!model.is_object()) return bad("the body must be a JSON object");
    CB_TRY_ASSIGN(type, required_string(model, "type"));
    CB_TRY_ASSIGN(format, optional_string(model, "format"));
    const bool exists = folder.stat(path).has_value();
    if (type == "directory") {
        CB_TRY(folder.make_directory(path));
    } else if (type == "notebook" || type == "file") {
        CB_TRY_ASSIGN(bytes, bytes_of(model, type, format.value_or("text")));
        CB_TRY(folder.write(path, bytes));
    } else {
        return bad("Unhandled contents type: " + type);
    }
    return exists ? Saved::replaced : Saved::created;
}

Result<std::string> make_untitled(const ContentsFolder& folder, const std::string& directory,
                                  const Json& wanted) {
    if (!wanted.is_object()) return bad("the body must be a JSON object");
    CB_TRY_ASSIGN(copy_from, optional_string(wanted, "copy_from"));
    CB_TRY_ASSIGN(type, optional_string(wanted, "type"));
    CB_TRY_ASSIGN(extension, optional_string(wanted, "ext"));
    if (copy_from) return copy(folder, *copy_from, directory);
    if (type == "directory") {
        CB_TRY_ASSIGN(path, free_name(folder, directory, "Untitled Folder", ""));
        CB_TRY(folder.make_directory(path));
        return path;
    }
    const bool notebook = type == "notebook" || extension == ".ipynb";
    const std::string ending = notebook ? ".ipynb" : extension.value_or("");
    if (ending.find('/') != std::string::npos) return bad("field 'ext' must not have a slash");
    CB_TRY_ASSIGN(path, free_name(folder, directory, notebook ? "Untitled" : "untitled", ending));
    const Json empty = {{"cells", Json::array()},
                        {"metadata", Json::object()},
                        {"nbformat", 4},
                        {"nbformat_minor", 5}};
    CB_TRY(folder.write(path, notebook ? empty.dump(1) + "\n" : std::string()));
    return path;
}

Result<Json> make_checkpoint(const ContentsFolder& folder, const std::string& path) {
    CB_TRY_ASSIGN(text, folder.read(path, limits::file_transfer_max_bytes));
    const std::string kept = checkpoint_path(path);
    CB_TRY(folder.make_directory(parent_of(kept)));
    CB_TRY(folder.write(kept, text));
    CB_TRY_ASSIGN(entry, folder.stat(kept));
    return checkpoint_model(entry);
}

Result<Json> list_checkpoints(const ContentsFolder& folder, const std::string& path) {
    CB_TRY(folder.stat(path));
    Json list = Json::array();
    const auto entry = folder.stat(checkpoint_path(path));
    if (entry) list.push_back(checkpoint_model(*entry));
    return list;
}

Result<void> restore_checkpoint(const ContentsFolder& folder, const std::string& path,
                                const std::string& id) {
    CB_TRY(check_checkpoint_id(id));
    CB_TRY_ASSIGN(text, folder.read(checkpoint_path(path), limits::file_transfer_max_bytes));
    return folder.write(path, text);
}

Result<void> remove_checkpoint(const ContentsFolder& folder, const std::string& path,
                               const std::string& id) {
    CB_TRY(check_checkpoint_id(id));
    return folder.remove(checkpoint_path(path));
}

}  // namespace cellblock::gateway::jupyter
