#include "forest/route_forest.hpp"

#include <algorithm>
#include <numeric>

#include "forest/leaf_shares.hpp"
#include "parallel.hpp"
#include "tree/abreast.hpp"

namespace ceiba::forest {
namespace {

using tree::TreeView;
using tree::walk_abreast;

// Rows of a block: enough that a tree is worth its way into the cache.
constexpr std::size_t kBlock = 4096;

// A row, and the one that its value in a changed column comes from.
struct Changed {
    std::uint32_t row, from;
};

template <typename T>
std::int32_t next_by_reals(const PackedNode& node, const T* values, std::size_t width,
                           std::uint32_t row) {
    return tree::next_of_reals(node, values + std::size_t(row) * width);
}

// Calls walk(step) with the step that suits the table: step(node, row).
template <typename Walk>
void with_step(const TreeView& tree, const ForestRows& table, const Walk& walk) {
    if (table.doubles != nullptr) {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return next_by_reals(node, table.doubles, table.width, row);
        });
    } else if (table.floats != nullptr) {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return next_by_reals(node, table.floats, table.width, row);
        });
    } else {
        walk([&](const PackedNode& node, std::uint32_t row) {
            return node.child + branch_of(tree, node, table.columns[node.column()], row);
        });
    }
}

// body(rows, sums) for every block of rows, side by side.
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
        walk_abreast(view.nodes, rows.size(), [&](std::size_t i) { return rows[i]; }, step, leaf);
    });
}

void route_changed(const ForestView& forest, const ForestRows& table, std::size_t tree,
                   std::span<const std::uint32_t> rows, std::size_t column,
                   std::span<const std::uint32_t> from, std::int32_t* leaf) {
    const TreeView view = forest.tree(tree);
    with_step(view, table, [&](const auto& step) {
        walk_abreast(
            view.nodes, rows.size(), [&](std::size_t i) { return Changed{rows[i], from[i]}; },
            [&](const PackedNode& node, Changed at) {
                return step(node, node.column() == column ? at.from : at.row);
            },
            leaf);
    });
}

void apply(const ForestView& forest, const ForestRows& table, std::int32_t* leaf, int threads) {
    for_blocks(table.rows, forest.trees, threads,
               [&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
                   std::vector<std::int32_t> own(rows.size());
                   for (std::size_t t = 0; t < forest.trees; ++t) {
                       if (interrupt.stopped(thread)) return;
                       route_rows(forest, table, t, rows, own.data());
                       for (std::size_t i = 0; i < rows.size(); ++i)
                           leaf[rows[i] * forest.trees + t] = own[i];
                   }
               });
}

void tell(const ForestView& forest, const ForestRows& table, const double* added, double* out,
          int threads) {
    const std::size_t width = std::max<std::size_t>(1, forest.classes);
    const auto trees = double(forest.trees);
    for_blocks(table.rows, forest.trees, threads,
               [&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
                   double* sum = out + rows[0] * width;
                   const std::size_t n = rows.size() * width;
                   std::fill_n(sum, n, 0.0);
                   std::vector<std::int32_t> leaf(rows.size());
                   LeafShares shares(forest);
                   for (std::size_t t = 0; t < forest.trees; ++t) {
                       if (interrupt.stopped(thread)) return;
                       route_rows(forest, table, t, rows, leaf.data());
                       shares.enter(t, added[t]);
                       for (std::size_t i = 0; i < rows.size(); ++i)
                           shares.add(leaf[i], sum + i * width);
                   }
                   for (std::size_t i = 0; i < n; ++i) sum[i] /= trees;
               });
}

}  // namespace ceiba::forest
