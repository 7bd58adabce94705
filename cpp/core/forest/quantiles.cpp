#include "forest/quantiles.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "parallel.hpp"

namespace ceiba::forest {
namespace {

// A share that falls short of a quantile by rounding alone reaches it.
constexpr double kRounding = 1e-12;

class RowQuantiles {
  public:
    explicit RowQuantiles(const LeafRows& training) : training_(training) {}

    void find(const std::int32_t* leaf, std::span<const double> wanted, double* out) {
        gather(leaf);
        for (std::size_t q = 0; q < wanted.size(); ++q) out[q] = quantile(wanted[q]);
    }

  private:
    // Every tree spreads the same weight over the rows of its leaf.
    void gather(const std::int32_t* leaf) {
        shares_.clear();
        for (std::size_t t = 0; t < training_.trees; ++t) {
            const auto rows = training_.of(t, leaf[t]);
            double total = 0;
            for (const std::uint32_t row : rows) total += training_.weight[row];
            for (const std::uint32_t row : rows)
                shares_.emplace_back(row, training_.weight[row] / total);
        }
        std::sort(shares_.begin(), shares_.end());
        total_ = 0;
        for (const auto& share : shares_) total_ += share.second;
    }

    double quantile(double wanted) const {
        double sum = 0;
        for (const auto& [place, share] : shares_) {
            sum += share;
            if (sum >= (wanted - kRounding) * total_) return training_.target[place];
        }
        return training_.target[shares_.back().first];
    }

    const LeafRows& training_;
    std::vector<std::pair<std::uint32_t, double>> shares_;
    double total_ = 0;
};

}  // namespace

void quantiles(const LeafRows& training, const std::int32_t* leaf, std::size_t n,
               std::span<const double> wanted, double* out, int threads) {
    const Segments parts = segments(n, 256);
    for_segments(parts, threads_for(100.0 * double(n) * double(training.trees), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     RowQuantiles row(training);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if (interrupt.stopped(thread)) return;
                         row.find(leaf + i * training.trees, wanted, out + i * wanted.size());
                     }
                 });
}

}  // namespace ceiba::forest
