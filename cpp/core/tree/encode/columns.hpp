// Columns of a table as small integer codes.
//
// The code of a value is its rank among the distinct values of its column (exact thresholds), its
// bin index (binned), or its category index (nominal, ordinal). A missing value has the code
// n_codes, so that it sorts behind all values. Codes are stored column by column, in the narrowest
// type that holds all of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ceiba::tree {

struct Column {
    std::uint32_t n_codes = 0;
    bool nominal = false;
    std::uint32_t index = 0;
    bool integer = false;            // the values are integers
    const double* values = nullptr;  // representative value of each code, for threshold grids
    // Integers that float64 would round have their exact distances from the smallest one instead.
    const std::uint64_t* distances = nullptr;
    // Ascending; only for ThresholdGrid::kGiven. With distances, the whole and the fractional part
    // of each threshold's own distance.
    const double* thresholds = nullptr;
    const std::uint64_t* whole_thresholds = nullptr;
    std::size_t n_thresholds = 0;

    std::uint32_t missing_code() const { return n_codes; }
    // Representative value of a code: its value, the middle of its bin, or its index in an ordinal
    // column.
    double value(std::uint32_t code) const {
        return values == nullptr ? double(code) : values[code];
    }
};

template <typename Code>
struct Columns {
    const Code* codes = nullptr;
    std::size_t rows = 0;
    std::vector<Column> columns;
    // Sorted entries of all rows, column by column: the code in the upper bits, the row in the
    // lower ones. Null unless many trees are grown from the same table.
    const std::uint64_t* sorted = nullptr;

    const Code* column(std::size_t j) const { return codes + j * rows; }
    std::size_t count() const { return columns.size(); }
};

}  // namespace ceiba::tree
