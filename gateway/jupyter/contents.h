// The models of the contents API, between JSON and a folder. Blocking: for the worker pool.
//
// Shapes and codes are jupyter_server's. A checkpoint is a copy in a folder of our own, which has a
// hidden name: one a file, as jupyter_server keeps them.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "gateway/jupyter/contents_folder.h"

namespace cellblock::gateway::jupyter {

enum class WithContent { no, yes };

// What GET asks for; empty: as it is.
struct ContentsQuery {
    std::string type;    // "notebook", "file", "directory"
    std::string format;  // "text", "base64", "json"
    WithContent content = WithContent::yes;

    ContentsQuery() = default;
};

Result<Json> read_model(const ContentsFolder& folder, const std::string& path,
                        const ContentsQuery& query);

enum class Saved { created, replaced };
// PUT: {"type", "format"?, "content"?}. The file's model without its content comes from read_model.
Result<Saved> save_model(const ContentsFolder& folder, const std::string& path, const Json& model);

// POST: {"type"?, "ext"?} or {"copy_from"}; the path of what was made in `directory`.
Result<std::string> make_untitled(const ContentsFolder& folder, const std::string& directory,
                                  const Json& wanted);

// Checkpoints.
Result<Json> make_checkpoint(const ContentsFolder& folder, const std::string& path);
Result<Json> list_checkpoints(const ContentsFolder& folder, const std::string& path);
Result<void> restore_checkpoint(const ContentsFolder& folder, const std::string& path,
                                const std::string& id);
Result<void> remove_checkpoint(const ContentsFolder& folder, const std::string& path,
                               const std::string& id);

}  // namespace cellblock::gateway::jupyter
