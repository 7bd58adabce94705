// Growth of a tree whose rows have several targets: numbers, or classes of several outputs.
//
// The structure is chosen by the error of all targets together, and every node has a mean vector.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/encode/columns.hpp"
#include "tree/grow/tree_builder.hpp"

namespace ceiba::tree {

// Targets of all rows in fixed point, as in Targets, and their weights.
struct VectorTargets {
    std::size_t n_targets = 0;
    // Numbers, per (row, target).
    const Number* weighted_target = nullptr;  // weight * (target - center), in units
    const double* value = nullptr;
    // Per target: the center, and the size of one unit of the target by one of the weight.
    const double* center = nullptr;
    const double* unit = nullptr;
    // Classes, per (row, output): the index of the class among all targets.
    const std::uint16_t* label = nullptr;
    std::size_t n_outputs = 0;

    const Number* weight = nullptr;  // null: 1 each

    Number weight_of(std::size_t row) const { return weight == nullptr ? 1 : weight[row]; }
};

// Grow a whole tree on rows in memory, of which row i counts `count[i]` times. `with_impurity`:
// compute the impurities of all nodes, also where no setting of the builder needs them. Returns the
// rows, those of each node together (Node::begin, Node::end).
template <typename Code>
std::vector<std::uint32_t> grow_vectors(TreeBuilder& builder, const Columns<Code>& columns,
                                        const VectorTargets& targets, const Number* count,
                                        bool with_impurity, int threads);

// Write the mean of each target in a node: class fractions, or numbers, which rounding in fixed
// point does not put outside of the range of the node's own.
void write_means(const TreeBuilder& builder, std::size_t node, const VectorTargets& targets,
                 const std::vector<std::uint32_t>& rows, double* out);

}  // namespace ceiba::tree
