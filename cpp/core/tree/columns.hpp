// A table as the tree engine sees it: every column is a row of small whole numbers.
//
// The code of a value is its rank among the different values of its column (exact thresholds), the
// number of its bin (binned), or its level (nominal, ordinal). A gap has the code n_codes, so that
// it sorts behind all values. Codes lie column after column, in the narrowest type that holds all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ceiba::tree {

struct Column {
    std::uint32_t n_codes = 0;
    bool nominal = false;
    std::uint32_t index = 0;
    const double* values = nullptr;  // what each code counts as, where a rule for cuts asks
    const double* cuts = nullptr;    // where to cut, ascending, if the node does not say itself
    std::size_t n_cuts = 0;

    std::uint32_t gap() const { return n_codes; }
};

template <typename Code>
struct Columns {
    const Code* codes = nullptr;
    std::size_t rows = 0;
    std::vector<Column> columns;
    // Entries of all rows, code above and row below, column after column and there in order: where
    // the same table is grown from again and again. Null otherwise.
    const std::uint64_t* sorted = nullptr;

    const Code* column(std::size_t j) const { return codes + j * rows; }
    std::size_t count() const { return columns.size(); }
};

}  // namespace ceiba::tree
