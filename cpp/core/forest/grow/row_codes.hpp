// Codes of all rows, in row-major and in column-major order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/grow/row_store.hpp"

namespace ceiba::forest {

template <typename Code>
struct RowCodes {
    const Code* codes = nullptr;
    const tree::Columns<Code>* by_column = nullptr;

    const Code* row(std::size_t i) const { return codes + i * by_column->count(); }
    const Code* column(std::size_t j) const { return by_column->column(j); }
    // The rows of a large node are close to each other, so reading from the column is faster.
    bool dense(std::size_t rows) const { return rows >= by_column->rows / 16; }

    // Call body(codes, first position, count) for the rows [begin, end) of a sample in blocks,
    // where codes(j)(i) is the code of row i of the block in column j, until it returns false;
    // return whether it never did. The rows of a block stay in the first-level cache while one
    // column after another is read.
    template <typename Sample, typename Body>
    bool for_rows(const Sample& sample, std::size_t begin, std::size_t end,
                  const Body& body) const {
        const bool from_column = dense(end - begin);
        for (; begin < end; begin += kBlockRows) {
            const std::size_t k = std::min(kBlockRows, end - begin);
            if (!(from_column ? from_columns(sample, begin, k, body)
                              : from_rows(sample, begin, k, body)))
                return false;
        }
        return true;
    }

    // Partition the rows [begin, end) of a sample by the split of `node`; returns where each branch
    // begins, relative to `begin`, and the end.
    template <typename Sample>
    const std::vector<std::size_t>& partition(const tree::TreeBuilder& builder, Sample& sample,
                                              const tree::Node& node, std::size_t begin,
                                              std::size_t end) const {
        const auto j = std::size_t(node.column), n_branches = std::size_t(node.n_branches);
        return tree::with_branches(
            builder, node, by_column->columns[j].missing_code(),
            [&](const auto& branch) -> const std::vector<std::size_t>& {
                if (dense(end - begin))
                    return sample.partition(
                        begin, end, n_branches,
                        [&, codes = column(j)](std::size_t row) { return branch(codes[row]); });
                return sample.partition(begin, end, n_branches,
                                        [&](std::size_t i) { return branch(row(i)[j]); });
            });
    }

  private:
    static constexpr std::size_t kBlockRows = 128;

    template <typename Sample, typename Body>
    bool from_columns(const Sample& sample, std::size_t begin, std::size_t k,
                      const Body& body) const {
        std::uint32_t row_index[kBlockRows];
        for (std::size_t i = 0; i < k; ++i) row_index[i] = sample.row(begin + i);
        const auto codes = [&](std::size_t j) {
            return [codes = column(j), &row_index](std::size_t i) { return codes[row_index[i]]; };
        };
        return body(codes, begin, k);
    }
    template <typename Sample, typename Body>
    bool from_rows(const Sample& sample, std::size_t begin, std::size_t k, const Body& body) const {
        const Code* block_rows[kBlockRows];
        for (std::size_t i = 0; i < k; ++i) {
            block_rows[i] = row(sample.row(begin + i));
            __builtin_prefetch(block_rows[i]);
        }
        const auto codes = [&](std::size_t j) {
            return [j, &block_rows](std::size_t i) { return block_rows[i][j]; };
        };
        return body(codes, begin, k);
    }
};

}  // namespace ceiba::forest
