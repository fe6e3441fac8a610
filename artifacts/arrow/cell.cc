#include "artifacts/arrow/cell.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "artifacts/arrow/calendar.h"
#include "artifacts/arrow/int128.h"
#include "artifacts/arrow/profile.h"
#include "base/hex.h"
#include "base/unicode.h"

namespace cellblock::artifacts::arrow {
namespace {

constexpr std::int64_t exact_max = std::int64_t{1} << 53;

// Escapes only what JSON forbids, and the two line separators that line-based readers stumble on.
void append_escaped(std::string& out, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const auto byte = static_cast<unsigned char>(text[at]);
        if (byte >= 0x20 && byte < 0x7F) {
            if (byte == '"' || byte == '\\') out += '\\';
            out += text[at++];
            continue;
        }
        const CodePoint c = code_point_at(text, at);
        at += c.size_bytes;
        if (c.value == '\n') {
            out += "\\n";
        } else if (c.value < 0x20 || c.value == 0x7F || c.value == 0x2028 || c.value == 0x2029) {
            out += fmt::format("\\u{:04x}", static_cast<unsigned>(c.value));
        } else {
            append_utf8(out, c.value);
        }
    }
}

void append_valid(std::string& out, std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        at += c.size_bytes;
        append_utf8(out, c.value);
    }
}

Int128 decimal_of(const Slice& slice, std::uint64_t row) {
    if (slice.field->type.width_bytes < 16) return slice.integer(row);
    return load_int128(slice.bytes(row));
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
    out += '"';
    append_escaped(out, text);
    out += '"';
}

std::string number_text(double number) {
    if (std::isnan(number)) return "";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
    std::string text(buffer, end);
    // A float says that it is one, as Python's does.
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
}

const Zone& CellWriter::zone(const std::string& name) {
    const auto known = zones_.find(name);
    if (known != zones_.end()) return known->second;
    return zones_.emplace(name, Zone::find(name)).first->second;
}

std::string CellWriter::timestamp_text(const Slice& slice, std::uint64_t row) {
    const Type& type = slice.field->type;
    Moment moment = moment_of(slice.integer(row), type.unit);
    if (type.zone.empty()) return wall_clock_text(moment);
    const std::int32_t offset_s = zone(type.zone).offset_at(moment.seconds);
    moment.seconds += offset_s;
    return wall_clock_text(moment) + offset_text(offset_s);
}

std::string CellWriter::binary_text(ByteView bytes) const {
    const std::size_t shown_max = text_max_bytes_ == 0 ? bytes.size() : text_max_bytes_ / 2;
    const ByteView shown = bytes.first(std::min(bytes.size(), shown_max));
    std::string text = "0x" + to_hex(shown);
    if (shown.size() < bytes.size()) text += fmt::format("… ({} bytes)", bytes.size());
    return text;
}

bool CellWriter::append_scalar(std::string& out, const Slice& slice, std::uint64_t row) {
    const Type& type = slice.field->type;
    switch (type.kind) {
        case TypeKind::boolean:
            out += slice.boolean(row) ? "true" : "false";
            return false;
        case TypeKind::integer: {
            const std::int64_t value = slice.integer(row);
            if (!type.is_signed && value < 0) {
                out += std::to_string(static_cast<std::uint64_t>(value));
                return true;
            }
            out += std::to_string(value);
            return value > exact_max || value < -exact_max;
        }
        case TypeKind::floating: {
            const double value = slice.floating(row);
            out += number_text(value);
            return std::isinf(value);
        }
        case TypeKind::decimal:
            out += decimal_text(decimal_of(slice, row), type.scale);
            return true;
        case TypeKind::date:
            out += date_text(type.in_days ? slice.integer(row)
                                          : floor_div(slice.integer(row), 86'400'000));
            return true;
        case TypeKind::time:
            out += time_text(moment_of(slice.integer(row), type.unit));
            return true;
        case TypeKind::timestamp:
            out += timestamp_text(slice, row);
            return true;
        case TypeKind::duration:
            out += duration_text(slice.integer(row), type.unit);
            return true;
        case TypeKind::month_interval: {
            const std::byte* at = slice.bytes(row).data();
            out += month_interval_text(static_cast<std::int32_t>(load_le<std::uint32_t>(at)),
                                       static_cast<std::int32_t>(load_le<std::uint32_t>(at + 4)),
                                       static_cast<std::int64_t>(load_le<std::uint64_t>(at + 8)));
            return true;
        }
        case TypeKind::binary:
        case TypeKind::fixed_binary:
            out += binary_text(slice.bytes(row));
            return true;
        default:
            return true;
    }
}

