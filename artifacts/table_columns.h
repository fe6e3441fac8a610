// What an Arrow file's columns are in our own vocabulary of kinds.
#pragma once

#include "artifacts/arrow/schema.h"
#include "artifacts/table.h"

namespace cellblock::artifacts {

ColumnKind kind_of(const arrow::Field& field);
// A row label (pandas index), by the guest's word.
bool is_index(const arrow::Field& field);

}  // namespace cellblock::artifacts
