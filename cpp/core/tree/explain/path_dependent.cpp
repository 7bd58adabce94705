// Path-dependent Shapley values: quadrature along the paths, rows in lanes (tree_shap.hpp).
#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numbers>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "simd/shap_kernels.hpp"
#include "tree/explain/path_edges.hpp"
#include "tree/explain/tree_shap.hpp"

namespace ceiba::tree {
namespace {

// Values of the kernel at a time; more outputs are computed in several passes.
constexpr std::size_t kMaxValues = 8;
// Factors of the trees that are explained together: 32 MB.
constexpr std::size_t kMaxFactors = std::size_t(1) << 22;
constexpr std::size_t kMaxTile = std::size_t(1) << 15;  // results of a segment: 256 kB

// Gauss-Legendre quadrature on [0, 1]: exact for polynomials of degree 2 n - 1.
struct Quadrature {
    std::vector<double> t, weight;

    explicit Quadrature(std::size_t n) : t(n), weight(n) {
        for (std::size_t i = 0; i < n; ++i) {
            // Newton's method from the usual estimate of a root of the Legendre polynomial.
            double x = std::cos(std::numbers::pi * (double(i) + 0.75) / (double(n) + 0.5));
            double slope = 1;
            for (int iteration = 0; iteration < 100; ++iteration) {
                double p = 1, before = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    const double next =
                        (double(2 * k + 1) * x * p - double(k) * before) / double(k + 1);
                    before = p;
                    p = next;
                }
                slope = double(n) * (x * p - before) / (x * x - 1);
                const double step = p / slope;
                x -= step;
                if (std::abs(step) < 1e-16) break;
            }
            t[i] = (1 + x) / 2;
            weight[i] = 1 / ((1 - x * x) * slope * slope);
        }
    }
};

// A tree as the kernel takes it.
struct PreparedTree {
    PathEdges path;
    Quadrature quadrature;
    std::vector<double> factors;
    std::vector<RealSplit> real;
    std::vector<std::int32_t> other;    // splits of other columns
    std::vector<double> values;         // of the leaves, times the scale
    std::vector<double> leaf_fraction;  // of the rows

    // Without rows to explain, only the fractions of the leaves are computed.
    PreparedTree(const ExplainedTrees& trees, std::size_t t, const std::vector<AnyColumn>& columns,
                 bool has_rows)
        : path(trees.tree(t)), quadrature(std::max<std::size_t>(1, (path.max_slots + 1) / 2)) {
        const TreeView tree = trees.tree(t);
        for (std::size_t s = 0; s < path.splits.size(); ++s) {
            const PackedNode& node = tree.nodes[path.splits[s]];
            const bool is_real_test =
                node.kind() == Test::kReal && is_real(columns[node.column()].type);
            if (is_real_test)
                real.push_back({std::bit_cast<double>(node.bits),
                                trees.fractional ? -1 : std::int64_t(node.missing_branch()),
                                std::int32_t(node.column()), std::int32_t(s)});
            else
                other.push_back(std::int32_t(s));
        }
        for (const std::int32_t leaf : path.leaves)
            for (std::size_t k = 0; k < trees.n_values; ++k)
                values.push_back(
                    trees.values[std::size_t(trees.first[t] + leaf) * trees.n_values + k] *
                    trees.scale[t]);
        add_factors(tree, trees.cover + trees.first[t], has_rows);
    }

