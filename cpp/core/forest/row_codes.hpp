// Codes of all rows, row after row, and column after column as well.
#pragma once

#include <cstddef>

#include "tree/columns.hpp"

namespace ceiba::forest {

template <typename Code>
struct RowCodes {
    const Code* codes = nullptr;
    const tree::Columns<Code>* by_column = nullptr;

    const Code* row(std::size_t i) const { return codes + i * by_column->count(); }
    const Code* column(std::size_t j) const { return by_column->column(j); }
    // Rows of a large node are not far from each other, and read best from their column.
    bool dense(std::size_t rows) const { return rows >= by_column->rows / 16; }
};

}  // namespace ceiba::forest
