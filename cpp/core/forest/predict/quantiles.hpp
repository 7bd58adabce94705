// Quantiles of the training targets in the leaves of a row.
//
// Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ceiba::forest {

// Training rows by leaf: those of node i of tree t are order[t x rows + start[first[t] + t + i] ..
// start[first[t] + t + i + 1]), as indices into the targets, which are in ascending order.
struct LeafRows {
    const double* target;
    const double* weight;
    std::size_t rows;
    const std::uint32_t* order;
    const std::int64_t* start;
    const std::int64_t* first;
    std::size_t n_trees;

    std::span<const std::uint32_t> of(std::size_t tree, std::int32_t leaf) const {
        const std::int64_t* node_start = start + first[tree] + std::int64_t(tree) + leaf;
        return {order + tree * rows + node_start[0], std::size_t(node_start[1] - node_start[0])};
    }
};

// Quantiles q for n rows of leaves (row x tree): the smallest target at which the cumulative
// fraction of the weight reaches q.
void quantiles(const LeafRows& training, const std::int32_t* leaf, std::size_t n,
               std::span<const double> q, double* out, int threads);

}  // namespace ceiba::forest
