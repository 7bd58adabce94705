// Interventional Shapley values: patterns of satisfied conditions, leaf by leaf (tree_shap.hpp).
#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "common/parallel.hpp"
#include "tree/explain/path_edges.hpp"
#include "tree/explain/tree_shap.hpp"

namespace ceiba::tree {
namespace {

constexpr std::size_t kMaxColumns = 64;    // on a path: bits of a pattern
constexpr std::size_t kMaxDenseBits = 10;  // patterns up to here are looked up in a table
constexpr std::size_t kRows = 512;         // rows of a segment

// Weights of Shapley orders: a! b! / (a + b + 1)!
class OrderWeights {
  public:
    OrderWeights() {
        for (std::size_t b = 0; b <= kMaxColumns; ++b) {
            weight_[0][b] = 1 / double(b + 1);
            for (std::size_t a = 1; a <= kMaxColumns; ++a)
                weight_[a][b] = weight_[a - 1][b] * double(a) / double(a + b + 1);
        }
    }
    double operator()(int a, int b) const { return weight_[std::size_t(a)][std::size_t(b)]; }

  private:
    std::array<std::array<double, kMaxColumns + 1>, kMaxColumns + 1> weight_;
};

// Call visit(edge index, patterns) for every leaf of a tree. Bit i of a row's pattern is set if the
// row satisfies all conditions on the i-th column of the path.
template <typename Visit>
void for_leaf_patterns(const TreeView& tree, const PathEdges& path,
                       const std::vector<AnyColumn>& columns, std::size_t begin, std::size_t end,
                       bool fractional, const Visit& visit) {
    const std::size_t n = end - begin;
    std::vector<std::int32_t> branch(path.splits.size() * n);
    for (std::size_t s = 0; s < path.splits.size(); ++s) {
        const PackedNode& node = tree.nodes[path.splits[s]];
        for (std::size_t i = 0; i < n; ++i) {
            branch[s * n + i] =
                explained_branch(tree, node, columns[node.column()], begin + i, fractional);
            if (branch[s * n + i] < 0)
                throw std::invalid_argument(
                    "background requires rows that follow one branch of every split, got a missing "
                    "value or a category absent from a node, and missing='fractional': fit with "
                    "missing='learned', or leave background out.");
        }
    }
    std::vector<std::uint64_t> patterns((path.depth + 1) * n, 0);
    for (std::size_t e = 0; e < path.edges.size(); ++e) {
        const ShapEdge& edge = path.edges[e];
        const std::uint64_t bit = std::uint64_t(1) << path.slot[e];
        const std::int32_t* own = branch.data() + std::size_t(edge.split) * n;
        std::uint64_t* pattern = patterns.data() + std::size_t(edge.depth) * n;
        const std::uint64_t* above = pattern - n;
        // A column that is new on the path starts with its bit set.
        const std::uint64_t new_bit = edge.previous_depth == 0 ? bit : 0;
        for (std::size_t i = 0; i < n; ++i)
            pattern[i] = (above[i] | new_bit) & ~(own[i] == edge.branch ? 0 : bit);
        if (edge.leaf >= 0) visit(e, pattern);
    }
}

struct PatternWeight {
    std::uint64_t pattern;
    double weight;
};

// A tree, and the fraction of background rows with each pattern at each leaf.
struct BackgroundTree {
    PathEdges path;
    std::vector<std::vector<PatternWeight>> background;  // by leaf
    std::vector<std::vector<std::int32_t>> columns;      // of each leaf's path

    BackgroundTree(const TreeView& tree, const ExplainedRows& rows, bool fractional, int thread,
                   Interrupt& interrupt)
        : path(tree), background(path.leaves.size()), columns(path.leaves.size()) {
        if (path.max_slots > kMaxColumns)
            throw std::invalid_argument(
                "background requires trees with at most 64 columns on a path: leave it out, or "
                "limit max_depth.");
        if (path.edges.empty()) background[0] = {{0, double(rows.n)}};
        for (std::size_t e = 0; e < path.edges.size(); ++e)
            if (path.edges[e].leaf >= 0) set_columns(e);
        // In segments: the branches of all rows at all splits could take gigabytes.
        for (std::size_t begin = 0; begin < rows.n; begin += kRows) {
            if (interrupt.stopped(thread)) return;
            const std::size_t end = std::min(begin + kRows, rows.n);
            for_leaf_patterns(tree, path, rows.columns, begin, end, fractional,
                              [&](std::size_t e, const std::uint64_t* pattern) {
                                  add_patterns(background[std::size_t(path.edges[e].leaf)],
                                               {pattern, pattern + (end - begin)});
                              });
        }
        for (auto& patterns : background)
            for (PatternWeight& entry : patterns) entry.weight /= double(rows.n);
    }

