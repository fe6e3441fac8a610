#include "artifacts/capture.h"

#include <array>
#include <utility>

#include "artifacts/changed_files.h"
#include "artifacts/chart_part.h"
#include "artifacts/image_info.h"
#include "artifacts/text.h"
#include "base/base64.h"
#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

// How E2B names the MIME types it knows. `text` fields must be strings: its Python client
// indexes them without looking.
struct TextField {
    std::string_view mime;
    std::string_view field;
};
constexpr std::array text_fields = {
    TextField{"text/plain", "text"},
    TextField{"text/html", "html"},
    TextField{"text/markdown", "markdown"},
    TextField{"image/svg+xml", "svg"},
    TextField{"image/png", "png"},
    TextField{"image/jpeg", "jpeg"},
    TextField{"application/pdf", "pdf"},
    TextField{"text/latex", "latex"},
    TextField{"application/javascript", "javascript"},
};

constexpr std::string_view e2b_data_mime = "e2b/data";
constexpr std::string_view e2b_chart_mime = "e2b/chart";
constexpr std::string_view our_prefix = "application/vnd.cellblock.";

class Capture {
  public:
    Capture(const Json& data, const Json& metadata, std::size_t number)
        : data_(data), metadata_(metadata), number_(number) {}

    Captured run() {
        out_.result_fields["extra"] = Json::object();
        if (!data_.is_object()) {
            if (!data_.is_null()) warn("a display whose data is no object");
            return std::move(out_);
        }
        std::size_t seen = 0;
        for (const auto& [mime, value] : data_.items()) {
            if (++seen > limits::bundle_mime_types_max) {
                warn("a display of " + std::to_string(data_.size()) +
                     " MIME types; only the first " +
                     std::to_string(limits::bundle_mime_types_max) + " were taken");
                break;
            }
            take(mime, value);
        }
        finish_table();
        finish_html();
        finish_alt();
        if (data_.size() == 1 && data_.contains(files_mime)) out_.result_fields = nullptr;
        return std::move(out_);
    }

  private:
    void warn(std::string warning) { out_.warnings.push_back(std::move(warning)); }
    Json& fields() { return out_.result_fields; }

    void take(const std::string& mime, const Json& value) {
        for (const TextField& known : text_fields) {
            if (known.mime == mime) return take_text(known, value);
        }
        if (mime == "application/json") {
            fields()["json"] = value;
        } else if (mime == e2b_data_mime) {
            take_data(value);
        } else if (mime == e2b_chart_mime) {
            // Ours, derived from the full model, is preferred: see take_chart().
            if (value.is_object() && !value.empty() && !fields().contains("chart")) {
                fields()["chart"] = value;
            }
        } else if (mime == table_mime) {
            take_table(value);
        } else if (mime == chart_mime) {
            take_chart(value);
        } else if (mime == files_mime) {
            take_files(value);
        } else if (mime.starts_with(our_prefix)) {
            warn("unknown MIME type " + one_line(mime, 100));
        } else {
            take_other(mime, value);
        }
    }

    void take_text(const TextField& known, const Json& value) {
        std::string text;
        if (value.is_string()) {
            text = value.get_ref<const std::string&>();
        } else if (value.is_array()) {  // a notebook's way to write lines
            for (const Json& line : value) {
                if (line.is_string()) text += line.get_ref<const std::string&>();
            }
        } else {
            warn(std::string(known.mime) + " was no text");
            return;
        }
        if (known.field == "text") text = std::string(strip_quotes(text));
        if (known.field == "png" || known.field == "jpeg") add_picture(known, text);
        if (known.field == "pdf") add_pdf(text);
        if (known.field == "svg") add_svg(text);
        fields()[std::string(known.field)] = std::move(text);
    }

    PendingArtifact pending(ArtifactKind kind, std::string_view mime, std::string_view field,
                            std::string_view stem) const {
        PendingArtifact artifact;
        artifact.kind = kind;
        artifact.mime = mime;
        artifact.field = field;
        artifact.name =
            std::string(stem) + "-" + std::to_string(number_) + std::string(extension_of(mime));
        return artifact;
    }

