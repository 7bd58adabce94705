// A table of x log2 x for every count that can occur; weights are too many for a table.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "tree/growth.hpp"

namespace ceiba::tree {

inline std::vector<double> xlog2x_table(const GrowthRules& rules, std::size_t rows) {
    const bool logs = rules.criterion == Criterion::kEntropy ||
                      rules.criterion == Criterion::kGainRatio || rules.split.intervals == 1;
    std::vector<double> table;
    if (!logs) return table;
    const std::size_t size = rules.weighted ? std::min<std::size_t>(rows, 4096) : rows;
    table.resize(size + 1, 0.0);
    for (std::size_t x = 1; x <= size; ++x) table[x] = double(x) * std::log2(double(x));
    return table;
}

}  // namespace ceiba::tree
