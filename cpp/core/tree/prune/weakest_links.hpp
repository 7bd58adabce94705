// Weakest links: the complexity cost (alpha) from which on each node is better a leaf.
//
// Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ceiba::tree {

// Branches have greater indices than their node.
struct PrunableNodes {
    const double* risk = nullptr;         // of each node as a leaf
    const std::int32_t* child = nullptr;  // first branch
    const std::int32_t* n_branches = nullptr;
    const bool* is_candidate = nullptr;  // inner nodes that may be pruned
    std::size_t count = 0;
};

struct WeakestLinks {
    std::vector<double> strength;    // infinite for nodes that are not candidates
    std::vector<std::int32_t> kept;  // nodes that are not pruned together with an ancestor
};

// Strengths that differ by at most `tolerance` are equal.
WeakestLinks weakest_links(const PrunableNodes& nodes, double tolerance);

}  // namespace ceiba::tree