    // What IPython's metadata says of one MIME type, e.g. {"width": 640}.
    const Json& metadata_of(std::string_view mime) const {
        static const Json none = Json::object();
        if (!metadata_.is_object()) return none;
        const auto at = metadata_.find(mime);
        return at != metadata_.end() && at->is_object() ? *at : none;
    }

    void add_alt(PendingArtifact& artifact, std::string_view mime) const {
        const auto at = metadata_of(mime).find("alt");
        if (at != metadata_of(mime).end() && at->is_string()) {
            artifact.preview["alt"] =
                one_line(at->get_ref<const std::string&>(), limits::table_text_max_bytes);
        }
    }

    void add_picture(const TextField& known, const std::string& text) {
        auto bytes = base64_decode(text);
        if (!bytes) {
            warn(std::string(known.mime) + ": " + bytes.error().cause);
            return;
        }
        const auto info = sniff_image(*bytes);
        // The content decides: what is no picture is not served as one.
        PendingArtifact artifact =
            info ? pending(ArtifactKind::image, mime_of(info->format), known.field, "image")
                 : pending(ArtifactKind::file, "application/octet-stream", known.field, "file");
        if (!info) warn(std::string(known.mime) + " that is no such picture");
        if (info && info->width > 0) {
            artifact.preview["width"] = info->width;
            artifact.preview["height"] = info->height;
        }
        add_alt(artifact, known.mime);
        artifact.bytes = std::move(*bytes);
        out_.artifacts.push_back(std::move(artifact));
    }

    void add_pdf(const std::string& text) {
        auto bytes = base64_decode(text);
        if (!bytes || !as_text(*bytes).starts_with("%PDF-")) {
            warn("application/pdf that is no PDF");
            return;
        }
        PendingArtifact artifact =
            pending(ArtifactKind::file, "application/pdf", "pdf", "document");
        artifact.bytes = std::move(*bytes);
        out_.artifacts.push_back(std::move(artifact));
    }

    void add_svg(const std::string& text) {
        PendingArtifact artifact = pending(ArtifactKind::image, "image/svg+xml", "svg", "image");
        if (const auto size = sniff_svg(text)) {
            artifact.preview["width"] = size->width;
            artifact.preview["height"] = size->height;
        }
        add_alt(artifact, "image/svg+xml");
        artifact.bytes = to_bytes(text);
        out_.artifacts.push_back(std::move(artifact));
    }

    void take_data(const Json& value) {
        if (value.is_object()) {
            fields()["data"] = value;
        } else {
            warn("e2b/data that is no object");
        }
    }

    void take_table(const Json& value) {
        auto table = parse_table(value);
        if (!table) {
            warn(table.error().cause);
            return;
        }
        // What a guest sends when it could not read the table at all: only the reason.
        if (table->columns.empty() && table->partial) {
            warn(table->reason);
            return;
        }
        out_.table = std::move(*table);
    }

    void take_chart(const Json& value) {
        auto chart = read_chart(value);
        if (!chart) {
            warn(chart.error().cause);
            return;
        }
        PendingArtifact artifact = pending(ArtifactKind::chart, chart_mime, "chart", "chart");
        artifact.bytes = to_bytes(dump_ascii(chart->model));
        artifact.preview["title"] = chart->title;
        artifact.preview["type"] = chart->e2b.value("type", "unknown");
        artifact.preview["description"] = chart->description;
        out_.artifacts.push_back(std::move(artifact));
        out_.chart_description = std::move(chart->description);
        alt_ = std::move(chart->alt);
        fields()["chart"] = std::move(chart->e2b);
        take_chart_data(value);
    }

    void take_chart_data(const Json& chart) {
        auto data = read_chart_data(chart);
        if (!data) return warn(data.error().cause);
        if (!*data) return;
        PendingArtifact artifact = table_data((*data)->table, "");
        artifact.name =
            "chart-" + std::to_string(number_) + "-data" + std::string(extension_of(artifact.mime));
        artifact.preview["of"] = "chart";
        artifact.preview["layers"] = std::move((*data)->layers);
        out_.artifacts.push_back(std::move(artifact));
    }

