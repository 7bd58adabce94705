#include "stats/race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "parallel.hpp"
#include "simd/kernels.hpp"
#include "stats/centre_frame.hpp"

namespace ceiba {
namespace {

struct Runner {
    double key;
    std::int64_t row;

    bool operator<(const Runner& other) const {
        return key < other.key || (key == other.key && row < other.row);
    }
};

// The first M at the finish.
class Podium {
  public:
    explicit Podium(std::size_t places) : places_(places) {}

    // Nobody slower than this has a place. Rounding of the bound's own arithmetic must not exclude
    // anybody, hence the little more.
    double limit() const {
        return runners_.size() < places_ ? std::numeric_limits<double>::infinity()
                                         : runners_.back().key * (1 + 1e-12);
    }

    // 1 - u <= -log(u): a runner too slow even at that bound needs no logarithm, and once the
    // podium is full nearly all are.
    void enter(double u, double rate, std::int64_t row) {
        if (rate > 0 && 1 - u <= limit() * rate) insert({-std::log(u) / rate, row});
    }

    void insert(const Runner& runner) {
        if (runners_.size() == places_ && !(runner < runners_.back())) return;
        runners_.insert(std::upper_bound(runners_.begin(), runners_.end(), runner), runner);
        if (runners_.size() > places_) runners_.pop_back();
    }

    const std::vector<Runner>& runners() const { return runners_; }

  private:
    std::size_t places_;
    std::vector<Runner> runners_;
};

// One segment's potentials (by lane of the tile) and podiums, for each candidate.
struct Partial {
    std::vector<double> lanes;
    std::vector<Podium> podiums;
};

template <typename T>
class Heat {
  public:
    explicit Heat(const RaceProblem<T>& problem)
        : problem_(problem),
          kernels_(kernels<T>()),
          tile_(kernels_.tile),
          chosen_(problem.chosen, problem.offset, kernels_.centre_block),
          candidates_(problem.candidates, problem.offset, kernels_.centre_block),
          squared_(problem.gaps ? kernels_.squared_to_points_gaps : kernels_.squared_to_points),
          work_(tile_ * problem.X.cols),
          distances_(tile_ * std::max(problem.chosen.rows, problem.candidates.rows)),
          nearest_(tile_),
          ones_(tile_, 1),
          draws_(tile_),
          weights_(tile_),
          rates_(tile_) {}

    void run(std::size_t first, std::size_t count, Partial& partial) {
        kernels_.uniforms(problem_.seed, problem_.stream, problem_.first_row + first, count,
                          draws_.data());
        for (std::size_t r = 0; r < tile_; ++r)
            weights_[r] = r >= count ? 0.0 : problem_.weight ? problem_.weight[first + r] : 1.0;
        if (problem_.candidates.rows == 0) {
            enter(0, ones_.data(), ones_.data(), first, count, partial);
            return;
        }
        const T* nearest = to_chosen(first, count);
        measure(first, count, candidates_, 0, problem_.candidates.rows);
        for (std::size_t t = 0; t < problem_.candidates.rows; ++t)
            enter(t, nearest, distances_.data() + t * tile_, first, count, partial);
    }

  private:
    void enter(std::size_t t, const T* nearest, const T* distances, std::size_t first,
               std::size_t count, Partial& partial) {
        Podium& podium = partial.podiums[t];
        if (!kernels_.race_rates(nearest, distances, weights_.data(), draws_.data(), podium.limit(),
                                 rates_.data(), partial.lanes.data() + t * tile_))
            return;
        for (std::size_t r = 0; r < count; ++r)
            podium.enter(draws_[r], rates_[r], std::int64_t(problem_.first_row + first + r));
    }

    void measure(std::size_t first, std::size_t count, const CentreFrame<T>& points,
                 std::size_t from, std::size_t m) {
        squared_(problem_.X.data, problem_.X.cols, first, count, points.offset.data(),
                 points.shifted.data() + from * problem_.X.cols, m, work_.data(),
                 distances_.data());
    }

    // D^2 to the chosen centres, continued from what is settled.
    const T* to_chosen(std::size_t first, std::size_t count) {
        std::fill(nearest_.begin(), nearest_.end(), std::numeric_limits<T>::infinity());
        if (problem_.settled) std::copy_n(problem_.nearest + first, count, nearest_.begin());
        const std::size_t more = problem_.chosen.rows - problem_.settled;
        if (more) measure(first, count, chosen_, problem_.settled, more);
        for (std::size_t c = 0; c < more; ++c)
            for (std::size_t r = 0; r < tile_; ++r)
                nearest_[r] = std::min(nearest_[r], distances_[c * tile_ + r]);
        if (problem_.nearest) std::copy_n(nearest_.begin(), count, problem_.nearest + first);
        return nearest_.data();
    }

    const RaceProblem<T>& problem_;
    const Kernels<T>& kernels_;
    std::size_t tile_;
    CentreFrame<T> chosen_, candidates_;
    typename Kernels<T>::SquaredToPoints squared_;
    std::vector<T> work_, distances_, nearest_, ones_;
    std::vector<double> draws_, weights_, rates_;
};

void finish(std::vector<Partial>& partials, std::size_t tile, const RaceTotals& totals) {
    std::vector<Podium>& podiums = partials[0].podiums;
    for (std::size_t t = 0; t < podiums.size(); ++t) {
        totals.potential[t] = 0;
        for (Partial& partial : partials) {
            double potential = 0;
            for (std::size_t r = 0; r < tile; ++r) potential += partial.lanes[t * tile + r];
            totals.potential[t] += potential;
            if (&partial != &partials[0])
                for (const Runner& runner : partial.podiums[t].runners()) podiums[t].insert(runner);
        }
        const std::vector<Runner>& runners = podiums[t].runners();
        for (std::size_t m = 0; m < totals.places; ++m) {
            const bool there = m < runners.size();
            totals.keys[t * totals.places + m] =
                there ? runners[m].key : std::numeric_limits<double>::infinity();
            totals.rows[t * totals.places + m] = there ? runners[m].row : -1;
        }
    }
}

}  // namespace

template <typename T>
void race(const RaceProblem<T>& problem, int threads, const RaceTotals& totals) {
    const std::size_t tile = kernels<T>().tile;
    const std::size_t lists = std::max<std::size_t>(problem.candidates.rows, 1);
    const Segments parts = segments(problem.X.rows, 2048);
    std::vector<Partial> partials(parts.count, {std::vector<double>(lists * tile),
                                                std::vector<Podium>(lists, Podium(totals.places))});
    const double points = double(lists + problem.chosen.rows - problem.settled + 4);
    const double work = double(problem.X.rows) * double(problem.X.cols) * points;
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Heat<T> heat(problem);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); i += tile) {
                         heat.run(i, std::min(tile, parts.end(s) - i), partials[s]);
                         if (i % 1024 < tile && stop.stopped(thread)) return;
                     }
                 });
    finish(partials, tile, totals);
}

template void race<double>(const RaceProblem<double>&, int, const RaceTotals&);
template void race<float>(const RaceProblem<float>&, int, const RaceTotals&);

}  // namespace ceiba
