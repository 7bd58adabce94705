// Groups rows by which columns are missing.
#pragma once

#include <cstdint>
#include <vector>

#include "common/views.hpp"

namespace ceiba {

struct MissingPatternOrder {
    std::vector<std::int64_t> order, starts;  // starts has one more entry than there are patterns
};

// Sort the rows by missing pattern and, within a pattern, by row number.
template <typename T>
MissingPatternOrder missing_patterns(Matrix<const T> X);

}  // namespace ceiba