  private:
    // Of each edge at each point: the ratio of the path's products below and above it if the row
    // satisfies the conditions on the column, and if it fails here for the first time; the change
    // of (o - z) / (o t + z (1 - t)) in both cases; and the ratio if the row failed before, which
    // has no change.
    void add_factors(const TreeView& tree, const double* cover, bool has_rows) {
        const std::size_t n = quadrature.t.size();
        std::vector<double> z(path.edges.size()), reach(path.edges.size());
        leaf_fraction.assign(path.leaves.size(), 1.0);
        const std::vector<std::int32_t> n_branches = branch_counts(tree);
        if (has_rows) factors.reserve(path.edges.size() * (4 * n + 1));
        for (std::size_t e = 0; e < path.edges.size(); ++e) {
            const ShapEdge& edge = path.edges[e];
            const std::int32_t split = path.splits[std::size_t(edge.split)];
            const double* branch = cover + tree.nodes[split].child;
            double total = 0;
            for (std::int32_t b = 0; b < n_branches[std::size_t(split)]; ++b) total += branch[b];
            // A node without rows divides its own evenly.
            const double fraction = total > 0 ? branch[edge.branch] / total
                                              : 1.0 / double(n_branches[std::size_t(split)]);
            double before = 1;
            if (edge.previous_depth > 0) {
                std::int32_t above = edge.parent;
                while (path.edges[std::size_t(above)].depth != edge.previous_depth)
                    above = path.edges[std::size_t(above)].parent;
                before = z[std::size_t(above)];
            }
            z[e] = before * fraction;
            reach[e] = (edge.parent < 0 ? 1.0 : reach[std::size_t(edge.parent)]) * fraction;
            if (edge.leaf >= 0) leaf_fraction[std::size_t(edge.leaf)] = reach[e];
            if (!has_rows) continue;
            const auto mixture = [&](double q, double fraction_of) {
                return q + fraction_of * (1 - q);
            };
            const auto slope = [&](double q, double fraction_of) {
                return (1 - fraction_of) / mixture(q, fraction_of);
            };
            for (const double q : quadrature.t)
                factors.push_back(mixture(q, z[e]) / mixture(q, before));
            for (const double q : quadrature.t)
                factors.push_back(z[e] * (1 - q) / mixture(q, before));
            for (const double q : quadrature.t)
                factors.push_back(slope(q, z[e]) - slope(q, before));
            for (const double q : quadrature.t) factors.push_back(-1 / (1 - q) - slope(q, before));
            factors.push_back(fraction);
        }
    }
};

// The real columns of a segment of rows in blocks of lanes: (block, column, row).
void fill_tile(const std::vector<AnyColumn>& columns, std::size_t begin, std::size_t end,
               double* tile) {
    for (std::size_t first = begin; first < end; first += kShapRows) {
        for (const AnyColumn& column : columns) {
            for (std::size_t l = 0; is_real(column.type) && l < kShapRows; ++l) {
                const auto row = std::ptrdiff_t(std::min(first + l, end - 1)) * column.stride;
                tile[l] = column.type == Type::kDouble
                              ? static_cast<const double*>(column.data)[row]
                              : double(static_cast<const float*>(column.data)[row]);
            }
            tile += kShapRows;
        }
    }
}

class SegmentExplainer {
  public:
    SegmentExplainer(const ExplainedTrees& trees, const std::vector<AnyColumn>& columns,
                     std::size_t begin, std::size_t end)
        : trees_(trees),
          columns_(columns),
          begin_(begin),
          end_(end),
          n_blocks_((end - begin + kShapRows - 1) / kShapRows),
          width_(columns.size() * trees.n_outputs * kShapRows),
          tile_(n_blocks_ * columns.size() * kShapRows),
          results_(n_blocks_ * width_, 0.0) {
        fill_tile(columns, begin, end, tile_.data());
    }

    void add(std::size_t t, const PreparedTree& prepared) {
        const std::size_t n_points = prepared.quadrature.t.size();
        const std::size_t n_chunk = std::min(kMaxValues, trees_.n_values);
        scratch_.resize(
            std::max(scratch_.size(), shap_scratch(prepared.path.depth, n_points, n_chunk)));
        branch_.resize(std::max(branch_.size(), prepared.path.splits.size() * kShapRows));
        const TreeView tree = trees_.tree(t);
        for (std::size_t b = 0; b < n_blocks_; ++b) {
            shap_kernels().branches(prepared.real.data(), prepared.real.size(),
                                    tile_.data() + b * columns_.size() * kShapRows, branch_.data());
            for (const std::int32_t split : prepared.other) {
                const PackedNode& node = tree.nodes[prepared.path.splits[std::size_t(split)]];
                for (std::size_t l = 0; l < kShapRows; ++l)
                    branch_[std::size_t(split) * kShapRows + l] = explained_branch(
                        tree, node, columns_[node.column()],
                        std::min(begin_ + b * kShapRows + l, end_ - 1), trees_.fractional);
            }
            for (std::size_t k = 0; k < trees_.n_values; k += kMaxValues)
                add_values(t, prepared, k, results_.data() + b * width_);
        }
    }

