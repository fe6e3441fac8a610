// The chart model as E2B's clients know charts: seven types, every key present.
#pragma once

#include "base/json.h"
#include "charts/model.h"

namespace cellblock::charts {

// What a Result's `chart` holds. One panel is that chart, several are a superchart; a figure with
// nothing on it is an empty object. What E2B has no type for goes out as "unknown" with no
// elements, because its Python SDK refuses other names; our own kind stands beside it as `kind`.
Json to_e2b(const Figure& figure);

}  // namespace cellblock::charts
