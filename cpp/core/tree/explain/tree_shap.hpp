// Shapley values of the predictions of trees (SHAP), exact.
//
// The value of a column is its mean effect on a prediction over all orders in which the columns of
// a row become known. For one leaf with value v, and the D distinct columns on its path, let o_j be
// 1 if the row satisfies all conditions on column j, and z_j the fraction of training rows (path-
// dependent) or the indicator of a background row (interventional) that does. Then
//
//   phi_i = v (o_i - z_i) sum over S of |S|! (D - |S| - 1)! / D! prod_S o_j prod_(not S) z_j
//         = v (o_i - z_i) integral over t in [0, 1] of prod_(j != i) (o_j t + z_j (1 - t)).
//
// Path-dependent: the integrand has degree D - 1, so a Gauss-Legendre rule of ceil(D / 2) points is
// exact, and all its terms are positive: nothing cancels. The products are taken on the way down
// and the sums over leaves on the way up, as in Linear TreeShap, with 1 and 0 as the only values of
// o_j: two factors per edge and point. One pass takes O(edges * D) instead of O(leaves * D^2).
//
// A row that lacks a value follows all branches by their covers where trees are fractional: there
// o_j and z_j have the same factor, which leaves the sum over S. It lacks the value at all nodes
// below that test the column, because a category absent from a node is absent below.
//
// Interventional: patterns of the o_j repeat among rows, so the values of a leaf are computed once
// for each pattern among some hundred rows, and from the distinct patterns of the background.
//
// References: Lundberg et al. (2020), "From local explanations to global understanding with
// explainable AI for trees", Nature Machine Intelligence 2. Yu, Xu, Bifet & Read (2022), "Linear
// TreeShap", NeurIPS. Yang (2021), "Fast TreeSHAP", arXiv:2109.09847. Mitchell, Frank & Holmes
// (2022), "GPUTreeShap", PeerJ Computer Science 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/predict/route.hpp"

namespace ceiba::tree {

// Trees whose weighted sum is explained.
struct ExplainedTrees {
    const PackedNode* nodes = nullptr;
    const std::int64_t* first = nullptr;  // first node of each tree, and the end
    std::size_t n_trees = 0;
    const std::uint64_t* words = nullptr;
    std::size_t n_words = 0;
    const std::int32_t* tables = nullptr;
    std::size_t n_tables = 0;
    const double* values = nullptr;  // of each node, n_values each; those of leaves are used
    std::size_t n_values = 1;
    const double* cover = nullptr;         // weight of the rows of each node
    const double* scale = nullptr;         // factor of the values of each tree
    const std::int32_t* output = nullptr;  // output of each tree; null: its values are the outputs
    std::size_t n_outputs = 1;
    bool fractional = false;  // whether rows follow all branches where they lack a value

    TreeView tree(std::size_t t) const {
        return {nodes + first[t], std::size_t(first[t + 1] - first[t]), words, n_words, tables,
                n_tables};
    }
};

struct ExplainedRows {
    const std::vector<AnyColumn>& columns;
    std::size_t n = 0;
};

// Write the values of all (row, column, output), and the base value of each output: the expected
// prediction by the covers.
void path_dependent_shap(const ExplainedTrees& trees, const ExplainedRows& rows, double* out,
                         double* base, int threads);

// The same with the rows of a background: columns that are not known have its values, and the base
// value is its mean prediction. Throws std::invalid_argument if a path has more than 64 columns, or
// if a row follows several branches.
void interventional_shap(const ExplainedTrees& trees, const ExplainedRows& rows,
                         const ExplainedRows& background, double* out, double* base, int threads);

}  // namespace ceiba::tree