    // Add the results to out[(row * n_columns + column) * n_outputs + output].
    void write(double* out) const {
        const std::size_t n = columns_.size() * trees_.n_outputs;
        for (std::size_t i = begin_; i < end_; ++i) {
            const double* from =
                results_.data() + (i - begin_) / kShapRows * width_ + (i - begin_) % kShapRows;
            for (std::size_t j = 0; j < n; ++j) out[i * n + j] += from[j * kShapRows];
        }
    }

  private:
    void add_values(std::size_t t, const PreparedTree& prepared, std::size_t k, double* results) {
        const std::size_t n = std::min(kMaxValues, trees_.n_values - k);
        const double* values = prepared.values.data();
        if (trees_.n_values > kMaxValues) {
            chunk_.clear();
            for (std::size_t leaf = 0; leaf < prepared.path.leaves.size(); ++leaf)
                chunk_.insert(chunk_.end(), values + leaf * trees_.n_values + k,
                              values + leaf * trees_.n_values + k + n);
            values = chunk_.data();
        }
        const ShapTree tree{prepared.path.edges.data(),
                            prepared.path.edges.size(),
                            prepared.path.depth,
                            prepared.factors.data(),
                            prepared.quadrature.weight.data(),
                            prepared.quadrature.t.size(),
                            values,
                            n,
                            trees_.n_outputs};
        const std::size_t output = trees_.output ? std::size_t(trees_.output[t]) : k;
        shap_kernels().explain(tree, branch_.data(), scratch_.data(), results + output * kShapRows);
    }

    const ExplainedTrees& trees_;
    const std::vector<AnyColumn>& columns_;
    std::size_t begin_, end_, n_blocks_, width_;
    Aligned<double> tile_, results_, scratch_;
    std::vector<double> chunk_;
    Aligned<std::int64_t> branch_;
};

}  // namespace

void path_dependent_shap(const ExplainedTrees& trees, const ExplainedRows& rows, double* out,
                         double* base, int threads) {
    const std::size_t width = rows.columns.size() * trees.n_outputs;
    std::fill_n(out, rows.n * width, 0.0);
    std::fill_n(base, trees.n_outputs, 0.0);
    const std::size_t max_rows = std::clamp<std::size_t>(kMaxTile / width, kShapRows, 256);
    const std::size_t n_rows = max_rows / kShapRows * kShapRows;
    Interrupt preparing;
    for (std::size_t t = 0; t < trees.n_trees;) {
        // Results are added tree by tree in order, so that they do not depend on the threads.
        std::vector<std::unique_ptr<PreparedTree>> prepared;
        const std::size_t first = t;
        std::size_t n_factors = 0, work = 0;
        for (; t < trees.n_trees && n_factors < kMaxFactors; ++t) {
            if (preparing.stopped(0)) throw Interrupted{};
            prepared.push_back(std::make_unique<PreparedTree>(trees, t, rows.columns, rows.n > 0));
            const PreparedTree& own = *prepared.back();
            n_factors += own.factors.size();
            work += own.factors.size() * trees.n_values;
            for (std::size_t leaf = 0; leaf < own.path.leaves.size(); ++leaf)
                for (std::size_t k = 0; k < trees.n_values; ++k)
                    base[trees.output ? std::size_t(trees.output[t]) : k] +=
                        own.leaf_fraction[leaf] * own.values[leaf * trees.n_values + k];
        }
        if (rows.n == 0) continue;
        const Segments parts{rows.n, (rows.n + n_rows - 1) / n_rows};
        for_segments(parts, threads_for(double(work) * double(rows.n), threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         SegmentExplainer segment(trees, rows.columns, parts.begin(s),
                                                  parts.end(s));
                         for (std::size_t i = 0; i < prepared.size(); ++i) {
                             if (interrupt.stopped(thread)) return;
                             segment.add(first + i, *prepared[i]);
                         }
                         segment.write(out);
                     });
    }
}

}  // namespace ceiba::tree
