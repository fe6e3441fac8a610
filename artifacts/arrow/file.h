// An Arrow IPC file that a guest made, read by rows and columns: only the bytes that a slice needs
// are read, whatever the file's size.
//
// One thread at a time (it keeps the batch read last, and small dictionaries). Every count, offset
// and length of the file is checked before it is used. Fuzzed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "artifacts/arrow/profile.h"
#include "artifacts/arrow/schema.h"
#include "artifacts/arrow/slice.h"
#include "base/bytes.h"
#include "base/error.h"

namespace cellblock::artifacts::arrow {

// Fills all of `into` from `offset`, or fails. The range is inside the size that open() was given.
using ReadAt = std::function<Result<void>(std::uint64_t offset, std::span<std::byte> into)>;

// Where a record batch (or a dictionary's) has its parts.
struct Batch {
    struct Range {
        std::uint64_t offset = 0;  // from the body's start
        std::uint64_t bytes = 0;
    };
    std::uint64_t body = 0;  // in the file
    std::uint64_t rows = 0;
    std::vector<std::uint64_t> node_lengths;
    std::vector<Range> buffers;

    Batch() = default;
};

class ArrowFile {
  public:
    static Result<ArrowFile> open(ReadAt read, std::uint64_t size_bytes);

    const Schema& schema() const { return *schema_; }
    std::uint64_t rows() const { return ends_.empty() ? 0 : ends_.back(); }
    std::size_t batches() const { return ends_.size(); }
    // How many rows from `row` on lie in the same batch: what one read() can give.
    std::uint64_t rows_together(std::uint64_t row) const;
    // Rows [first, first + count) of a column: at most rows_together(first). Reads at most
    // `budget_bytes`, and takes what it read from it; too_large past that.
    Result<Slice> read(std::size_t column, std::uint64_t first, std::uint64_t count,
                       std::size_t& budget_bytes);

  private:
    struct Block {
        std::uint64_t offset = 0;
        std::uint64_t metadata_bytes = 0;
        std::uint64_t body_bytes = 0;
    };
    struct Dictionary {
        Batch batch;
        std::shared_ptr<const Slice> kept;  // all of it, once it was read
    };
    class SliceReader;

    ArrowFile() = default;
    Result<void> read_footer();
    Result<std::vector<Block>> blocks(const FlatVector& vector) const;
    Result<Bytes> read_metadata(const Block& block) const;
    Result<Batch> read_batch(const Block& block, std::size_t nodes, std::size_t buffers) const;
    Result<void> read_row_counts();
    Result<const Batch*> batch(std::size_t index);
    Result<Dictionary*> dictionary(const Field& field);

    ReadAt read_;
    std::uint64_t size_bytes_ = 0;
    std::uint64_t footer_ = 0;  // where it begins: batches end before
    std::unique_ptr<Schema> schema_;
    std::vector<Block> blocks_;
    std::vector<std::uint64_t> ends_;  // rows up to the end of each batch
    std::vector<Block> dictionary_blocks_;
    std::map<std::int64_t, std::size_t> dictionary_of_;  // id -> block
    std::map<std::int64_t, Dictionary> dictionaries_;    // those that were needed
    std::size_t current_ = 0;
    std::unique_ptr<Batch> batch_;  // number current_
    std::size_t keepable_bytes_ = dictionaries_kept_max_bytes;
};

}  // namespace cellblock::artifacts::arrow