    // Count the patterns of some more rows in a list that is sorted by pattern.
    static void add_patterns(std::vector<PatternWeight>& counts, std::vector<std::uint64_t> added) {
        std::sort(added.begin(), added.end());
        std::vector<PatternWeight> merged;
        auto counted = counts.begin();
        for (auto at = added.begin(); at != added.end();) {
            const auto next = std::upper_bound(at, added.end(), *at);
            while (counted != counts.end() && counted->pattern < *at) merged.push_back(*counted++);
            const bool is_known = counted != counts.end() && counted->pattern == *at;
            merged.push_back({*at, double(next - at) + (is_known ? (counted++)->weight : 0.0)});
            at = next;
        }
        merged.insert(merged.end(), counted, counts.end());
        counts = std::move(merged);
    }

    void set_columns(std::size_t e) {
        const auto leaf = std::size_t(path.edges[e].leaf);
        columns[leaf].resize(std::size_t(path.n_slots[e]));
        for (auto at = std::int32_t(e); at >= 0; at = path.edges[std::size_t(at)].parent)
            columns[leaf][std::size_t(path.slot[std::size_t(at)])] =
                path.edges[std::size_t(at)].column;
    }

    double leaf_fraction(std::size_t leaf) const {
        const std::size_t n = columns[leaf].size();
        const std::uint64_t full = n == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << n) - 1;
        for (const PatternWeight& entry : background[leaf])
            if (entry.pattern == full) return entry.weight;
        return 0;
    }
};

// Values of the columns of a path for a leaf of value 1, by the pattern of a row.
class PatternValues {
  public:
    PatternValues(const BackgroundTree& tree, std::size_t leaf, const OrderWeights& weights)
        : background_(tree.background[leaf]), n_(tree.columns[leaf].size()), weights_(weights) {
        full_ = n_ == 64 ? ~std::uint64_t(0) : (std::uint64_t(1) << n_) - 1;
        if (n_ <= kMaxDenseBits) dense_.assign(std::size_t(1) << n_, -1);
    }

    const double* of(std::uint64_t pattern) {
        std::int64_t& index =
            dense_.empty() ? sparse_.try_emplace(pattern, -1).first->second : dense_[pattern];
        if (index < 0) {
            index = std::int64_t(values_.size());
            compute(pattern);
        }
        return values_.data() + index;
    }

  private:
    void compute(std::uint64_t row) {
        values_.resize(values_.size() + n_, 0.0);
        double* value = values_.data() + values_.size() - n_;
        for (const auto& [other, weight] : background_) {
            if ((row | other) != full_ || row == other) continue;
            const std::uint64_t only_row = row & ~other, only_background = other & ~row;
            const int a = std::popcount(only_row), b = std::popcount(only_background);
            const double gain = a ? weight * weights_(a - 1, b) : 0;
            const double loss = b ? weight * weights_(a, b - 1) : 0;
            for (std::size_t i = 0; i < n_; ++i)
                value[i] += (only_row >> i & 1 ? gain : 0) - (only_background >> i & 1 ? loss : 0);
        }
    }

