// Implementation of the k-means++ draws: keys per tile of rows, the smallest kept per segment.
#include "kmeans/plus_plus.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "common/parallel.hpp"
#include "kmeans/packed_centers.hpp"
#include "simd/kmeans_kernels.hpp"

namespace ceiba {
namespace {

struct Draw {
    double key;
    std::int64_t row;

    bool operator<(const Draw& other) const {
        return key < other.key || (key == other.key && row < other.row);
    }
};

// The M draws with the smallest keys.
class TopK {
  public:
    explicit TopK(std::size_t n_draws) : size_(n_draws) {}

    // No larger key can enter. The factor keeps rounding of this bound from excluding a draw.
    double max_key() const {
        return entries_.size() < size_ ? std::numeric_limits<double>::infinity()
                                       : entries_.back().key * (1 + 1e-12);
    }

    // 1 - u <= -log(u): a draw whose bound is too large needs no logarithm, and once the list is
    // full nearly all draws are rejected by the bound.
    void offer(double u, double rate, std::int64_t row) {
        if (rate > 0 && 1 - u <= max_key() * rate) insert({-std::log(u) / rate, row});
    }

    void insert(const Draw& draw) {
        if (entries_.size() == size_ && !(draw < entries_.back())) return;
        entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), draw), draw);
        if (entries_.size() > size_) entries_.pop_back();
    }

    const std::vector<Draw>& entries() const { return entries_; }

  private:
    std::size_t size_;
    std::vector<Draw> entries_;
};

// Potentials (per lane of the tile) and smallest draws of one segment, for each candidate.
struct Partial {
    std::vector<double> lanes;
    std::vector<TopK> top_draws;
};

template <typename T>
class TileSampler {
  public:
    explicit TileSampler(const PlusPlusProblem<T>& problem)
        : problem_(problem),
          kernels_(kmeans_kernels<T>()),
          tile_(kernels_.tile),
          chosen_(problem.chosen, problem.offset, kernels_.center_block),
          candidates_(problem.candidates, problem.offset, kernels_.center_block),
          squared_(problem.has_missing ? kernels_.squared_to_points_missing
                                       : kernels_.squared_to_points),
          work_(tile_ * problem.X.cols),
          distances_(tile_ * std::max(problem.chosen.rows, problem.candidates.rows)),
          nearest_(tile_),
          ones_(tile_, 1),
          uniforms_(tile_),
          weights_(tile_),
          rates_(tile_) {}

    void sample_tile(std::size_t first, std::size_t count, Partial& partial) {
        kernels_.uniforms(problem_.seed, problem_.stream, problem_.first_row + first, count,
                          uniforms_.data());
        for (std::size_t r = 0; r < tile_; ++r)
            weights_[r] = r >= count ? 0.0 : problem_.weight ? problem_.weight[first + r] : 1.0;
        if (problem_.candidates.rows == 0) {
            offer(0, ones_.data(), ones_.data(), first, count, partial);
            return;
        }
        const T* nearest = distances_to_chosen(first, count);
        compute_distances(first, count, candidates_, 0, problem_.candidates.rows);
        for (std::size_t t = 0; t < problem_.candidates.rows; ++t)
            offer(t, nearest, distances_.data() + t * tile_, first, count, partial);
    }

  private:
    void offer(std::size_t t, const T* nearest, const T* distances, std::size_t first,
               std::size_t count, Partial& partial) {
        TopK& top = partial.top_draws[t];
        if (!kernels_.sampling_rates(nearest, distances, weights_.data(), uniforms_.data(),
                                     top.max_key(), rates_.data(),
                                     partial.lanes.data() + t * tile_))
            return;
        for (std::size_t r = 0; r < count; ++r)
            top.offer(uniforms_[r], rates_[r], std::int64_t(problem_.first_row + first + r));
    }

    void compute_distances(std::size_t first, std::size_t count, const PackedCenters<T>& points,
                           std::size_t from, std::size_t m) {
        squared_(problem_.X.data, problem_.X.cols, first, count, points.offset.data(),
                 points.shifted.data() + from * problem_.X.cols, m, work_.data(),
                 distances_.data());
    }

    // Squared distances to the chosen centers, continued from the cached ones.
    const T* distances_to_chosen(std::size_t first, std::size_t count) {
        std::fill(nearest_.begin(), nearest_.end(), std::numeric_limits<T>::infinity());
        if (problem_.n_cached) std::copy_n(problem_.nearest + first, count, nearest_.begin());
        const std::size_t n_new = problem_.chosen.rows - problem_.n_cached;
        if (n_new) compute_distances(first, count, chosen_, problem_.n_cached, n_new);
        for (std::size_t c = 0; c < n_new; ++c)
            for (std::size_t r = 0; r < tile_; ++r)
                nearest_[r] = std::min(nearest_[r], distances_[c * tile_ + r]);
        if (problem_.nearest) std::copy_n(nearest_.begin(), count, problem_.nearest + first);
        return nearest_.data();
    }

    const PlusPlusProblem<T>& problem_;
    const KMeansKernels<T>& kernels_;
    std::size_t tile_;
    PackedCenters<T> chosen_, candidates_;
    typename KMeansKernels<T>::SquaredToPoints squared_;
    std::vector<T> work_, distances_, nearest_, ones_;
    std::vector<double> uniforms_, weights_, rates_;
};

void merge_partials(std::vector<Partial>& partials, std::size_t tile,
                    const PlusPlusTotals& totals) {
    std::vector<TopK>& top_draws = partials[0].top_draws;
    for (std::size_t t = 0; t < top_draws.size(); ++t) {
        totals.potential[t] = 0;
        for (Partial& partial : partials) {
            double potential = 0;
            for (std::size_t r = 0; r < tile; ++r) potential += partial.lanes[t * tile + r];
            totals.potential[t] += potential;
            if (&partial != &partials[0])
                for (const Draw& draw : partial.top_draws[t].entries()) top_draws[t].insert(draw);
        }
        const std::vector<Draw>& entries = top_draws[t].entries();
        for (std::size_t m = 0; m < totals.n_draws; ++m) {
            const bool present = m < entries.size();
            totals.keys[t * totals.n_draws + m] =
                present ? entries[m].key : std::numeric_limits<double>::infinity();
            totals.rows[t * totals.n_draws + m] = present ? entries[m].row : -1;
        }
    }
}

}  // namespace

template <typename T>
void next_candidates(const PlusPlusProblem<T>& problem, int threads, const PlusPlusTotals& totals) {
    const std::size_t tile = kmeans_kernels<T>().tile;
    const std::size_t n_lists = std::max<std::size_t>(problem.candidates.rows, 1);
    const Segments parts = segments(problem.X.rows, 2048);
    std::vector<Partial> partials(parts.count, {std::vector<double>(n_lists * tile),
                                                std::vector<TopK>(n_lists, TopK(totals.n_draws))});
    const double points = double(n_lists + problem.chosen.rows - problem.n_cached + 4);
    const double work = double(problem.X.rows) * double(problem.X.cols) * points;
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     TileSampler<T> sampler(problem);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += tile) {
                         sampler.sample_tile(i, std::min(tile, parts.end(s) - i), partials[s]);
                         if (i % 1024 < tile && stop.stopped(thread)) return;
                     }
                 });
    merge_partials(partials, tile, totals);
}

template void next_candidates<double>(const PlusPlusProblem<double>&, int, const PlusPlusTotals&);
template void next_candidates<float>(const PlusPlusProblem<float>&, int, const PlusPlusTotals&);

}  // namespace ceiba
