// ArrowFile::read(): from the buffers of a batch to a Slice, for each kind of column.
#include <algorithm>
#include <limits>

#include "artifacts/arrow/file.h"

namespace cellblock::artifacts::arrow {
namespace {

// A run of a dictionary's entries costs this beside its bytes.
constexpr std::size_t run_bytes = 256;

}  // namespace

class ArrowFile::SliceReader {
  public:
    SliceReader(ArrowFile& file, const Batch& batch, std::size_t& budget_bytes)
        : file_(file), batch_(batch), budget_bytes_(budget_bytes) {}

    Result<Slice> read(const Field& field, std::uint64_t first, std::uint64_t count) {
        const std::uint64_t length = batch_.node_lengths[field.node];
        if (first > length || count > length - first) return wrong_file("a column is too short");
        // Each value costs something, also those that take no room in the file.
        CB_TRY(spend(count));
        Slice slice;
        slice.field = &field;
        slice.length = count;
        if (field.type.kind == TypeKind::null && !field.dictionary) return slice;
        const Batch::Range& validity = batch_.buffers[field.buffer];
        if (validity.bytes > 0) {
            CB_TRY_ASSIGN(read, bits(validity, first, count, slice.first_validity_bit));
            slice.validity = std::move(read);
        }
        if (field.dictionary) {
            CB_TRY(read_entries(field, first, slice));
        } else {
            CB_TRY(read_values(field, first, slice));
        }
        return slice;
    }

  private:
    Result<void> spend(std::uint64_t bytes) {
        if (bytes > budget_bytes_) {
            return fail(ErrorCode::too_large, "these cells are too large to be read at once",
                        "ask for fewer rows, or for fewer columns");
        }
        budget_bytes_ -= bytes;
        return {};
    }

    // Bytes [from, from + count) of a buffer.
    Result<Bytes> bytes(const Batch::Range& range, std::uint64_t from, std::uint64_t count) {
        if (from > range.bytes || count > range.bytes - from)
            return wrong_file("a buffer is too short");
        CB_TRY(spend(count));
        Bytes read(count);
        if (count > 0) {
            CB_TRY(file_.read_(batch_.body + range.offset + from, read));
        }
        return read;
    }

    // The bytes that hold bits [first, first + count), and where in them the first bit is.
    Result<Bytes> bits(const Batch::Range& range, std::uint64_t first, std::uint64_t count,
                       std::size_t& first_bit) {
        first_bit = first % 8;
        if (count == 0) return Bytes();
        return bytes(range, first / 8, (first + count + 7) / 8 - first / 8);
    }

    // `begin`: where the first one leads, in the values. Those of the slice count from there.
    Result<void> read_offsets(const Field& field, std::uint64_t first, std::uint64_t& begin,
                              Slice& slice) {
        const std::size_t width = field.type.offset_bytes;
        const Batch::Range& range = batch_.buffers[field.buffer + 1];
        slice.offsets.assign(1, 0);
        begin = 0;
        if (slice.length == 0) return {};  // an empty column may have no offsets at all
        CB_TRY_ASSIGN(read, bytes(range, first * width, (slice.length + 1) * width));
        CB_TRY(spend(slice.length * sizeof(std::uint64_t)));
        slice.offsets.resize(slice.length + 1);
        std::uint64_t before = 0;
        for (std::uint64_t i = 0; i <= slice.length; ++i) {
            const std::byte* at = read.data() + i * width;
            const std::uint64_t offset =
                width == 4 ? load_le<std::uint32_t>(at) : load_le<std::uint64_t>(at);
            if (i == 0) begin = before = offset;
            if (offset < before || offset > length_max)
                return wrong_file("offsets that go backwards");
            before = offset;
            slice.offsets[i] = offset - begin;
        }
        return {};
    }

    Result<void> read_values(const Field& field, std::uint64_t first, Slice& slice) {
        switch (field.type.kind) {
            case TypeKind::boolean:
                return read_booleans(field, first, slice);
            case TypeKind::text:
            case TypeKind::binary:
                return read_texts(field, first, slice);
            case TypeKind::list:
            case TypeKind::map:
                return read_lists(field, first, slice);
            case TypeKind::fixed_list:
                return read_child(field.children[0], first, slice.length, field.type.items, slice);
            case TypeKind::structure:
                for (const Field& child : field.children) {
                    CB_TRY(read_child(child, first, slice.length, 1, slice));
                }
                return {};
            default:
                return read_fixed(field, first, slice);
        }
    }

    Result<void> read_booleans(const Field& field, std::uint64_t first, Slice& slice) {
        CB_TRY_ASSIGN(read, bits(batch_.buffers[field.buffer + 1], first, slice.length,
                                 slice.first_data_bit));
        slice.data = std::move(read);
        return {};
    }

    Result<void> read_texts(const Field& field, std::uint64_t first, Slice& slice) {
        std::uint64_t begin = 0;
        CB_TRY(read_offsets(field, first, begin, slice));
        const Batch::Range& range = batch_.buffers[field.buffer + 2];
        CB_TRY_ASSIGN(read, bytes(range, begin, slice.offsets.back()));
        slice.data = std::move(read);
        return {};
    }

    Result<void> read_lists(const Field& field, std::uint64_t first, Slice& slice) {
        std::uint64_t begin = 0;
        CB_TRY(read_offsets(field, first, begin, slice));
        CB_TRY_ASSIGN(child, read(field.children[0], begin, slice.offsets.back()));
        slice.children.push_back(std::move(child));
        return {};
    }

