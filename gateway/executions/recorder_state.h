// How far a Recorder has got, as values: what it has used of its budgets.
#pragma once

#include <cstddef>

#include "gateway/executions/display_budget.h"
#include "gateway/executions/text_budget.h"

namespace cellblock::gateway {

struct RecorderState {
    TextBudget::Used text;
    DisplayBudget::Left displays_left;
    std::size_t display_count = 0;

    RecorderState() = default;
};

}  // namespace cellblock::gateway
