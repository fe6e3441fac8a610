// FlatBuffers of a guest, read field by field with every offset checked.
//
// No verifier runs before: each access checks its own range, so what is not read costs nothing.
// What does not fit the buffer reads as absent and marks the whole buffer as broken; the reader
// asks broken() once at its end. Work is bounded: tables that share or contain each other count
// each time they are entered.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace cellblock::artifacts::arrow {

class FlatTable;

class FlatBuffer {
  public:
    // `bytes` outlive it and all that is read from it.
    explicit FlatBuffer(ByteView bytes) : bytes_(bytes) {}
    FlatBuffer(const FlatBuffer&) = delete;
    FlatBuffer& operator=(const FlatBuffer&) = delete;

    FlatTable root();
    bool broken() const { return broken_; }

  private:
    friend class FlatTable;
    friend class FlatVector;

    bool holds(std::uint64_t at, std::uint64_t size);
    template <typename T>
    T load(std::uint64_t at) {
        return holds(at, sizeof(T)) ? load_le<T>(bytes_.data() + at) : T();
    }
    FlatTable table_at(std::uint64_t position);
    // Where the 32-bit offset at `at` leads; 0 when it is broken.
    std::uint64_t follow(std::uint64_t at);

    ByteView bytes_;
    std::size_t tables_ = 0;
    bool broken_ = false;
};

// Elements of a fixed size (structs, or offsets of tables).
class FlatVector {
  public:
    FlatVector() = default;
    std::size_t size() const { return size_; }
    // A scalar inside element `index`.
    template <typename T>
    T scalar(std::size_t index, std::size_t offset_in_element) const {
        return buffer_->load<T>(begin_ + index * element_bytes_ + offset_in_element);
    }
    FlatTable table(std::size_t index) const;

  private:
    friend class FlatTable;
    FlatBuffer* buffer_ = nullptr;
    std::uint64_t begin_ = 0;
    std::size_t size_ = 0;
    std::size_t element_bytes_ = 1;
};

// `slot` is the field's number in the schema language's order.
class FlatTable {
  public:
    FlatTable() = default;
    explicit operator bool() const { return buffer_ != nullptr; }

    template <typename T>
    T scalar(std::size_t slot, T fallback) const {
        const std::uint64_t at = field(slot);
        return at == 0 ? fallback : buffer_->load<T>(at);
    }
    std::string_view text(std::size_t slot) const;
    FlatTable table(std::size_t slot) const;
    FlatVector vector(std::size_t slot, std::size_t element_bytes) const;

  private:
    friend class FlatBuffer;
    // Where the field's value is; 0 when it is absent.
    std::uint64_t field(std::size_t slot) const;

    FlatBuffer* buffer_ = nullptr;
    std::uint64_t position_ = 0;
    std::uint64_t vtable_ = 0;
    std::size_t vtable_bytes_ = 0;
};

}  // namespace cellblock::artifacts::arrow
