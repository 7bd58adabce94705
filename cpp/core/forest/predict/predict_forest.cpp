// Implementation of routing rows to leaves and averaging the predictions of the trees.
#include "forest/predict/predict_forest.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>

#include "common/parallel.hpp"
#include "forest/predict/coded_tree.hpp"
#include "forest/predict/compact_tree.hpp"
#include "forest/predict/leaf_predictions.hpp"
#include "tree/predict/interleaved_walk.hpp"

namespace ceiba::forest {
namespace {

using tree::TreeView;
using tree::walk_interleaved;

// Rows per block: enough to amortize loading a tree into the cache.
constexpr std::size_t kBlock = 4096;
// Rows and values per block of a matrix: a tree is copied once per block, which takes as long as a
// tenth of the walks of 50,000 rows.
constexpr std::size_t kMatrixBlock = 65536, kMatrixValues = 1 << 22;

std::size_t block_rows(const ForestRows& table) {
    if (table.doubles == nullptr && table.floats == nullptr) return kBlock;
    return std::clamp(kMatrixValues / std::max<std::size_t>(1, table.width), kBlock, kMatrixBlock);
}

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

// The rows of a block of a matrix, as `CompactTree` compares them.
class FloatBlock {
  public:
    // Take the rows [begin, begin + n); false if there is no matrix or a value is missing.
    bool assign(const ForestRows& table, std::size_t begin, std::size_t n) {
        n_ = n;
        width_ = table.width;
        const std::size_t first = begin * width_, count = n * width_;
        if (table.floats != nullptr) {
            rows_ = table.floats + first;
            return std::none_of(rows_, rows_ + count, [](float x) { return x != x; });
        }
        if (table.doubles == nullptr) return false;
        doubles_ = table.doubles + first;
        floors_.resize(count);
        bool missing = false;
        for (std::size_t i = 0; i < count; ++i) {
            floors_[i] = floor_to_float(doubles_[i]);
            missing |= floors_[i] != floors_[i];
        }
        rows_ = floors_.data();
        return !missing;
    }

    void walk(const CompactTree& compact, const TreeView& tree, std::int32_t* leaf) {
        tree_ = tree.nodes;
        forest_kernels().walk(compact.nodes(),
                              {rows_, n_, width_, doubles_ ? is_above : nullptr, this}, leaf);
    }

  private:
    // Whether a row of doubles is above the threshold of a node, where their floors are equal.
    static bool is_above(const void* block, std::uint32_t index, std::size_t row) {
        const auto& own = *static_cast<const FloatBlock*>(block);
        const PackedNode& node = own.tree_[index];
        return !(own.doubles_[row * own.width_ + node.column()] <=
                 std::bit_cast<double>(node.bits));
    }

    const PackedNode* tree_ = nullptr;
    const float* rows_ = nullptr;
    const double* doubles_ = nullptr;
    std::size_t n_ = 0, width_ = 0;
    std::vector<float> floors_;
};

// Blocks of rows, of which every thread takes one at a time.
struct RowBlocks {
    Segments parts;
    int threads;

    RowBlocks(const ForestView& forest, std::size_t rows, std::size_t block_rows, int max_threads)
        : parts{rows, 0},
          threads(threads_for(20.0 * double(rows) * double(forest.n_trees), max_threads)) {
        // Blocks of equal size, and a multiple of the threads.
        const std::size_t count = (rows + block_rows - 1) / block_rows, each = std::size_t(threads);
        parts.count = std::min((count + each - 1) / each * each, (rows + kBlock - 1) / kBlock);
    }

    std::size_t rows_per_block() const {
        return parts.rows / std::max<std::size_t>(1, parts.count);
    }

    // Call body(rows, thread, interrupt) for every block of rows, in parallel.
    template <typename Body>
    void run(const Body& body) const {
        if (parts.rows == 0) return;
        for_segments(parts, threads, [&](std::size_t s, int thread, Interrupt& interrupt) {
            std::vector<std::uint32_t> block(parts.end(s) - parts.begin(s));
            std::iota(block.begin(), block.end(), std::uint32_t(parts.begin(s)));
            body(std::span<const std::uint32_t>(block), thread, interrupt);
        });
    }
};

// The thresholds of a forest, if its rows are to be compared by their codes; else null.
std::unique_ptr<const ThresholdCodes> codes_for(const ForestView& forest, const ForestRows& table,
                                                const RowBlocks& blocks) {
    const bool is_matrix = table.doubles != nullptr || table.floats != nullptr;
    return is_matrix && CodedTree::applies_to(forest, table.width, blocks.rows_per_block())
               ? ThresholdCodes::of(forest, table.width)
               : nullptr;
}

// The leaves of one block of rows in one tree after another.
class BlockLeaves {
  public:
    // `codes`: the thresholds of the forest, or null.
    BlockLeaves(const ForestView& forest, const ForestRows& table, const ThresholdCodes* codes,
                std::span<const std::uint32_t> rows)
        : forest_(forest), table_(table), rows_(rows), leaf_(rows.size()) {
        if (codes != nullptr && encode(*codes))
            coded_.emplace(forest, table.width, *codes);
        else if (table.width <= kCompactColumns)
            known_ = floats_.assign(table, rows[0], rows.size());
    }

