// Codes of all rows, row after row, and column after column as well.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

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

    // body(codes, first place, how many) for the rows at [begin, end) of a bag, some at a time,
    // where codes(j)(i) is the code of the i-th of them in column j: what is read of them comes
    // into the first cache together, and stays there while one column after the other is read.
    template <typename Bag, typename Body>
    void for_rows(const Bag& bag, std::size_t begin, std::size_t end, const Body& body) const {
        const bool near = dense(end - begin);
        for (; begin < end; begin += kTogether) {
            const std::size_t k = std::min(kTogether, end - begin);
            near ? from_columns(bag, begin, k, body) : from_rows(bag, begin, k, body);
        }
    }

  private:
    static constexpr std::size_t kTogether = 128;

    template <typename Bag, typename Body>
    void from_columns(const Bag& bag, std::size_t begin, std::size_t k, const Body& body) const {
        std::uint32_t number[kTogether];
        for (std::size_t i = 0; i < k; ++i) number[i] = bag.row(begin + i);
        const auto codes = [&](std::size_t j) {
            return [own = column(j), &number](std::size_t i) { return own[number[i]]; };
        };
        body(codes, begin, k);
    }
    template <typename Bag, typename Body>
    void from_rows(const Bag& bag, std::size_t begin, std::size_t k, const Body& body) const {
        const Code* own[kTogether];
        for (std::size_t i = 0; i < k; ++i) {
            own[i] = row(bag.row(begin + i));
            __builtin_prefetch(own[i]);
        }
        const auto codes = [&](std::size_t j) {
            return [j, &own](std::size_t i) { return own[i][j]; };
        };
        body(codes, begin, k);
    }
};

}  // namespace ceiba::forest
