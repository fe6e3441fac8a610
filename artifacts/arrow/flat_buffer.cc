#include "artifacts/arrow/flat_buffer.h"

#include "artifacts/arrow/profile.h"

namespace cellblock::artifacts::arrow {

bool FlatBuffer::holds(std::uint64_t at, std::uint64_t size) {
    if (at <= bytes_.size() && size <= bytes_.size() - at) return true;
    broken_ = true;
    return false;
}

std::uint64_t FlatBuffer::follow(std::uint64_t at) {
    const std::uint64_t offset = load<std::uint32_t>(at);
    if (offset == 0) broken_ = true;
    return broken_ ? 0 : at + offset;
}

FlatTable FlatBuffer::root() {
    return table_at(follow(0));
}

FlatTable FlatBuffer::table_at(std::uint64_t position) {
    FlatTable table;
    if (broken_ || ++tables_ > flat_tables_max) {
        broken_ = true;
        return table;
    }
    // The vtable lies at a signed distance, usually before the table.
    const std::int64_t distance = static_cast<std::int32_t>(load<std::uint32_t>(position));
    const std::int64_t vtable = static_cast<std::int64_t>(position) - distance;
    if (vtable < 0 || !holds(static_cast<std::uint64_t>(vtable), 4)) {
        broken_ = true;
        return table;
    }
    table.vtable_ = static_cast<std::uint64_t>(vtable);
    table.vtable_bytes_ = load<std::uint16_t>(table.vtable_);
    if (!holds(table.vtable_, table.vtable_bytes_) || broken_) return table;
    table.position_ = position;
    table.buffer_ = this;
    return table;
}

FlatTable FlatVector::table(std::size_t index) const {
    const std::uint64_t position = buffer_->follow(begin_ + index * element_bytes_);
    return position == 0 ? FlatTable() : buffer_->table_at(position);
}

std::uint64_t FlatTable::field(std::size_t slot) const {
    const std::size_t entry = 4 + 2 * slot;
    if (buffer_ == nullptr || entry + 2 > vtable_bytes_) return 0;
    const std::uint64_t offset = buffer_->load<std::uint16_t>(vtable_ + entry);
    return offset == 0 ? 0 : position_ + offset;
}

std::string_view FlatTable::text(std::size_t slot) const {
    const FlatVector bytes = vector(slot, 1);
    if (bytes.size() == 0) return {};
    return as_text(buffer_->bytes_.subspan(bytes.begin_, bytes.size()));
}

FlatTable FlatTable::table(std::size_t slot) const {
    const std::uint64_t at = field(slot);
    const std::uint64_t position = at == 0 ? 0 : buffer_->follow(at);
    return position == 0 ? FlatTable() : buffer_->table_at(position);
}

FlatVector FlatTable::vector(std::size_t slot, std::size_t element_bytes) const {
    FlatVector vector;
    const std::uint64_t at = field(slot);
    const std::uint64_t position = at == 0 ? 0 : buffer_->follow(at);
    if (position == 0) return vector;
    const std::uint64_t size = buffer_->load<std::uint32_t>(position);
    if (!buffer_->holds(position + 4, size * element_bytes)) return vector;
    vector.buffer_ = buffer_;
    vector.begin_ = position + 4;
    vector.size_ = static_cast<std::size_t>(size);
    vector.element_bytes_ = element_bytes;
    return vector;
}

}  // namespace cellblock::artifacts::arrow
