// Which rows miss the same columns.
#pragma once

#include <cstdint>
#include <vector>

#include "views.hpp"

namespace ceiba {

struct PatternOrder {
    std::vector<std::int64_t> order, starts;  // starts has one entry more than there are patterns
};

// Rows sorted by what they miss and, among equals, by their number.
template <typename T>
PatternOrder gap_patterns(Matrix<const T> X);

}  // namespace ceiba
