// What an Arrow IPC file of a guest may be: the limits of the reader, each with its reason.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/limits.h"

namespace cellblock::artifacts::arrow {

using limits::KiB;
using limits::MiB;

// A footer, or the metadata of one batch: 4096 columns of lists take 0.5 MiB.
inline constexpr std::size_t metadata_max_bytes = 16 * MiB;
// Of all batches together; read when a file is opened, to learn how many rows each has.
inline constexpr std::size_t metadata_all_max_bytes = 64 * MiB;
inline constexpr std::size_t batches_max = 16'384;
// Columns and everything nested in them, and how deep that goes: as in the guest, where values are
// nested up to 32 deep but columns of one type are not.
inline constexpr std::size_t fields_max = 16'384;
inline constexpr std::size_t nesting_max = 16;
inline constexpr std::size_t flat_tables_max = 200'000;
// Any count of rows or values: far above real ones, and its products with a size do not overflow.
inline constexpr std::uint64_t length_max = std::uint64_t{1} << 40;
// Key-value pairs of one field, and of the schema: names and notes; values are texts.
inline constexpr std::size_t metadata_pairs_max = 64;
// Dictionaries that are kept whole in memory, together; of others only the entries that a slice
// needs are read. For a slice of few rows only small ones are worth it.
inline constexpr std::size_t dictionaries_kept_max_bytes = 32 * MiB;
inline constexpr std::size_t dictionary_small_bytes = 128 * KiB;
inline constexpr std::uint64_t many_rows = 2048;
// What one step (a page of rows, a piece of a conversion) may read into memory.
inline constexpr std::size_t read_max_bytes = 64 * MiB;
// What one step may write: a guest can point many cells at one long text.
inline constexpr std::size_t output_max_bytes = 32 * MiB;

}  // namespace cellblock::artifacts::arrow