    // Kept in the order of their names, as far as the room goes; the others stay in the sandbox.
    void take_files(const Json& value) {
        auto changed = parse_changed_files(value);
        if (!changed) {
            warn(changed.error().cause);
            return;
        }
        std::uint64_t room = limits::changed_files_max_bytes;
        for (ChangedFile& file : changed->files) {
            if (file.size_bytes > room) {
                out_.notices.push_back("the file " + one_line(file.path, 200) + " (" +
                                       readable_size(file.size_bytes) +
                                       ") was not kept as an artifact; fetch it from the sandbox");
                continue;
            }
            room -= file.size_bytes;
            add_file(std::move(file));
        }
        if (changed->more > 0) {
            out_.notices.push_back(std::to_string(changed->more) +
                                   " more files were made or changed in the working directory");
        }
        if (changed->unseen) {
            out_.notices.emplace_back(
                "the working directory holds too many files to look for new ones after each cell: "
                "fetch them from the sandbox, or work in a folder of its own");
        }
    }

    void add_file(ChangedFile file) {
        PendingArtifact artifact;
        artifact.kind = ArtifactKind::file;
        artifact.mime = std::move(file.mime);
        artifact.field = "file";
        artifact.name = safe_name(file.path.substr(file.path.rfind('/') + 1), "file");
        artifact.preview["path"] = one_line(file.path, limits::file_path_max_bytes);
        artifact.preview["change"] = file.size_before_bytes ? "changed" : "new";
        if (file.size_before_bytes) artifact.preview["size_before"] = *file.size_before_bytes;
        artifact.guest_path = std::move(file.path);
        artifact.guest_copy = GuestCopy::stays;
        out_.artifacts.push_back(std::move(artifact));
    }

    // Everything else goes to `extra` as it came; pictures of other formats are kept besides.
    void take_other(const std::string& mime, const Json& value) {
        fields()["extra"][mime] = value;
        if (!value.is_string() || (mime != "image/gif" && mime != "image/webp")) return;
        add_picture(TextField{mime, mime == "image/gif" ? "gif" : "webp"},
                    value.get_ref<const std::string&>());
    }

    // A table's full data lies in the guest, or came along.
    PendingArtifact table_data(const Table& table, std::string_view field) const {
        std::string_view mime = table_mime;
        if (table.data) {
            mime = table.data->format == "arrow" ? "application/vnd.apache.arrow.file" : "text/csv";
        }
        PendingArtifact artifact = pending(ArtifactKind::table, mime, field, "table");
        artifact.preview = table_summary(table, limits::artifact_metadata_max_bytes / 4);
        if (table.data) {
            artifact.bytes = table.data->content;
            artifact.guest_path = table.data->path;
        }
        return artifact;
    }

    // After all parts: without full data, a table's preview is all there is.
    void finish_table() {
        if (!out_.table) return;
        PendingArtifact artifact = table_data(*out_.table, "table");
        if (!out_.table->data) {
            artifact.bytes = to_bytes(dump_ascii(data_.at(std::string(table_mime))));
        }
        out_.artifacts.push_back(std::move(artifact));
    }

    // The HTML of a table says nothing that is not stored already.
    void finish_html() {
        const auto html = fields().find("html");
        if (html == fields().end() || out_.table) return;
        PendingArtifact artifact = pending(ArtifactKind::html, "text/html", "html", "page");
        artifact.bytes = to_bytes(html->get_ref<const std::string&>());
        out_.artifacts.push_back(std::move(artifact));
    }

    // A chart says what its picture shows, where the picture itself does not.
    void finish_alt() {
        for (PendingArtifact& artifact : out_.artifacts) {
            if (artifact.kind != ArtifactKind::image || alt_.empty()) continue;
            if (!artifact.preview.contains("alt")) artifact.preview["alt"] = alt_;
        }
    }

    const Json& data_;
    const Json& metadata_;
    const std::size_t number_;
    std::string alt_;  // of the chart
    Captured out_;
};

}  // namespace

std::string_view strip_quotes(std::string_view text) {
    if (text.size() < 2) return text;
    const char first = text.front();
    if ((first != '\'' && first != '"') || text.back() != first) return text;
    return text.substr(1, text.size() - 2);
}

Captured capture(const Json& data, const Json& metadata, std::size_t number) {
    return Capture(data, metadata, number).run();
}

}  // namespace cellblock::artifacts