    const std::vector<PatternWeight>& background_;
    std::size_t n_;
    const OrderWeights& weights_;
    std::uint64_t full_;
    std::vector<std::int64_t> dense_;
    std::unordered_map<std::uint64_t, std::int64_t> sparse_;
    std::vector<double> values_;
};

using BackgroundTrees = std::vector<std::unique_ptr<BackgroundTree>>;

const double* leaf_values(const ExplainedTrees& trees, std::size_t t, const PathEdges& path,
                          std::size_t leaf) {
    return trees.values + std::size_t(trees.first[t] + path.leaves[leaf]) * trees.n_values;
}

// Trees from `first` on whose patterns of the background are kept together: at most 64, and, unless
// it is a single tree, no more than may take 1 GiB.
std::size_t group_size(const ExplainedTrees& trees, const ExplainedRows& background,
                       std::size_t first) {
    constexpr std::size_t kMaxTrees = 64, kMaxBytes = std::size_t(1) << 30;
    std::size_t n_trees = 0, bytes = 0;
    while (n_trees < kMaxTrees && first + n_trees < trees.n_trees) {
        const std::size_t t = first + n_trees;
        const tree::TreeView tree = trees.tree(t);
        const auto n_leaves = std::count_if(tree.nodes, tree.nodes + tree.count,
                                            [](const auto& n) { return n.kind() == Test::kLeaf; });
        bytes += std::size_t(n_leaves) * background.n * sizeof(PatternWeight);
        if (n_trees > 0 && bytes > kMaxBytes) break;
        ++n_trees;
    }
    return n_trees;
}

// Find the patterns of the background in the trees [first, first + n_trees), in parallel.
BackgroundTrees prepare_background(const ExplainedTrees& trees, const ExplainedRows& background,
                                   std::size_t first, std::size_t n_trees, int threads) {
    BackgroundTrees prepared(n_trees);
    for_segments({n_trees, n_trees}, threads, [&](std::size_t i, int thread, Interrupt& interrupt) {
        if (interrupt.stopped(thread)) return;
        prepared[i] = std::make_unique<BackgroundTree>(trees.tree(first + i), background,
                                                       trees.fractional, thread, interrupt);
    });
    return prepared;
}

// Add the mean prediction of tree t for the background.
void add_base(const ExplainedTrees& trees, std::size_t t, const BackgroundTree& tree,
              double* base) {
    for (std::size_t leaf = 0; leaf < tree.path.leaves.size(); ++leaf) {
        const double* value = leaf_values(trees, t, tree.path, leaf);
        for (std::size_t k = 0; k < trees.n_values; ++k)
            base[trees.output ? std::size_t(trees.output[t]) : k] +=
                tree.leaf_fraction(leaf) * trees.scale[t] * value[k];
    }
}

// Add the values of the columns by tree t for the rows [begin, end).
void explain_segment(const ExplainedTrees& trees, std::size_t t, const BackgroundTree& tree,
                     const ExplainedRows& rows, std::size_t begin, std::size_t end,
                     const OrderWeights& weights, int thread, Interrupt& interrupt, double* out) {
    const std::size_t width = rows.columns.size() * trees.n_outputs;
    const std::size_t output = trees.output ? std::size_t(trees.output[t]) : 0;
    const auto add_leaf = [&](std::size_t e, const std::uint64_t* pattern) {
        if (interrupt.stopped(thread)) return;
        const auto leaf = std::size_t(tree.path.edges[e].leaf);
        const std::vector<std::int32_t>& columns = tree.columns[leaf];
        const double* value = leaf_values(trees, t, tree.path, leaf);
        PatternValues values(tree, leaf, weights);
        for (std::size_t r = begin; r < end; ++r) {
            const double* phi = values.of(pattern[r - begin]);
            double* to = out + r * width + output;
            for (std::size_t c = 0; c < columns.size(); ++c)
                for (std::size_t k = 0; k < trees.n_values; ++k)
                    to[std::size_t(columns[c]) * trees.n_outputs + k] +=
                        phi[c] * trees.scale[t] * value[k];
        }
    };
    for_leaf_patterns(trees.tree(t), tree.path, rows.columns, begin, end, trees.fractional,
                      add_leaf);
}

}  // namespace

void interventional_shap(const ExplainedTrees& trees, const ExplainedRows& rows,
                         const ExplainedRows& background, double* out, double* base, int threads) {
    static const OrderWeights weights;
    std::fill_n(out, rows.n * rows.columns.size() * trees.n_outputs, 0.0);
    std::fill_n(base, trees.n_outputs, 0.0);
    const Segments parts{rows.n, (rows.n + kRows - 1) / kRows};
    // In groups of trees, for each of which the patterns of the background are found once.
    for (std::size_t first = 0, n_trees = 0; first < trees.n_trees; first += n_trees) {
        n_trees = group_size(trees, background, first);
        const BackgroundTrees prepared =
            prepare_background(trees, background, first, n_trees, threads);
        for (std::size_t i = 0; i < n_trees; ++i) add_base(trees, first + i, *prepared[i], base);
        if (rows.n == 0) continue;
        for_segments(parts, threads, [&](std::size_t s, int thread, Interrupt& interrupt) {
            for (std::size_t i = 0; i < n_trees; ++i) {
                if (interrupt.stopped(thread)) return;
                explain_segment(trees, first + i, *prepared[i], rows, parts.begin(s), parts.end(s),
                                weights, thread, interrupt, out);
            }
        });
    }
}

}  // namespace ceiba::tree
