// Routing through trees whose missing values do not follow a single branch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/predict/route.hpp"

namespace ceiba::tree {

// Splits that replace the split of node i for rows with a missing value: [first[i], first[i + 1]).
// `child` is 1 if the branches are exchanged.
struct SurrogateView {
    const PackedNode* splits = nullptr;
    const std::int64_t* first = nullptr;
};

// Whether the value of a row is missing at a node, or is a category absent from it in training; for
// trees with fractional or surrogate routing.
bool lacks_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                  std::size_t row);
// Check the arrays of categories present in training; return an error message, or null.
const char* presence_defect(const TreeView& tree, const std::vector<std::uint32_t>& n_categories);

// Check surrogates for columns of these types; return an error message, or null.
const char* surrogate_defect(const TreeView& tree, const SurrogateView& surrogates,
                             std::size_t count, const std::vector<Type>& types,
                             const std::vector<std::uint32_t>& n_categories);

// Branch of the first surrogate with a known value; `default_branch` if there is none.
std::int32_t surrogate_branch(const TreeView& tree, const SurrogateView& surrogates,
                              std::size_t node, const std::vector<AnyColumn>& columns,
                              std::size_t row, std::int32_t default_branch);

// Find the leaf of every row. Missing values follow surrogates, or else the branch for missing
// values.
void route_by_surrogates(const TreeView& tree, const SurrogateView& surrogates,
                         const std::vector<AnyColumn>& columns, std::size_t n, std::int32_t* leaf,
                         int threads);

// Rows with a missing value go down every branch: fraction[v] of them from the parent of v to v.
struct BranchFractions {
    const double* fraction = nullptr;
    const std::int32_t* n_branches = nullptr;  // of each node
};

// Values of the leaves, `width` numbers each; those of a leaf are row row[leaf] of `values`.
// mean_over_leaves writes their mean, weighted by fractions, to `width` numbers per row of `out`.
struct LeafValues {
    const double* values = nullptr;
    const std::int32_t* row = nullptr;
    std::size_t width = 0;
};
void mean_over_leaves(const TreeView& tree, const BranchFractions& fractions,
                      const std::vector<AnyColumn>& columns, std::size_t n,
                      const LeafValues& values, double* out, int threads);

// Add the weight of every row, by fractions, to the cell (leaf, label); in regression add (1, y,
// y^2).
void add_leaf_weights(const TreeView& tree, const BranchFractions& fractions,
                      const std::vector<AnyColumn>& columns, std::size_t n, const double* weight,
                      const std::int32_t* label, const double* value, std::size_t width,
                      double* out);

}  // namespace ceiba::tree
