// From which price of a leaf on each node of a tree is better a leaf.
//
// Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ceiba::tree {

// Every node's branches have greater numbers than its own.
struct LinkedNodes {
    const double* risk = nullptr;         // of each node as a leaf
    const std::int32_t* child = nullptr;  // first branch
    const std::int32_t* branches = nullptr;
    const bool* open = nullptr;  // inner nodes to judge
    std::size_t count = 0;
};

struct Links {
    std::vector<double> strength;    // infinite where a node is not open
    std::vector<std::int32_t> kept;  // nodes that do not go with one above them
};

// Strengths that differ by `near` are alike.
Links weakest_links(const LinkedNodes& nodes, double near);

}  // namespace ceiba::tree
