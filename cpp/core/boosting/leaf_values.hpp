// Values of the leaves of a boosted tree: Newton steps, and quantiles of residuals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "boosting/boosted_tree.hpp"

namespace ceiba::boosting {

// Weighted quantile of pairs (value, weight), which are sorted: the smallest value whose cumulative
// weight reaches `probability` of the total, or the mean of it and the next one where it is just
// reached (the "averaged inverted CDF" of Hyndman & Fan 1996, of which the median is one case).
inline double weighted_quantile(std::vector<std::pair<double, double>>& pairs, double probability) {
    std::sort(pairs.begin(), pairs.end());
    double total = 0, below = 0;
    for (const auto& [value, weight] : pairs) total += weight;
    const double wanted = probability * total;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        below += pairs[i].second;
        if (below == wanted && i + 1 < pairs.size())
            return pairs[i].first + (pairs[i + 1].first - pairs[i].first) / 2;
        if (below >= wanted) return pairs[i].first;
    }
    return pairs.back().first;
}

// Quantile of the residuals of each leaf's rows; `weight` may be null.
template <typename Code>
std::vector<double> leaf_quantiles(const BoostedTrees<Code>& trees, const double* residual,
                                   const double* weight, double probability) {
    const std::vector<BoostedLeaf>& leaves = trees.leaves();
    std::vector<double> values(leaves.size());
    for_segments({leaves.size(), leaves.size()},
                 threads_for(100.0 * double(trees.n_rows()), trees.threads()),
                 [&](std::size_t l, int, Interrupt&) {
                     std::vector<std::pair<double, double>> pairs;
                     for (const std::uint32_t row : trees.rows_of(leaves[l]))
                         pairs.emplace_back(residual[row], weight ? weight[row] : 1.0);
                     values[l] = weighted_quantile(pairs, probability);
                 });
    return values;
}

// Newton steps of all leaves, (leaf, output), within their bounds; `as_grown` as in leaf_sums.
template <typename Code>
std::vector<double> newton_values(const BoostedTrees<Code>& trees, const Gradients& gradients,
                                  bool as_grown) {
    const std::vector<RealSums> sums = trees.leaf_sums(gradients, as_grown);
    const GradientScale scale;
    const SplitSearch search(trees.config(), scale, gradients.outputs);
    std::vector<double> values;
    for (std::size_t l = 0; l < sums.size(); ++l)
        for (std::size_t k = 0; k < gradients.outputs; ++k)
            values.push_back(search.clipped_value(sums[l].gradient[k], sums[l].hessian[k],
                                                  trees.leaves()[l].bounds));
    return values;
}

}  // namespace ceiba::boosting
