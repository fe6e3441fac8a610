#include "gateway/cli/cell_printer.h"

#include <unistd.h>

#include <utility>

#include "artifacts/aligned_text.h"
#include "artifacts/table.h"
#include "base/base64.h"
#include "base/bytes.h"
#include "base/files.h"
#include "base/limits.h"

namespace cellblock::gateway::cli {
namespace {

std::string field(const Json& line, const char* name) {
    const auto at = line.find(name);
    return at != line.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// What a cell prints may go to a terminal: escape sequences and other controls of the guest must
// not steer it. Colours are lost with them.
std::string without_controls(const std::string& text) {
    std::string clean;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto u = static_cast<unsigned char>(text[i]);
        if (u == 0x1b) {
            // CSI: ESC [ parameters final. Others: drop ESC alone.
            if (i + 1 < text.size() && text[i + 1] == '[') {
                i += 2;
                while (i < text.size() && (text[i] < 0x40 || text[i] > 0x7e)) ++i;
            }
            continue;
        }
        const bool control = (u < 0x20 && u != '\n' && u != '\t' && u != '\r') || u == 0x7f;
        // U+0080..U+009F, which some terminals take for controls.
        const bool high =
            u == 0xc2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
        if (high) ++i;
        if (!control && !high) clean += text[i];
    }
    return clean;
}

}  // namespace

CellPrinter::CellPrinter(PrinterOptions options, std::FILE* out, std::FILE* err)
    : options_(std::move(options)), out_(out), err_(err) {}

void CellPrinter::print(std::FILE* to, const std::string& text) {
    const bool terminal = ::isatty(::fileno(to)) == 1;
    const std::string shown = terminal ? without_controls(text) : text;
    std::fwrite(shown.data(), 1, shown.size(), to);
    std::fflush(to);
    if (to == out_ && !text.empty()) out_at_line_start_ = text.back() == '\n';
}

void CellPrinter::feed(std::string_view bytes) {
    partial_.append(bytes);
    std::size_t begin = 0;
    while (true) {
        const std::size_t end = partial_.find('\n', begin);
        if (end == std::string::npos) break;
        line(std::string_view(partial_).substr(begin, end - begin));
        begin = end + 1;
    }
    partial_.erase(0, begin);
}

void CellPrinter::line(std::string_view text) {
    const auto parsed = parse_json(text, JsonLimits{256 * limits::MiB}, "a line of the answer");
    if (!parsed || !parsed->is_object()) return;
    const std::string type = field(*parsed, "type");
    if (type != "artifact") flush_text();
    if (type == "stdout") print(out_, field(*parsed, "text"));
    if (type == "stderr") print(err_, field(*parsed, "text"));
    if (type == "result" || type == "display_update") result(*parsed);
    if (type == "artifact") artifact(*parsed);
    if (type == "error") error(*parsed);
    if (type == "truncated") {
        print(err_, "[output cut: " + parsed->value("total_bytes", Json(0)).dump() +
                        " bytes in all; the rest is an artifact of the gateway]\n");
    }
    if (type == "detached") {
        print(err_, "[the code goes on as job " + field(*parsed, "job_id") +
                        ": cellblock jobs get " + field(*parsed, "job_id") + "]\n");
    }
    if (type == "detach_failed") {
        print(err_, "[the code cannot go on as a job: " + field(*parsed, "reason") + "]\n");
    }
    if (type == "end_of_execution") ended_ = true;
}

void CellPrinter::save(const Json& content, const char* extension, bool base64) {
    std::string bytes = content.get<std::string>();
    if (base64) {
        const auto decoded = base64_decode(bytes);
        if (!decoded) return;
        bytes = std::string(as_text(*decoded));
    }
    const std::filesystem::path file =
        options_.folder / ("output-" + std::to_string(++files_) + "." + extension);
    auto saved = make_directories(options_.folder);
    if (saved) saved = write_file_atomically(file, bytes);
    if (!saved) {
        print(err_, "cellblock: " + saved.error().text() + "\n");
        return;
    }
    if (!out_at_line_start_) print(out_, "\n");
    print(out_, "[" + std::string(extension) + "] " + file.string() + "\n");
}

void CellPrinter::result(const Json& line) {
    struct Format {
        const char* field;
        const char* extension;
        bool base64;
    };
    // One picture a result: the formats are the same picture.
    for (const Format& format : {Format{"png", "png", true}, Format{"jpeg", "jpeg", true},
                                 Format{"svg", "svg", false}, Format{"pdf", "pdf", true}}) {
        const auto at = line.find(format.field);
        if (at == line.end() || !at->is_string()) continue;
        save(*at, format.extension, format.base64);
        return;
    }
    // Text beside HTML may be a table's: its artifact, which follows at once, says more.
    if (line.contains("html")) {
        waiting_ = line;
    } else {
        text(line);
    }
}

void CellPrinter::print_block(const std::string& text) {
    if (!out_at_line_start_) print(out_, "\n");
    print(out_, text);
}

void CellPrinter::flush_text() {
    if (waiting_) text(*std::exchange(waiting_, std::nullopt));
}

void CellPrinter::text(const Json& line) {
    for (const char* name : {"text", "markdown", "latex"}) {
        const std::string text = field(line, name);
        if (!text.empty()) return print_block(text + "\n");
    }
    if (const auto at = line.find("html"); at != line.end() && at->is_string()) {
        save(*at, "html", false);
        return;
    }
    if (const auto at = line.find("json"); at != line.end()) print(out_, dump_ascii(*at) + "\n");
}

void CellPrinter::artifact(const Json& line) {
    const std::string kind = field(line, "kind");
    const std::string url = field(line, "url");
    if (kind == "chart") return chart(url);
    const Json preview = line.value("preview", Json::object());
    // The full data of a chart is a table too, but not what the result shows.
    if (kind == "table" && waiting_ && !preview.contains("of")) {
        const auto table = artifacts::parse_table_summary(preview);
        if (table) {
            waiting_.reset();
            artifacts::AlignedOptions aligned;
            aligned.width = options_.columns;
            print_block(artifacts::to_aligned_text(*table, aligned));
        }
    }
    // Pictures are saved from their results; tables and files are named, to be fetched.
    if (kind == "image") return;
    flush_text();
    const std::string where = url.substr(0, 1) == "/" ? options_.base_url + url : url;
    print(err_, "[" + kind + "] " + field(line, "name") + " " + where + "\n");
}

void CellPrinter::chart(const std::string& url) {
    if (!options_.fetch) return;
    const auto plot =
        options_.fetch(url + "/chart?format=text&columns=" + std::to_string(options_.columns) +
                       (options_.is_colored ? "&color=1" : ""));
    // The gateway's own text: its colours go to the terminal as they are.
    if (plot) {
        if (!out_at_line_start_) print(out_, "\n");
        std::fwrite(plot->data(), 1, plot->size(), out_);
        std::fflush(out_);
        out_at_line_start_ = plot->empty() || plot->back() == '\n';
    }
}

void CellPrinter::error(const Json& line) {
    failed_ = true;
    if (!out_at_line_start_) print(out_, "\n");
    const std::string summary = field(line, "name") + ": " + field(line, "value");
    std::string traceback = field(line, "traceback");
    if (traceback.find(field(line, "name")) == std::string::npos) {
        traceback += (traceback.empty() ? "" : "\n") + summary;
    }
    print(err_, traceback + "\n");
}

}  // namespace cellblock::gateway::cli
