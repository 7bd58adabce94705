// Settings of a boosted tree (BoostingConfig), and the gradients that it is grown from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "tree/config.hpp"

namespace ceiba::boosting {

struct BoostingConfig {
    tree::GrowthOrder growth_order = tree::GrowthOrder::kBestFirst;
    std::int64_t max_leaves = 31;  // 0: no limit
    std::int64_t max_depth = std::numeric_limits<std::int64_t>::max();
    std::int64_t min_rows = 1;  // in each branch
    double min_child_weight = 0;
    double reg_lambda = 0, reg_alpha = 0;
    double min_split_gain = 0;
    double category_smoothing = 0;
    std::int64_t columns_per_node = 0;  // 0: all
    // Per column: 1 if scores must not decrease with its values, -1 if they must not increase;
    // empty: no constraints.
    std::vector<std::int8_t> monotonic;
    tree::ColumnSets interactions;  // null: all columns may be tested together
    // Bits of a quantized gradient, with its sign; 0: as many as fit into packed cells, or more
    // where they would be too few.
    int gradient_bits = 0;
    // Of all open nodes together, without those that threads count in and that are used again.
    std::size_t max_histogram_bytes = std::size_t(1) << 30;
};

// Gradients and Hessians of all rows, multiplied by the rows' weights; one array of `rows` numbers
// per output of the tree, one behind the other.
struct Gradients {
    const double* gradient = nullptr;
    const double* hessian = nullptr;  // null: the weights
    const double* weight = nullptr;   // null: 1 each
    std::size_t rows = 0, outputs = 1;

    double gradient_of(std::size_t row, std::size_t k) const { return gradient[k * rows + row]; }
    double weight_of(std::size_t row) const { return weight ? weight[row] : 1; }
    double hessian_of(std::size_t row, std::size_t k) const {
        return hessian ? hessian[k * rows + row] : weight_of(row);
    }
};

}  // namespace ceiba::boosting
