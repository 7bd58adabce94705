// Implementation of the out-of-bag losses and the permutation importance.
#include "forest/oob/out_of_bag.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common/parallel.hpp"
#include "common/random.hpp"
#include "forest/predict/leaf_predictions.hpp"

namespace ceiba::forest {
namespace {

constexpr std::uint64_t kPermuted = 0x7065726D;
constexpr std::size_t kTreesPerBatch = 32;  // trees whose out-of-bag rows are in memory at once

// Out-of-bag rows of some trees, in ascending order.
class OobRows {
  public:
    void gather(const TrainedForest& trained, std::size_t first, std::size_t last, int threads) {
        rows_.resize(last - first);
        const double work = 10.0 * double(rows_.size()) * double(trained.sampling.draws);
        for_segments({rows_.size(), rows_.size()}, threads_for(work, threads),
                     [&](std::size_t t, int thread, Interrupt& interrupt) {
                         rows_[t] = trained.oob_rows(first + t, interrupt, thread);
                     });
    }
    std::span<const std::uint32_t> of(std::size_t t) const { return rows_[t]; }
    std::span<const std::uint32_t> of(std::size_t t, std::size_t begin, std::size_t end) const {
        const auto low = std::lower_bound(rows_[t].begin(), rows_[t].end(), begin);
        const auto high = std::lower_bound(low, rows_[t].end(), end);
        return {low, high};
    }

  private:
    std::vector<std::vector<std::uint32_t>> rows_;
};

// Losses of one block of rows after each tree.
struct LossCurve {
    explicit LossCurve(std::size_t trees) : rows(trees, 0), loss(trees, 0), squares(trees, 0) {}

    std::vector<std::int64_t> rows;
    std::vector<double> loss, squares;
};

double squared(double x) { return x * x; }

class BlockLosses {
  public:
    BlockLosses(const TrainedForest& trained, const OobTotals& out, std::size_t begin,
                std::size_t end)
        : trained_(trained),
          width_(std::max<std::size_t>(1, trained.forest.n_classes)),
          begin_(begin),
          out_(out),
          loss_(end - begin, 0) {}

    // Add the predictions of one tree for some rows of the block.
    void add(LeafPredictions& predictions, std::span<const std::uint32_t> rows,
             const std::int32_t* leaf) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint32_t row = rows[i];
            double* sum = out_.sum + row * width_;
            predictions.add(leaf[i], sum);
            n_predicted_ += out_.count[row]++ == 0;
            double& row_loss = loss_[row - begin_];
            total_ -= row_loss;
            squares_ -= row_loss * row_loss;
            row_loss = loss(row, sum);
            total_ += row_loss;
            squares_ += row_loss * row_loss;
        }
    }
    void record(std::size_t tree, LossCurve& curve) const {
        curve.rows[tree] += n_predicted_;
        curve.loss[tree] += total_;
        curve.squares[tree] += squares_;
    }

  private:
    double loss(std::uint32_t row, const double* sum) const {
        if (trained_.forest.n_classes == 0)
            return squared((*sum / double(out_.count[row]) - trained_.target[row]) /
                           trained_.scale);
        return std::max_element(sum, sum + width_) - sum != trained_.label[row];
    }

    const TrainedForest& trained_;
    std::size_t width_, begin_;
    const OobTotals& out_;
    std::vector<double> loss_;
    std::int64_t n_predicted_ = 0;
    double total_ = 0, squares_ = 0;
};

}  // namespace

std::vector<std::uint32_t> TrainedForest::oob_rows(std::size_t tree, Interrupt& interrupt,
                                                   int thread) const {
    std::vector<Number> count(sampling.rows);
    sampling.counts(seeds[tree], count.data(), &interrupt, thread);
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < count.size(); ++i)
        if (count[i] == 0) rows.push_back(std::uint32_t(i));
    return rows;
}

void out_of_bag(const TrainedForest& trained, const double* smoothing, const OobTotals& out,
                int threads) {
    const std::size_t trees = trained.forest.n_trees, n = trained.table.rows;
    const Segments parts = segments(n, 4096);
    std::vector<LossCurve> curves(parts.count, LossCurve(trees));
    std::vector<BlockLosses> sums;
    for (std::size_t s = 0; s < parts.count; ++s)
        sums.emplace_back(trained, out, parts.begin(s), parts.end(s));
    OobRows oob;
    for (std::size_t first = 0; first < trees; first += kTreesPerBatch) {
        const std::size_t last = std::min(trees, first + kTreesPerBatch);
        oob.gather(trained, first, last, threads);
        const double work = 20.0 * double(n) * double(last - first);
        for_segments(parts, threads_for(work, threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         std::vector<std::int32_t> leaf(parts.end(s) - parts.begin(s));
                         LeafPredictions predictions(trained.forest);
                         for (std::size_t t = first; t < last; ++t) {
                             if (interrupt.stopped(thread)) return;
                             const auto rows = oob.of(t - first, parts.begin(s), parts.end(s));
                             route_rows(trained.forest, trained.table, t, rows, leaf.data());
                             predictions.set_tree(t, smoothing[t]);
                             sums[s].add(predictions, rows, leaf.data());
                             sums[s].record(t, curves[s]);
                         }
                     });
    }
    for (std::size_t t = 0; t < trees; ++t) {
        for (const LossCurve& curve : curves) {
            out.rows[t] += curve.rows[t];
            out.loss[t] += curve.loss[t];
            out.squares[t] += curve.squares[t];
        }
    }
}

