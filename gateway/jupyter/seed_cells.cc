// What of gateway/jupyter/seed.h needs no kernel.
#include "base/json.h"
#include "base/limits.h"
#include "gateway/jupyter/kernelspecs.h"
#include "gateway/jupyter/seed.h"

namespace cellblock::gateway::jupyter {
namespace {

constexpr std::int64_t known_format = 4;

// A text, or its lines.
Result<std::string> source_of(const Json& cell) {
    const auto at = cell.find("source");
    if (at == cell.end() || !at->is_array()) return required_string(cell, "source");
    std::string source;
    for (const Json& line : *at) {
        if (!line.is_string()) {
            return fail(ErrorCode::invalid_argument, "a line of a cell is not a string");
        }
        source += line.get_ref<const std::string&>();
    }
    return source;
}

Result<void> check_kernelspec(const Json& notebook) {
    const auto metadata = notebook.find("metadata");
    if (metadata == notebook.end() || !metadata->is_object()) return {};
    const auto spec = metadata->find("kernelspec");
    if (spec == metadata->end() || !spec->is_object()) return {};
    CB_TRY_ASSIGN(name, optional_string(*spec, "name"));
    if (!name || is_python_kernel(*name)) return {};
    return fail(ErrorCode::invalid_argument,
                "NoSuchKernel: the seed notebook is for the kernel '" + *name + "'");
}

}  // namespace

Result<std::vector<std::string>> seed_cells(std::string_view text) {
    constexpr JsonLimits json_limits{limits::http_json_body_max_bytes};
    CB_TRY_ASSIGN(notebook, parse_json(text, json_limits, "the seed notebook"));
    if (!notebook.is_object()) {
        return fail(ErrorCode::invalid_argument, "the seed notebook is not a JSON object");
    }
    CB_TRY_ASSIGN(format, optional_integer(notebook, "nbformat"));
    const auto all = notebook.find("cells");
    if (format != known_format || all == notebook.end() || !all->is_array()) {
        return fail(ErrorCode::invalid_argument, "the seed notebook is not of nbformat 4",
                    "convert it: jupyter nbconvert --to notebook");
    }
    CB_TRY(check_kernelspec(notebook));
    std::vector<std::string> cells;
    for (const Json& cell : *all) {
        if (!cell.is_object() || cell.value("cell_type", Json()) != "code") continue;
        CB_TRY_ASSIGN(source, source_of(cell));
        cells.push_back(std::move(source));
    }
    return cells;
}

}  // namespace cellblock::gateway::jupyter
