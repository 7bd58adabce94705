// Implementation of the quantiles of forest predictions.
#include "forest/predict/quantiles.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "common/parallel.hpp"

namespace ceiba::forest {
namespace {

// A cumulative weight that misses a quantile by rounding alone reaches it.
constexpr double kRounding = 1e-12;

class RowQuantiles {
  public:
    explicit RowQuantiles(const LeafRows& training) : training_(training) {}

    void find(const std::int32_t* leaf, std::span<const double> q, double* out) {
        gather(leaf);
        for (std::size_t i = 0; i < q.size(); ++i) out[i] = quantile(q[i]);
    }

  private:
    // Every tree distributes the same total weight over the rows of its leaf.
    void gather(const std::int32_t* leaf) {
        weights_.clear();
        for (std::size_t t = 0; t < training_.n_trees; ++t) {
            const auto rows = training_.of(t, leaf[t]);
            double total = 0;
            for (const std::uint32_t row : rows) total += training_.weight[row];
            for (const std::uint32_t row : rows)
                weights_.emplace_back(row, training_.weight[row] / total);
        }
        std::sort(weights_.begin(), weights_.end());
        total_ = 0;
        for (const auto& weight : weights_) total_ += weight.second;
    }

    double quantile(double q) const {
        double sum = 0;
        for (const auto& [index, weight] : weights_) {
            sum += weight;
            if (sum >= (q - kRounding) * total_) return training_.target[index];
        }
        return training_.target[weights_.back().first];
    }

    const LeafRows& training_;
    std::vector<std::pair<std::uint32_t, double>> weights_;
    double total_ = 0;
};

}  // namespace

void quantiles(const LeafRows& training, const std::int32_t* leaf, std::size_t n,
               std::span<const double> q, double* out, int threads) {
    const Segments parts = segments(n, 256);
    for_segments(parts, threads_for(100.0 * double(n) * double(training.n_trees), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     RowQuantiles row(training);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if (interrupt.stopped(thread)) return;
                         row.find(leaf + i * training.n_trees, q, out + i * q.size());
                     }
                 });
}

}  // namespace ceiba::forest
