// Values of the leaves of a boosted tree: Newton steps, and quantiles of residuals.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "boosting/boosting_grower.hpp"

namespace ceiba::boosting {

// Weighted quantile of pairs (value, weight), which are sorted: the smallest value whose cumulative
// weight reaches `probability` of the total, or the mean of it and the next one where it is just
// reached (the "averaged inverted CDF" of Hyndman & Fan 1996, of which the median is one case).
inline double weighted_quantile(std::vector<std::pair<double, double>>& pairs, double probability) {
    std::sort(pairs.begin(), pairs.end());
    double total = 0, below = 0;
    for (const auto& [value, weight] : pairs) total += weight;
    const double target_weight = probability * total;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        below += pairs[i].second;
        if (below == target_weight && i + 1 < pairs.size())
            return pairs[i].first + (pairs[i + 1].first - pairs[i].first) / 2;
        if (below >= target_weight) return pairs[i].first;
    }
    return pairs.back().first;
}

// Limit the values of the leaves to the bounds that monotonic constraints imply, from the root
// down: a constrained split bounds its branches by the middle between their own values,
// `value_of(node)`.
template <typename Code, typename ValueOf>
void limit_by_constraints(const BoostingGrower<Code>& grower, const ValueOf& value_of,
                          std::vector<double>& values) {
    const auto& nodes = grower.builder().nodes;
    const auto direction = [&](const tree::Node& node) -> int {
        return node.expanded() ? grower.config().monotonic[std::size_t(node.column)] : 0;
    };
    std::vector<double> branch_values(nodes.size());
    for_segments({nodes.size(), nodes.size()},
                 threads_for(100.0 * double(grower.n_rows()), grower.threads()),
                 [&](std::size_t node, int, Interrupt&) {
                     if (direction(nodes[node]) == 0) return;
                     for (const auto branch : {nodes[node].child, nodes[node].child + 1})
                         branch_values[std::size_t(branch)] = value_of(std::size_t(branch));
                 });
    std::vector<Bounds> bounds(nodes.size());
    for (std::size_t node = 0; node < nodes.size(); ++node) {
        if (!nodes[node].expanded()) continue;
        const auto child = std::size_t(nodes[node].child);
        bounds[child] = bounds[child + 1] = bounds[node];
        if (direction(nodes[node]) == 0) continue;
        const auto [lower, upper] = bounds[node];
        tree::separate(bounds[child], bounds[child + 1], direction(nodes[node]),
                       std::clamp(branch_values[child], lower, upper),
                       std::clamp(branch_values[child + 1], lower, upper));
    }
    for (std::size_t l = 0; l < values.size(); ++l) {
        const auto [lower, upper] = bounds[std::size_t(grower.leaves()[l].node)];
        values[l] = std::clamp(values[l], lower, upper);
    }
}

// Quantile of the residuals of each leaf's rows, within monotonic constraints; `weight` may be
// null.
template <typename Code>
std::vector<double> leaf_quantiles(const BoostingGrower<Code>& grower, const double* residual,
                                   const double* weight, double probability) {
    const std::vector<BoostedLeaf>& leaves = grower.leaves();
    std::vector<double> values(leaves.size());
    const auto quantile = [&](std::size_t begin, std::size_t end) {
        std::vector<std::pair<double, double>> pairs;
        for (const std::uint32_t row : grower.rows().subspan(begin, end - begin))
            pairs.emplace_back(residual[row], weight ? weight[row] : 1.0);
        return weighted_quantile(pairs, probability);
    };
    for_segments({leaves.size(), leaves.size()},
                 threads_for(100.0 * double(grower.n_rows()), grower.threads()),
                 [&](std::size_t l, int, Interrupt&) {
                     values[l] = quantile(leaves[l].begin, leaves[l].end);
                 });
    if (!grower.config().monotonic.empty()) {
        const auto& nodes = grower.builder().nodes;
        limit_by_constraints(
            grower,
            [&](std::size_t node) {
                return quantile(std::size_t(nodes[node].begin), std::size_t(nodes[node].end));
            },
            values);
    }
    return values;
}

// Newton steps of all leaves, (leaf, output), within their bounds; `as_grown` as in leaf_sums.
//
// Histograms round every Hessian up to at least one unit, so the exact Hessian of a leaf may be
// below min_child_weight, even next to nothing. Its step is then computed with min_child_weight.
template <typename Code>
std::vector<double> newton_values(const BoostingGrower<Code>& grower, const Gradients& gradients,
                                  bool as_grown) {
    const std::vector<RealSums> sums = grower.leaf_sums(gradients, as_grown);
    const GradientScale scale;
    const SplitSearch search(grower.config(), scale, gradients.outputs);
    std::vector<double> values;
    const auto n_outputs = double(gradients.outputs);
    for (std::size_t l = 0; l < sums.size(); ++l) {
        const BoostedLeaf& leaf = grower.leaves()[l];
        const std::vector<double>& hessian = sums[l].hessian;
        const double mean = std::accumulate(hessian.begin(), hessian.end(), 0.0) / n_outputs;
        const double added =
            leaf.node > 0 ? std::max(grower.config().min_child_weight - mean, 0.0) : 0.0;
        for (std::size_t k = 0; k < gradients.outputs; ++k)
            values.push_back(
                search.clipped_value(sums[l].gradient[k], hessian[k] + added, leaf.bounds));
    }
    return values;
}

}  // namespace ceiba::boosting
