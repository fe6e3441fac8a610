#include "artifacts/arrow/file.h"

#include <algorithm>

namespace cellblock::artifacts::arrow {
namespace {

constexpr std::string_view magic = "ARROW1";
constexpr std::uint64_t tail_bytes = 4 + magic.size();  // the footer's size and the magic
constexpr std::uint64_t head_bytes = 8;
constexpr std::size_t prefix_bytes = 8;  // of a message: a marker and its size
constexpr std::uint32_t continuation = 0xFFFFFFFF;
constexpr std::uint16_t version_5 = 4;  // the enumeration begins with V1 = 0
enum : std::uint8_t { header_dictionary = 2, header_batch = 3 };

// The record batch in a message, whichever kind that is.
Result<FlatTable> batch_in(FlatBuffer& buffer) {
    const FlatTable message = buffer.root();
    if (!message) return wrong_file("a message is broken");
    if (message.scalar<std::uint16_t>(0, 0) < version_5)
        return wrong_file("an old version's message");
    const auto kind = message.scalar<std::uint8_t>(1, 0);
    FlatTable header = message.table(2);
    if (kind == header_dictionary) {
        if (header.scalar<std::uint8_t>(2, 0) != 0) return wrong_file("a dictionary in pieces");
        header = header.table(1);
    } else if (kind != header_batch) {
        return wrong_file("a message that is no batch");
    }
    if (!header) return wrong_file("a batch is broken");
    if (header.table(3)) return wrong_file("it is compressed");
    return header;
}

std::uint64_t length_at(const FlatVector& vector, std::size_t index, std::size_t offset) {
    return vector.scalar<std::uint64_t>(index, offset);  // negative ones are past every limit
}

}  // namespace

Result<ArrowFile> ArrowFile::open(ReadAt read, std::uint64_t size_bytes) {
    ArrowFile file;
    file.read_ = std::move(read);
    file.size_bytes_ = size_bytes;
    CB_TRY(file.read_footer());
    CB_TRY(file.read_row_counts());
    return file;
}

Result<void> ArrowFile::read_footer() {
    if (size_bytes_ < head_bytes + tail_bytes) return wrong_file("it is too short");
    std::byte tail[tail_bytes];
    CB_TRY(read_(size_bytes_ - tail_bytes, tail));
    if (as_text(ByteView(tail).subspan(4)) != magic) return wrong_file("it does not end as one");
    const std::uint64_t bytes = load_le<std::uint32_t>(tail);
    if (bytes > metadata_max_bytes || bytes > size_bytes_ - head_bytes - tail_bytes) {
        return wrong_file("its footer has a size that cannot be");
    }
    footer_ = size_bytes_ - tail_bytes - bytes;
    Bytes content(bytes);
    CB_TRY(read_(footer_, content));
    FlatBuffer buffer(content);
    const FlatTable footer = buffer.root();
    if (!footer) return wrong_file("its footer is broken");
    if (footer.scalar<std::uint16_t>(0, 0) < version_5)
        return wrong_file("it is of an old version");
    CB_TRY_ASSIGN(schema, parse_schema(footer.table(1)));
    CB_TRY_ASSIGN(dictionary_blocks, blocks(footer.vector(2, 24)));
    CB_TRY_ASSIGN(batch_blocks, blocks(footer.vector(3, 24)));
    if (buffer.broken()) return wrong_file("its footer is broken");
    schema_ = std::make_unique<Schema>(std::move(schema));
    dictionary_blocks_ = std::move(dictionary_blocks);
    blocks_ = std::move(batch_blocks);
    return {};
}

Result<std::vector<ArrowFile::Block>> ArrowFile::blocks(const FlatVector& vector) const {
    if (vector.size() > batches_max) return wrong_file("too many batches");
    std::vector<Block> found;
    found.reserve(vector.size());
    for (std::size_t i = 0; i < vector.size(); ++i) {
        Block block;
        block.offset = length_at(vector, i, 0);
        block.metadata_bytes = vector.scalar<std::uint32_t>(i, 8);
        block.body_bytes = length_at(vector, i, 16);
        if (block.metadata_bytes < prefix_bytes || block.metadata_bytes > metadata_max_bytes ||
            block.offset > footer_ || block.metadata_bytes > footer_ - block.offset ||
            block.body_bytes > footer_ - block.offset - block.metadata_bytes) {
            return wrong_file("a batch lies outside of it");
        }
        found.push_back(block);
    }
    return found;
}

Result<Bytes> ArrowFile::read_metadata(const Block& block) const {
    Bytes bytes(block.metadata_bytes);
    CB_TRY(read_(block.offset, bytes));
    if (load_le<std::uint32_t>(bytes.data()) != continuation) {
        return wrong_file("a batch without its marker");
    }
    bytes.erase(bytes.begin(), bytes.begin() + prefix_bytes);
    return bytes;
}

Result<void> ArrowFile::read_row_counts() {
    std::uint64_t read_bytes = 0;
    std::uint64_t rows = 0;
    for (const Block& block : blocks_) {
        read_bytes += block.metadata_bytes;
        if (read_bytes > metadata_all_max_bytes) return wrong_file("its metadata has no end");
        CB_TRY_ASSIGN(bytes, read_metadata(block));
        FlatBuffer buffer(bytes);
        CB_TRY_ASSIGN(batch, batch_in(buffer));
        const auto length = batch.scalar<std::uint64_t>(0, 0);
        if (buffer.broken() || length > length_max) return wrong_file("a batch is broken");
        rows += length;
        ends_.push_back(rows);
    }
    for (std::size_t i = 0; i < dictionary_blocks_.size(); ++i) {
        read_bytes += dictionary_blocks_[i].metadata_bytes;
        if (read_bytes > metadata_all_max_bytes) return wrong_file("its metadata has no end");
        CB_TRY_ASSIGN(bytes, read_metadata(dictionary_blocks_[i]));
        FlatBuffer buffer(bytes);
        const FlatTable header = buffer.root().table(2);
        const auto id = static_cast<std::int64_t>(header.scalar<std::uint64_t>(0, 0));
        if (buffer.broken()) return wrong_file("a dictionary is broken");
        if (!dictionary_of_.emplace(id, i).second)
            return wrong_file("a dictionary that comes twice");
    }
    return {};
}

Result<Batch> ArrowFile::read_batch(const Block& block, std::size_t nodes,
                                    std::size_t buffers) const {
    CB_TRY_ASSIGN(bytes, read_metadata(block));
    FlatBuffer buffer(bytes);
    CB_TRY_ASSIGN(table, batch_in(buffer));
    Batch batch;
    batch.body = block.offset + block.metadata_bytes;
    batch.rows = table.scalar<std::uint64_t>(0, 0);
    const FlatVector node_vector = table.vector(1, 16);
    const FlatVector buffer_vector = table.vector(2, 16);
    if (buffer.broken() || node_vector.size() != nodes || buffer_vector.size() != buffers) {
        return wrong_file("a batch that does not fit the schema");
    }
    for (std::size_t i = 0; i < nodes; ++i) {
        const std::uint64_t length = length_at(node_vector, i, 0);
        if (length > length_max) return wrong_file("a column has a length that cannot be");
        batch.node_lengths.push_back(length);
    }
    for (std::size_t i = 0; i < buffers; ++i) {
        Batch::Range range;
        range.offset = length_at(buffer_vector, i, 0);
        range.bytes = length_at(buffer_vector, i, 8);
        if (range.offset > block.body_bytes || range.bytes > block.body_bytes - range.offset) {
            return wrong_file("a buffer lies outside of its batch");
        }
        batch.buffers.push_back(range);
    }
    if (batch.rows > length_max) return wrong_file("a batch is broken");
    return batch;
}

Result<const Batch*> ArrowFile::batch(std::size_t index) {
    if (!batch_ || current_ != index) {
        CB_TRY_ASSIGN(read, read_batch(blocks_[index], schema_->nodes, schema_->buffers));
        batch_ = std::make_unique<Batch>(std::move(read));
        current_ = index;
    }
    return batch_.get();
}

Result<ArrowFile::Dictionary*> ArrowFile::dictionary(const Field& field) {
    const auto known = dictionaries_.find(*field.dictionary);
    if (known != dictionaries_.end()) return &known->second;
    const auto block = dictionary_of_.find(*field.dictionary);
    if (block == dictionary_of_.end()) return wrong_file("a dictionary is missing");
    // How much a batch of its type has: counted as the schema counts its own.
    std::size_t nodes = 0;
    std::size_t buffers = 0;
    count_layout(field.dictionary_values[0], nodes, buffers);
    CB_TRY_ASSIGN(batch, read_batch(dictionary_blocks_[block->second], nodes, buffers));
    Dictionary dictionary;
    dictionary.batch = std::move(batch);
    return &dictionaries_.emplace(*field.dictionary, std::move(dictionary)).first->second;
}

std::uint64_t ArrowFile::rows_together(std::uint64_t row) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), row);
    return end == ends_.end() ? 0 : *end - row;
}

}  // namespace cellblock::artifacts::arrow
