// The ways of rows through trees whose gaps do not have one branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/route.hpp"

namespace ceiba::tree {

// Splits that decide for rows without a value in the node's own column: of node i
// [first[i], first[i + 1]). `child` is 1 where the branches are exchanged.
struct SurrogateView {
    const PackedNode* splits = nullptr;
    const std::int64_t* first = nullptr;
};

// Whether a row has no value at a node, or a level that no row had there when the tree grew: in
// trees whose gaps are shared or follow surrogates.
bool lacks_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                  std::size_t row);
// What is wrong with what such a tree says of its levels, or null.
const char* presence_complaint(const TreeView& tree, const std::vector<std::uint32_t>& levels);

// What is wrong with surrogates for such columns, or null.
const char* complaint(const TreeView& tree, const SurrogateView& surrogates, std::size_t count,
                      const std::vector<Type>& types, const std::vector<std::uint32_t>& levels);

// The branch that surrogates name for a row; `otherwise` where it has no value in any of them.
std::int32_t surrogate_branch(const TreeView& tree, const SurrogateView& surrogates,
                              std::size_t node, const std::vector<AnyColumn>& columns,
                              std::size_t row, std::int32_t otherwise);

// The leaf of every row: gaps follow surrogates, and where these are unknown, too, the gap branch.
void route_by_surrogates(const TreeView& tree, const SurrogateView& surrogates,
                         const std::vector<AnyColumn>& columns, std::size_t n, std::int32_t* leaf,
                         int threads);

// Rows with gaps go down every branch: share[v] of them from the node above v to v.
struct Shares {
    const double* of = nullptr;
    const std::int32_t* branches = nullptr;  // of each node
};

// `out` has `width` numbers a row: the mean, by shares, of what the leaves say. `said` has `width`
// numbers a leaf, at row[leaf].
struct LeafValues {
    const double* said = nullptr;
    const std::int32_t* row = nullptr;
    std::size_t width = 0;
};
void mean_of_ways(const TreeView& tree, const Shares& shares, const std::vector<AnyColumn>& columns,
                  std::size_t n, const LeafValues& values, double* out, int threads);

// Add the weight of every row, by shares, to the cell (leaf, label); numbers add (1, y, y^2).
void weigh_ways(const TreeView& tree, const Shares& shares, const std::vector<AnyColumn>& columns,
                std::size_t n, const double* weight, const std::int32_t* label, const double* value,
                std::size_t width, double* out);

}  // namespace ceiba::tree