    // `each` values of the child for one of ours.
    Result<void> read_child(const Field& child, std::uint64_t first, std::uint64_t count,
                            std::uint64_t each, Slice& slice) {
        if (each > 0 && first + count > length_max / each)
            return wrong_file("lists without an end");
        CB_TRY(spend(sizeof(Slice)));
        CB_TRY_ASSIGN(read_values, read(child, first * each, count * each));
        slice.children.push_back(std::move(read_values));
        return {};
    }

    Result<void> read_fixed(const Field& field, std::uint64_t first, Slice& slice) {
        const std::uint64_t width = field.type.width_bytes;
        if (width > 0 && first + slice.length > std::numeric_limits<std::uint64_t>::max() / width) {
            return wrong_file("a column is too short");
        }
        CB_TRY_ASSIGN(read,
                      bytes(batch_.buffers[field.buffer + 1], first * width, slice.length * width));
        slice.data = std::move(read);
        return {};
    }

    Result<void> read_entries(const Field& field, std::uint64_t first, Slice& slice);
    Result<void> read_runs(const Field& values, const Batch& batch,
                           const std::vector<std::uint64_t>& indices, Slice& slice);
    Result<std::shared_ptr<const Slice>> whole(const Field& field, Dictionary& dictionary,
                                               std::uint64_t rows);

    ArrowFile& file_;
    const Batch& batch_;
    std::size_t& budget_bytes_;
};

// A dictionary's column: first the indices, then the entries that they name.
Result<void> ArrowFile::SliceReader::read_entries(const Field& field, std::uint64_t first,
                                                  Slice& slice) {
    CB_TRY_ASSIGN(dictionary, file_.dictionary(field));
    Field index_field;
    index_field.type = field.index_type;
    index_field.buffer = field.buffer;
    Slice indices;
    indices.field = &index_field;
    indices.length = slice.length;
    CB_TRY(read_fixed(index_field, first, indices));
    CB_TRY(spend(slice.length * (sizeof(Slice::Entry) + sizeof(std::uint64_t))));
    slice.entries.resize(slice.length);
    std::vector<std::uint64_t> used(slice.length, 0);
    const std::uint64_t known = dictionary->batch.node_lengths[0];
    for (std::uint64_t row = 0; row < slice.length; ++row) {
        if (!slice.validity.empty() && slice.has_null_bit(row)) {
            used[row] = length_max + 1;
            continue;
        }
        used[row] = static_cast<std::uint64_t>(indices.integer(row));
        if (used[row] >= known) return wrong_file("a category that the dictionary does not have");
    }
    CB_TRY_ASSIGN(kept, whole(field, *dictionary, slice.length));
    if (!kept) return read_runs(field.dictionary_values[0], dictionary->batch, used, slice);
    for (std::uint64_t row = 0; row < slice.length; ++row) {
        if (used[row] <= length_max) slice.entries[row] = {kept.get(), used[row]};
    }
    slice.dictionaries.push_back(std::move(kept));
    return {};
}

// Null when it is not worth it, or too large.
Result<std::shared_ptr<const Slice>> ArrowFile::SliceReader::whole(const Field& field,
                                                                   Dictionary& dictionary,
                                                                   std::uint64_t rows) {
    if (dictionary.kept) return dictionary.kept;
    std::uint64_t bytes = sizeof(Slice);
    for (const Batch::Range& range : dictionary.batch.buffers) bytes += range.bytes;
    bytes *= 3;  // offsets grow to 64 bits
    const bool worth_it = rows >= many_rows || bytes <= dictionary_small_bytes;
    if (!worth_it || bytes > file_.keepable_bytes_) return nullptr;
    file_.keepable_bytes_ -= bytes;
    std::size_t budget = bytes;
    SliceReader reader(file_, dictionary.batch, budget);
    auto read = reader.read(field.dictionary_values[0], 0, dictionary.batch.node_lengths[0]);
    if (!read) return fail(std::move(read).error());
    dictionary.kept = std::make_shared<const Slice>(std::move(*read));
    return dictionary.kept;
}

// Neighbouring entries are read together.
Result<void> ArrowFile::SliceReader::read_runs(const Field& values, const Batch& batch,
                                               const std::vector<std::uint64_t>& indices,
                                               Slice& slice) {
    std::vector<std::uint64_t> sorted;
    for (const std::uint64_t index : indices) {
        if (index <= length_max) sorted.push_back(index);
    }
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    SliceReader reader(file_, batch, budget_bytes_);
    std::vector<std::uint64_t> firsts;
    for (std::size_t i = 0; i < sorted.size();) {
        std::size_t end = i + 1;
        while (end < sorted.size() && sorted[end] == sorted[end - 1] + 1) ++end;
        CB_TRY(spend(run_bytes));
        CB_TRY_ASSIGN(run, reader.read(values, sorted[i], end - i));
        firsts.push_back(sorted[i]);
        slice.dictionaries.push_back(std::make_shared<const Slice>(std::move(run)));
        i = end;
    }
    for (std::size_t row = 0; row < indices.size(); ++row) {
        if (indices[row] > length_max) continue;
        const auto after = std::upper_bound(firsts.begin(), firsts.end(), indices[row]);
        const auto run = static_cast<std::size_t>(after - firsts.begin()) - 1;
        slice.entries[row] = {slice.dictionaries[run].get(), indices[row] - firsts[run]};
    }
    return {};
}

Result<Slice> ArrowFile::read(std::size_t column, std::uint64_t first, std::uint64_t count,
                              std::size_t& budget_bytes) {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), first);
    if (end == ends_.end()) return wrong_file("there is no such row");
    const auto index = static_cast<std::size_t>(end - ends_.begin());
    const std::uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    CB_TRY_ASSIGN(in, batch(index));
    SliceReader reader(*this, *in, budget_bytes);
    return reader.read(schema_->fields[column], first - begin, count);
}

}  // namespace cellblock::artifacts::arrow
