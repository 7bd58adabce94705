// Implementation of routing rows to leaves and averaging the predictions of the trees.
#include "forest/predict/predict_forest.hpp"

#include <algorithm>
#include <numeric>

#include "common/parallel.hpp"
#include "forest/predict/leaf_predictions.hpp"
#include "tree/predict/interleaved_walk.hpp"

namespace ceiba::forest {
namespace {

using tree::TreeView;
using tree::walk_interleaved;

// Rows per block: enough to amortize loading a tree into the cache.
constexpr std::size_t kBlock = 4096;

// A row, and the row that supplies its value in the permuted column.
struct PermutedRow {
    std::uint32_t row, from;
};

template <typename T>
std::int32_t next_node(const PackedNode& node, const T* values, std::size_t width,
                       std::uint32_t row) {
    return tree::next_of_real_row(node, values + std::size_t(row) * width);
}

// Call walk(step) with the step function for the storage of the table: step(node, row).
template <typename Walk>
void with_step(const TreeView& tree, const ForestRows& table, const Walk& walk) {
    if (table.doubles != nullptr) {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return next_node(node, table.doubles, table.width, row);
        });
    } else if (table.floats != nullptr) {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return next_node(node, table.floats, table.width, row);
        });
    } else {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return node.child + branch_of(tree, node, table.columns[node.column()], row);
        });
    }
}

// Call body(rows, thread, interrupt) for every block of rows, in parallel.
template <typename Body>
void for_blocks(std::size_t rows, std::size_t trees, int threads, const Body& body) {
    if (rows == 0) return;
    const Segments parts{rows, (rows + kBlock - 1) / kBlock};
    for_segments(parts, threads_for(20.0 * double(rows) * double(trees), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     std::vector<std::uint32_t> block(parts.end(s) - parts.begin(s));
                     std::iota(block.begin(), block.end(), std::uint32_t(parts.begin(s)));
                     body(std::span<const std::uint32_t>(block), thread, interrupt);
                 });
}

}  // namespace

void route_rows(const ForestView& forest, const ForestRows& table, std::size_t tree,
                std::span<const std::uint32_t> rows, std::int32_t* leaf) {
    const TreeView view = forest.tree(tree);
    with_step(view, table, [&](const auto& step) {
        walk_interleaved(
            view.nodes, rows.size(), [&](std::size_t i) { return rows[i]; }, step, leaf);
    });
}

void route_permuted(const ForestView& forest, const ForestRows& table, std::size_t tree,
                    std::span<const std::uint32_t> rows, std::size_t column,
                    std::span<const std::uint32_t> from, std::int32_t* leaf) {
    const TreeView view = forest.tree(tree);
    with_step(view, table, [&](const auto& step) {
        walk_interleaved(
            view.nodes, rows.size(), [&](std::size_t i) { return PermutedRow{rows[i], from[i]}; },
            [&](const PackedNode& node, PermutedRow permuted) {
                return step(node, node.column() == column ? permuted.from : permuted.row);
            },
            leaf);
    });
}

void apply(const ForestView& forest, const ForestRows& table, std::int32_t* leaf, int threads) {
    for_blocks(table.rows, forest.n_trees, threads,
               [&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
                   std::vector<std::int32_t> block_leaves(rows.size());
                   for (std::size_t t = 0; t < forest.n_trees; ++t) {
                       if (interrupt.stopped(thread)) return;
                       route_rows(forest, table, t, rows, block_leaves.data());
                       for (std::size_t i = 0; i < rows.size(); ++i)
                           leaf[rows[i] * forest.n_trees + t] = block_leaves[i];
                   }
               });
}

void predict(const ForestView& forest, const ForestRows& table, const double* smoothing,
             double* out, int threads) {
    const std::size_t width = std::max<std::size_t>(1, forest.n_classes);
    const auto trees = double(forest.n_trees);
    for_blocks(table.rows, forest.n_trees, threads,
               [&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
                   double* sum = out + rows[0] * width;
                   const std::size_t n = rows.size() * width;
                   std::fill_n(sum, n, 0.0);
                   std::vector<std::int32_t> leaf(rows.size());
                   LeafPredictions predictions(forest);
                   for (std::size_t t = 0; t < forest.n_trees; ++t) {
                       if (interrupt.stopped(thread)) return;
                       route_rows(forest, table, t, rows, leaf.data());
                       predictions.set_tree(t, smoothing[t]);
                       for (std::size_t i = 0; i < rows.size(); ++i)
                           predictions.add(leaf[i], sum + i * width);
                   }
                   for (std::size_t i = 0; i < n; ++i) sum[i] /= trees;
               });
}

}  // namespace ceiba::forest