    // `pure_as_classes`: a leaf of one class may be returned as ~class.
    const std::vector<std::int32_t>& in_tree(std::size_t t, bool pure_as_classes) {
        const TreeView tree = forest_.tree(t);
        if (coded_) {
            coded_->assign(tree, pure_as_classes);
            forest_kernels().walk_codes(coded_->nodes(), block_.rows(), leaf_.data());
        } else if (known_ && CompactTree::applies_to(tree, table_.width, rows_.size())) {
            compact_.assign(tree, pure_as_classes);
            floats_.walk(compact_, tree, leaf_.data());
        } else {
            route_rows(forest_, table_, t, rows_, leaf_.data());
        }
        return leaf_;
    }

  private:
    bool encode(const ThresholdCodes& codes) {
        const std::size_t first = rows_[0] * table_.width;
        return table_.floats != nullptr
                   ? block_.assign(codes, table_.floats + first, rows_.size(), table_.width)
                   : block_.assign(codes, table_.doubles + first, rows_.size(), table_.width);
    }

    const ForestView& forest_;
    const ForestRows& table_;
    std::span<const std::uint32_t> rows_;
    CodedBlock block_;
    std::optional<CodedTree> coded_;
    FloatBlock floats_;
    CompactTree compact_;
    bool known_ = false;
    std::vector<std::int32_t> leaf_;
};

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
    RowBlocks(forest, table.rows, kBlock, threads)
        .run([&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
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
    const RowBlocks blocks(forest, table.rows, block_rows(table), threads);
    const auto codes = codes_for(forest, table, blocks);
    blocks.run([&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
        double* sum = out + rows[0] * width;
        const std::size_t n = rows.size() * width;
        std::fill_n(sum, n, 0.0);
        LeafPredictions predictions(forest);
        BlockLeaves leaves(forest, table, codes.get(), rows);
        for (std::size_t t = 0; t < forest.n_trees; ++t) {
            if (interrupt.stopped(thread)) return;
            const std::vector<std::int32_t>& leaf = leaves.in_tree(t, smoothing[t] == 0);
            predictions.set_tree(t, smoothing[t]);
            for (std::size_t i = 0; i < rows.size(); ++i) {
                if (leaf[i] < 0)
                    sum[i * width + std::size_t(~leaf[i])] += 1;
                else
                    predictions.add(leaf[i], sum + i * width);
            }
        }
        for (std::size_t i = 0; i < n; ++i) sum[i] /= trees;
    });
}

void predict_vectors(const ForestView& forest, const ForestRows& table, const LeafVectors& vectors,
                     double* out, int threads) {
    const std::size_t width = vectors.width;
    const auto trees = double(forest.n_trees);
    const RowBlocks blocks(forest, table.rows, block_rows(table), threads);
    const auto codes = codes_for(forest, table, blocks);
    blocks.run([&](std::span<const std::uint32_t> rows, int thread, Interrupt& interrupt) {
        double* sum = out + rows[0] * width;
        const std::size_t n = rows.size() * width;
        std::fill_n(sum, n, 0.0);
        BlockLeaves leaves(forest, table, codes.get(), rows);
        for (std::size_t t = 0; t < forest.n_trees; ++t) {
            if (interrupt.stopped(thread)) return;
            const std::vector<std::int32_t>& leaf = leaves.in_tree(t, false);
            const std::int32_t* row = vectors.row + forest.first[t];
            for (std::size_t i = 0; i < rows.size(); ++i) {
                const double* own = vectors.values + std::size_t(row[leaf[i]]) * width;
                for (std::size_t k = 0; k < width; ++k) sum[i * width + k] += own[k];
            }
        }
        for (std::size_t i = 0; i < n; ++i) sum[i] /= trees;
    });
}

}  // namespace ceiba::forest