void CellWriter::append_quoted(std::string& out, std::string_view text) const {
    const bool cut = text_max_bytes_ > 0 && text.size() > text_max_bytes_;
    out += '"';
    append_escaped(out, cut ? cut_utf8(text, text_max_bytes_) : text);
    out += cut ? "…\"" : "\"";
}

void CellWriter::append_list(std::string& out, const Slice& child, std::uint64_t begin,
                             std::uint64_t end) {
    const std::size_t start = out.size();
    out += '[';
    for (std::uint64_t i = begin; i < end && out.size() <= output_max_bytes; ++i) {
        if (i > begin) out += ", ";
        if (text_max_bytes_ > 0 && out.size() - start > text_max_bytes_) {
            append_json_string(out, fmt::format("… and {} more", end - i));
            break;
        }
        append_json(out, child, i);
    }
    out += ']';
}

void CellWriter::append_struct(std::string& out, const Slice& slice, std::uint64_t row) {
    out += '{';
    for (std::size_t i = 0; i < slice.children.size(); ++i) {
        if (i > 0) out += ", ";
        append_json_string(out, slice.field->children[i].name);
        out += ": ";
        append_json(out, slice.children[i], row);
    }
    out += '}';
}

// Keys may be of any type, so a map is a list of pairs, as pyarrow gives it.
void CellWriter::append_map(std::string& out, const Slice& slice, std::uint64_t row) {
    const Slice& entries = slice.children[0];
    out += '[';
    const std::uint64_t end = slice.offsets[row + 1];
    for (std::uint64_t i = slice.offsets[row]; i < end && out.size() <= output_max_bytes; ++i) {
        if (i > slice.offsets[row]) out += ", ";
        out += '[';
        append_json(out, entries.children[0], i);
        out += ", ";
        append_json(out, entries.children[1], i);
        out += ']';
    }
    out += ']';
}

void CellWriter::append_json(std::string& out, const Slice& slice, std::uint64_t row) {
    if (slice.is_null(row)) {
        out += "null";
        return;
    }
    if (slice.field->dictionary) {
        const Slice::Entry& entry = slice.entries[row];
        return append_json(out, *entry.values, entry.row);
    }
    const Type& type = slice.field->type;
    switch (type.kind) {
        case TypeKind::text:
            return append_quoted(out, slice.text(row));
        case TypeKind::list:
            return append_list(out, slice.children[0], slice.offsets[row], slice.offsets[row + 1]);
        case TypeKind::fixed_list:
            return append_list(out, slice.children[0], row * type.items, (row + 1) * type.items);
        case TypeKind::structure:
            return append_struct(out, slice, row);
        case TypeKind::map:
            return append_map(out, slice, row);
        default:
            break;
    }
    std::string scalar;
    const bool quoted = append_scalar(scalar, slice, row);
    if (scalar.empty()) scalar = "null";  // NaN
    out += quoted ? "\"" + scalar + "\"" : scalar;
}

void CellWriter::append_text(std::string& out, const Slice& slice, std::uint64_t row) {
    if (slice.is_null(row)) return;
    if (slice.field->dictionary) {
        const Slice::Entry& entry = slice.entries[row];
        return append_text(out, *entry.values, entry.row);
    }
    switch (slice.field->type.kind) {
        case TypeKind::text: {
            const std::string_view text = slice.text(row);
            const bool cut = text_max_bytes_ > 0 && text.size() > text_max_bytes_;
            append_valid(out, cut ? cut_utf8(text, text_max_bytes_) : text);
            if (cut) out += "…";
            return;
        }
        case TypeKind::list:
        case TypeKind::fixed_list:
        case TypeKind::structure:
        case TypeKind::map:
            return append_json(out, slice, row);
        default:
            append_scalar(out, slice, row);
    }
}

}  // namespace cellblock::artifacts::arrow
