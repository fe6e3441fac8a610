#include "artifacts/llm_view.h"

#include <algorithm>
#include <utility>

#include "artifacts/markdown.h"
#include "artifacts/text.h"
#include "base/limits.h"

namespace cellblock::artifacts {
namespace {

constexpr std::size_t json_max_bytes = 4000;
constexpr std::size_t least_part_bytes = 120;  // below this a part is not begun
constexpr std::size_t alt_max_bytes = 600;
constexpr std::size_t description_max_bytes = 1500;

// A fence that nothing inside can close.
std::string fence_for(std::string_view text) {
    std::size_t longest = 2;
    std::size_t run = 0;
    for (const char c : text) {
        run = c == '`' ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return std::string(longest + 1, '`');
}

// The text in a fence, all within max_bytes; "" when there is no room for anything sensible.
std::string fenced(std::string_view text, std::string_view language, std::size_t max_bytes,
                   std::uint64_t total_bytes = 0) {
    const std::string fence = fence_for(text);
    const std::size_t frame = fence.size() * 2 + language.size() + 3;
    if (max_bytes < frame + 40) return "";
    std::string body =
        head_and_tail(text, max_bytes - frame, std::max<std::uint64_t>(total_bytes, text.size()));
    if (body.empty() || body.back() != '\n') body += '\n';
    return fence + std::string(language) + "\n" + body + fence + "\n";
}

// The last lines of a traceback: what failed is at its end.
std::string last_frames(const std::string& traceback, std::size_t max_bytes) {
    const std::string text = settled_text(traceback);
    if (text.size() <= max_bytes) return text;
    constexpr std::string_view notice = "[… earlier frames left out …]\n";
    if (max_bytes <= notice.size()) return "";
    std::string_view tail = cut_utf8_front(text, max_bytes - notice.size());
    const std::size_t line = tail.find('\n');
    if (line != std::string_view::npos && line + 1 < tail.size()) tail.remove_prefix(line + 1);
    return std::string(notice) + std::string(tail);
}

std::string error_part(const LlmError& error, std::size_t max_bytes) {
    std::string part = "## Error\n\n";
    const std::size_t head_max = max_bytes / 2;
    part += "**" + escape_markdown(one_line(error.name, 200)) +
            "**: " + escape_markdown(one_line(error.value, head_max > 300 ? head_max - 250 : 50)) +
            "\n\n";
    if (error.traceback.empty() || part.size() + least_part_bytes > max_bytes) return part;
    const std::string frames = last_frames(error.traceback, max_bytes - part.size() - 40);
    return part + fenced(frames, "", max_bytes - part.size() - 1) + "\n";
}

std::string reference(const Artifact& artifact, const std::string& url_prefix) {
    return escape_markdown(artifact.info.name) + " (" + readable_size(artifact.size_bytes) +
           "): " + url_prefix + artifact.id;
}

std::string pixels(const Json& preview) {
    const auto width = preview.find("width");
    const auto height = preview.find("height");
    if (width == preview.end() || height == preview.end()) return "";
    return ", " + cell_text(*width) + "×" + cell_text(*height) + " pixels";
}

const Artifact* stored_of(const LlmResult& result, const PendingArtifact& pending) {
    for (const Artifact& artifact : result.artifacts) {
        if (artifact.info.name == pending.name) return &artifact;
    }
    return nullptr;
}

// One line for each picture, page, file and chart: what it is and where.
std::string references_part(const LlmResult& result, const std::string& url_prefix) {
    std::string part;
    const Captured& captured = *result.captured;
    for (const PendingArtifact& pending : captured.artifacts) {
        const Artifact* stored = stored_of(result, pending);
        std::string line = "- " + std::string(to_string(pending.kind));
        if (pending.kind == ArtifactKind::image) line += pixels(pending.preview);
        const auto alt = pending.preview.find("alt");
        if (alt != pending.preview.end() && alt->is_string()) {
            line +=
                ", \"" + escape_markdown(one_line(alt->get<std::string>(), alt_max_bytes)) + "\"";
        }
        line += stored ? ", " + reference(*stored, url_prefix) : ", not stored";
        part += line + "\n";
    }
    if (!captured.chart_description.empty()) {
        part += "\n" +
                escape_markdown(one_line(captured.chart_description, description_max_bytes)) + "\n";
    }
    return part;
}

std::string table_part(const Table& table, std::size_t max_bytes) {
    // A table that is not shown whole is worth its schema too.
    const bool whole = table.rows_total == table.preview.size() && !table.partial;
    MarkdownOptions options;
    options.max_bytes = whole ? max_bytes : max_bytes * 3 / 5;
    std::string part = to_markdown(table, options);
    if (whole || part.size() + least_part_bytes > max_bytes) return part;
    constexpr std::string_view heading = "\nColumns:\n\n";
    const std::string columns_part =
        columns_as_markdown(table, max_bytes - part.size() - heading.size());
    return columns_part.empty() ? part : part + std::string(heading) + columns_part;
}

std::string string_field(const Json& fields, const char* name) {
    const auto at = fields.find(name);
    return at != fields.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// The one form of a result that says most in text.
std::string body_part(const Captured& captured, std::size_t max_bytes) {
    if (captured.table) return table_part(*captured.table, max_bytes);
    const Json& fields = captured.result_fields;
    const std::string markdown = string_field(fields, "markdown");
    if (!markdown.empty()) return fenced(clean_lines(markdown), "markdown", max_bytes);
    const std::string latex = string_field(fields, "latex");
    if (!latex.empty()) return fenced(clean_lines(latex), "latex", max_bytes);
    const std::string text = settled_text(string_field(fields, "text"));
    const bool only_names_it = !captured.artifacts.empty() && text.size() < 200 &&
                               text.starts_with('<') && text.ends_with('>');
    if (!text.empty() && !only_names_it) return fenced(text, "", max_bytes);
    const auto json = fields.find("json");
    if (json != fields.end()) {
        return fenced(dump_ascii(*json), "json", std::min(max_bytes, json_max_bytes));
    }
    return "";
}

std::string result_part(const LlmResult& result, const std::string& url_prefix,
                        std::size_t max_bytes) {
    std::string part = result.is_main_result ? "## Result\n\n" : "## Display\n\n";
    if (result.captured->result_fields.is_null()) part = "## Files\n\n";
    const std::string references = references_part(result, url_prefix);
    if (part.size() + references.size() + 2 > max_bytes) {
        return std::string(cut_utf8(part + references, max_bytes > 0 ? max_bytes - 1 : 0)) + "\n";
    }
    const std::size_t room = max_bytes - part.size() - references.size() - 2;
    const std::string body = room < least_part_bytes ? "" : body_part(*result.captured, room);
    part += body;
    if (!body.empty() && !references.empty()) part += "\n";
    return part + references + "\n";
}

std::string results_part(const LlmInput& input, std::size_t max_bytes) {
    std::string part;
    std::size_t shares = 0;
    for (const LlmResult& result : input.results) shares += result.is_main_result ? 3 : 1;
    for (std::size_t i = 0; i < input.results.size(); ++i) {
        constexpr std::size_t notice_bytes = 60;
        const std::size_t used = part.size() + notice_bytes;
        const std::size_t left = max_bytes > used ? max_bytes - used : 0;
        if (left < least_part_bytes) {
            return part + "[… " + with_thousands(input.results.size() - i) +
                   " more displays left out …]\n\n";
        }
        const std::size_t share = input.results[i].is_main_result ? 3 : 1;
        const std::size_t room = std::max(left * share / shares, std::min(left, least_part_bytes));
        part += result_part(input.results[i], input.url_prefix, room);
        shares -= share;
    }
    return part;
}

std::string text_part(std::string_view title, const LlmText& text, std::size_t max_bytes) {
    if (text.total_bytes == 0 && text.text.empty()) return "";
    std::string part = "## " + std::string(title);
    if (!text.url.empty()) part += " (whole: " + text.url + ")";
    part += "\n\n";
    if (part.size() + least_part_bytes > max_bytes) {
        return "## " + std::string(title) + ": " +
               with_thousands(std::max<std::uint64_t>(text.total_bytes, text.text.size())) +
               " bytes, left out\n\n";
    }
    return part + fenced(text.text, "", max_bytes - part.size() - 1, text.total_bytes) + "\n";
}

// As a terminal shows it in the end. What settling takes away (progress bars' trails) is not left
// out: only what is not at hand counts as missing, and only what is shown has a share.
LlmText settled(const LlmText& text) {
    LlmText shown = text;
    const std::uint64_t beyond =
        text.total_bytes > text.text.size() ? text.total_bytes - text.text.size() : 0;
    shown.text = settled_text(text.text);
    shown.total_bytes = shown.text.size() + beyond;
    return shown;
}

std::size_t wanted_bytes(const LlmText& text) {
    return text.text.empty() ? 0 : text.text.size() + 100;
}

}  // namespace

std::string llm_view(const LlmInput& input, std::size_t max_bytes) {
    max_bytes = std::clamp(max_bytes, limits::llm_view_min_bytes, limits::llm_view_max_bytes);
    const LlmText standard_output = settled(input.standard_output);
    const LlmText standard_error = settled(input.standard_error);
    std::string files;
    for (const Artifact& artifact : input.files) {
        if (files.size() > max_bytes / 8) break;
        files += "- " + reference(artifact, input.url_prefix) + "\n";
    }
    if (!files.empty()) files = "## Files\n\n" + files + "\n";
    std::string document;
    if (input.error) document += error_part(*input.error, max_bytes * 2 / 5);
    std::size_t left = max_bytes - std::min(max_bytes, document.size() + files.size());
    // Printed text keeps a share against large results, and gets what they leave.
    const std::size_t errors_share = std::min(wanted_bytes(standard_error), left / 8);
    const std::size_t output_share = std::min(wanted_bytes(standard_output), left / 4);
    if (!input.results.empty()) {
        document += results_part(input, left - errors_share - output_share);
    }
    document += files;
    left = max_bytes - std::min(max_bytes, document.size());
    const std::size_t for_output = left > errors_share ? left - errors_share : 0;
    document += text_part("Output", standard_output, for_output);
    left = max_bytes - std::min(max_bytes, document.size());
    document += text_part("Warnings and errors (stderr)", standard_error, left);
    if (document.empty()) document = "The cell ended without output.\n";
    while (document.ends_with("\n\n")) document.pop_back();
    if (document.size() > max_bytes) document = std::string(cut_utf8(document, max_bytes));
    return document;
}

}  // namespace cellblock::artifacts
