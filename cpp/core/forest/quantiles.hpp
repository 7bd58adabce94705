// Quantiles of the training targets that share the leaves of a row.
//
// Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ceiba::forest {

// Training rows by leaf: those of node i of tree t are order[t x rows + start[first[t] + t + i] ..
// start[first[t] + t + i + 1]), as places among the targets, which ascend.
struct LeafRows {
    const double* target;
    const double* weight;
    std::size_t rows;
    const std::uint32_t* order;
    const std::int64_t* start;
    const std::int64_t* first;
    std::size_t trees;

    std::span<const std::uint32_t> of(std::size_t tree, std::int32_t leaf) const {
        const std::int64_t* own = start + first[tree] + std::int64_t(tree) + leaf;
        return {order + tree * rows + own[0], std::size_t(own[1] - own[0])};
    }
};

// Of n rows of leaves (row x tree) the wanted quantiles: the least target whose share of the
// weight, with all that lie below it, reaches the quantile.
void quantiles(const LeafRows& training, const std::int32_t* leaf, std::size_t n,
               std::span<const double> wanted, double* out, int threads);

}  // namespace ceiba::forest