namespace {

// Loss of a row at its leaf.
double leaf_loss(const TrainedForest& trained, std::uint32_t row, LeafPredictions& predictions,
                 std::int32_t leaf) {
    if (trained.forest.n_classes == 0)
        return squared((predictions.value(leaf) - trained.target[row]) / trained.scale);
    return predictions.majority(leaf) != trained.label[row];
}

// Permute the rows, keyed by (tree, column, repeat).
void shuffle(std::uint64_t seed, std::size_t column, std::size_t repeat,
             std::span<const std::uint32_t> rows, std::vector<std::uint32_t>& order) {
    order.assign(rows.begin(), rows.end());
    const std::uint64_t stream =
        kPermuted ^ std::uint64_t(column) << 32 ^ std::uint64_t(repeat) << 56;
    for (std::size_t i = rows.size(); i-- > 1;) {
        const std::uint64_t bits = even_half(philox(seed, stream, i));
        std::swap(order[i], order[scaled(bits, i + 1)]);
    }
}

bool splits_on(const ForestView& forest, std::size_t tree, std::size_t column) {
    const tree::TreeView view = forest.tree(tree);
    return std::any_of(view.nodes, view.nodes + view.count, [&](const PackedNode& node) {
        return node.kind() != tree::Test::kLeaf && node.column() == column;
    });
}

}  // namespace

void permutation_importance(const TrainedForest& trained, std::size_t repeats, double* sum,
                            std::int32_t* count, int threads) {
    const ForestView& forest = trained.forest;
    const std::size_t p = trained.table.width;
    OobRows oob;
    std::vector<std::vector<double>> loss_before(kTreesPerBatch);
    for (std::size_t first = 0; first < forest.n_trees; first += kTreesPerBatch) {
        const std::size_t last = std::min(forest.n_trees, first + kTreesPerBatch);
        oob.gather(trained, first, last, threads);
        const double work = 20.0 * double(last - first) * double(trained.table.rows);
        for_segments({last - first, last - first}, threads_for(work, threads),
                     [&](std::size_t t, int, Interrupt&) {
                         const auto rows = oob.of(t);
                         std::vector<std::int32_t> leaf(rows.size());
                         route_rows(forest, trained.table, first + t, rows, leaf.data());
                         LeafPredictions predictions(forest);
                         predictions.set_tree(first + t);
                         loss_before[t].resize(rows.size());
                         for (std::size_t i = 0; i < rows.size(); ++i)
                             loss_before[t][i] = leaf_loss(trained, rows[i], predictions, leaf[i]);
                     });
        for (std::size_t t = 0; t < last - first; ++t)
            for (const std::uint32_t row : oob.of(t)) ++count[row];
        // Parallel over columns, so that every sum is taken in tree order.
        for_segments({p, p}, threads_for(work * double(p), threads),
                     [&](std::size_t j, int thread, Interrupt& interrupt) {
                         std::vector<std::uint32_t> from;
                         std::vector<std::int32_t> leaf;
                         LeafPredictions predictions(forest);
                         for (std::size_t t = first; t < last; ++t) {
                             if (interrupt.stopped(thread)) return;
                             if (!splits_on(forest, t, j)) continue;
                             const auto rows = oob.of(t - first);
                             leaf.resize(rows.size());
                             predictions.set_tree(t);
                             for (std::size_t r = 0; r < repeats; ++r) {
                                 if (interrupt.stopped(thread)) return;
                                 shuffle(trained.seeds[t], j, r, rows, from);
                                 route_permuted(forest, trained.table, t, rows, j, from,
                                                leaf.data());
                                 for (std::size_t i = 0; i < rows.size(); ++i)
                                     sum[rows[i] * p + j] +=
                                         leaf_loss(trained, rows[i], predictions, leaf[i]) -
                                         loss_before[t - first][i];
                             }
                         }
                     });
    }
}

}  // namespace ceiba::forest
