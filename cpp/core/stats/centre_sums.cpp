#include "stats/centre_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stats/centre_frame.hpp"

namespace ceiba {
namespace {

// Rows walked together: they stay in the first cache between the bound test and the sums.
constexpr std::size_t kRun = 256;

struct ExactTwo {
    std::int32_t label;
    double first, second;  // squared distances
};

// Differences in double, the lowest label among equals: what decides when rounding could. A
// missing value adds nothing.
template <typename T>
ExactTwo exact_two(const T* x, Matrix<const double> centres) {
    const double infinity = std::numeric_limits<double>::infinity();
    ExactTwo two{0, infinity, infinity};
    for (std::size_t c = 0; c < centres.rows; ++c) {
        double squared = 0;
        for (std::size_t j = 0; j < centres.cols; ++j) {
            const double difference = double(x[j]) - centres.row(c)[j];
            squared += difference == difference ? difference * difference : 0.0;
        }
        if (squared < two.first) {
            two.second = two.first;
            two.first = squared;
            two.label = std::int32_t(c);
        } else {
            two.second = std::min(two.second, squared);
        }
    }
    return two;
}

// One segment's running results.
struct Partial {
    double* sums = nullptr;  // k x width
    double* lost = nullptr;  // k x width, or null: every step sums all rows
    double inertia = 0;
    std::size_t moved = 0, scanned = 0;
    bool resum = true;  // sum all rows anew (else: only those that moved)
};

// What one thread needs for its runs.
template <typename T>
struct Scratch {
    Scratch(std::size_t tile, std::size_t d, std::size_t points)
        : work(tile * d), distances(points * tile) {}

    std::uint32_t rows[kRun];
    std::int32_t open[kRun];
    std::int32_t labels[kRun], found[kRun];
    T lead[kRun], squared[kRun];
    float upper[kRun], lower[kRun];
    std::vector<T> work, distances;
};

// One E step: knows the problem, the centres' frame and the row state, and walks runs of rows.
template <typename T>
class Step {
  public:
    Step(const CentreProblem<T>& problem, const RowState& state, const CentreTotals& wanted,
         int threads)
        : problem_(problem),
          state_(state),
          wanted_(wanted),
          kernels_(kernels<T>()),
          frame_(problem.centres, problem.offset, kernels_.centre_block) {
        if (bounded()) frame_.measure(problem.centres, state.previous, problem.X.rows, threads);
    }

    void segment(std::size_t begin, std::size_t end, Partial& partial, int thread,
                 Interrupt& stop) const {
        Scratch<T> scratch(kernels_.tile, problem_.X.cols,
                           problem_.gaps ? problem_.centres.rows + 1 : 0);
        partial.resum = state_.fresh() || !partial.lost;
        if (!state_.fresh()) check_labels(begin, end);
        for (std::size_t i = begin; i < end && !stop.stopped(thread); i += kRun)
            run(i, std::min(kRun, end - i), (end - begin) / 4, scratch, partial);
        if (!partial.sums || !partial.lost || stop.raised()) return;
        if (partial.resum)
            // More than a quarter have moved: one sum of all rows, now that their labels are known,
            // is cheaper than two corrections for each of those.
            sum_anew(begin, end, partial);
        else
            clear_empty(partial);
    }

  private:
    bool bounded() const { return state_.upper != nullptr; }

    // Labels of an earlier step are indices into arrays of k: none may point outside.
    void check_labels(std::size_t begin, std::size_t end) const {
        const std::uint32_t k = std::uint32_t(problem_.centres.rows);
        std::uint32_t outside = 0;
        for (std::size_t i = begin; i < end; ++i) outside |= std::uint32_t(state_.labels[i]) >= k;
        if (outside) throw std::invalid_argument("a label points outside the centres");
    }

    void run(std::size_t first, std::size_t count, std::size_t many, Scratch<T>& scratch,
             Partial& partial) const {
        std::int32_t* labels = state_.labels ? state_.labels + first : scratch.labels;
        if (problem_.gaps)
            label_by_observed(first, count, labels, scratch, partial);
        else
            label_by_bounds(first, count, labels, scratch, partial);
        partial.resum |= partial.moved > many;
        if (partial.sums && !partial.lost) add(first, count, labels, partial);
        if (wanted_.want_inertia || wanted_.squared)
            measure(first, count, labels, scratch, partial);
    }

    void label_by_bounds(std::size_t first, std::size_t count, std::int32_t* labels,
                         Scratch<T>& scratch, Partial& partial) const {
        std::size_t open = count;
        if (state_.fresh() || !bounded()) {
            for (std::size_t i = 0; i < count; ++i) scratch.rows[i] = std::uint32_t(i);
        } else {
            open = undecided(first, count, labels, scratch);
            // Where most rows are open, most stay open: their own distance would be wasted.
            if (2 * open <= count) open = tighten(first, open, labels, scratch);
        }
        scan(first, open, labels, scratch, partial);
    }

    // Rows whose bounds, loosened by the centres' movement, now cross.
    std::size_t undecided(std::size_t first, std::size_t count, const std::int32_t* labels,
                          Scratch<T>& scratch) const {
        const BoundMoves moves{frame_.movement.data(), frame_.other_movement.data(),
                               frame_.half_gap.data()};
        kernels_.loosen(count, labels, moves, state_.upper + first, state_.lower + first,
                        scratch.open);
        std::size_t open = 0;
        for (std::size_t i = 0; i < count; ++i) {
            scratch.rows[open] = std::uint32_t(i);
            open += std::size_t(scratch.open[i]);
        }
        return open;
    }

    // One distance, to the own centre, closes many of them.
    std::size_t tighten(std::size_t first, std::size_t open, const std::int32_t* labels,
                        Scratch<T>& scratch) const {
        kernels_.squared_to_own(problem_.X.row(first), problem_.X.cols, scratch.rows, open,
                                frame_.offset.data(), frame_.shifted.data(), labels,
                                scratch.squared);
        std::size_t still = 0;
        for (std::size_t i = 0; i < open; ++i) {
            const std::uint32_t row = scratch.rows[i];
            float& upper = state_.upper[first + row];
            upper = std::min(upper, frame_.over(scratch.squared[i]));
            scratch.rows[still] = row;
            still += !(upper < std::max(state_.lower[first + row], frame_.half_gap[labels[row]]));
        }
        return still;
    }

    // Every centre, for the rows that are still open.
    void scan(std::size_t first, std::size_t open, std::int32_t* labels, Scratch<T>& scratch,
              Partial& partial) const {
        kernels_.nearest_two(problem_.X.row(first), problem_.X.cols, scratch.rows, open,
                             frame_.offset.data(), frame_.panels(), scratch.work.data(),
                             {scratch.found, scratch.lead, scratch.upper, scratch.lower});
        for (std::size_t i = 0; i < open; ++i) {
            const std::uint32_t row = scratch.rows[i];
            relabel(first + row, settle(first + row, i, scratch), labels[row], partial);
        }
        partial.scanned += open;
    }

    // The label of a scanned row: the kernel's, unless its lead is within the rounding error.
    std::int32_t settle(std::size_t row, std::size_t i, Scratch<T>& scratch) const {
        if (!(scratch.lead[i] > 0)) {
            const ExactTwo two = exact_two(problem_.X.row(row), problem_.centres);
            scratch.found[i] = two.label;
            scratch.upper[i] = frame_.over(T(two.first));
            scratch.lower[i] = float(std::sqrt(two.second) * CentreFrame<T>::kUnder);
        }
        if (bounded()) {
            state_.upper[row] = scratch.upper[i];
            state_.lower[row] = scratch.lower[i];
        }
        return scratch.found[i];
    }

    void relabel(std::size_t row, std::int32_t label, std::int32_t& old, Partial& partial) const {
        if (!state_.fresh() && label == old) return;
        ++partial.moved;
        if (!partial.resum) {
            move(row, old, -1, partial);
            move(row, label, +1, partial);
        }
        old = label;
    }

    void move(std::size_t row, std::int32_t label, double sign, Partial& partial) const {
        const std::size_t d = problem_.X.cols, place = std::size_t(label) * (d + 2);
        const double w = sign * (problem_.weight ? problem_.weight[row] : 1.0);
        kernels_.add_row_exactly(problem_.X.row(row), d, w, problem_.offset, partial.sums + place,
                                 partial.lost + place);
        partial.sums[place + d + 1] += sign;
    }

    // A centre that every row of the segment has left keeps no rounding of what was there.
    void clear_empty(Partial& partial) const {
        const std::size_t width = problem_.width();
        for (std::size_t c = 0; c < problem_.centres.rows; ++c)
            if (partial.sums[c * width + width - 1] == 0) {
                std::fill_n(partial.sums + c * width, width, 0.0);
                std::fill_n(partial.lost + c * width, width, 0.0);
            }
    }

    void label_by_observed(std::size_t first, std::size_t count, std::int32_t* labels,
                           Scratch<T>& scratch, Partial& partial) const {
        const std::size_t tile = kernels_.tile, k = problem_.centres.rows;
        for (std::size_t t = 0; t < count; t += tile) {
            const std::size_t here = std::min(tile, count - t);
            // The point after the centres is the offset itself: its distance is the row's length.
            kernels_.squared_to_points_gaps(problem_.X.data, problem_.X.cols, first + t, here,
                                            frame_.offset.data(), frame_.shifted.data(), k + 1,
                                            scratch.work.data(), scratch.distances.data());
            for (std::size_t r = 0; r < here; ++r)
                relabel(first + t + r,
                        nearest_observed(first + t + r, scratch.distances.data() + r),
                        labels[t + r], partial);
        }
        partial.scanned += count;
    }

    // From a column of distances: the nearest, unless its lead is within the rounding error.
    std::int32_t nearest_observed(std::size_t row, const T* distances) const {
        const std::size_t tile = kernels_.tile, k = problem_.centres.rows;
        T first = std::numeric_limits<T>::infinity(), second = first;
        std::size_t nearest = 0;
        for (std::size_t c = 0; c < k; ++c) {
            const T squared = distances[c * tile];
            second = std::min(second, std::max(first, squared));
            if (squared < first) {
                first = squared;
                nearest = c;
            }
        }
        if (second - first > frame_.difference_error(distances[k * tile]))
            return std::int32_t(nearest);
        return exact_two(problem_.X.row(row), problem_.centres).label;
    }

    void sum_anew(std::size_t begin, std::size_t end, Partial& partial) const {
        const std::size_t size = problem_.centres.rows * problem_.width();
        std::fill_n(partial.sums, size, 0.0);
        std::fill_n(partial.lost, size, 0.0);
        for (std::size_t i = begin; i < end; ++i) move(i, state_.labels[i], +1, partial);
    }

    void add(std::size_t first, std::size_t count, const std::int32_t* labels,
             Partial& partial) const {
        const double* weight = problem_.weight ? problem_.weight + first : nullptr;
        const std::size_t d = problem_.X.cols;
        if (!problem_.gaps) {
            kernels_.add_rows(problem_.X.row(first), d, count, weight, problem_.offset, labels,
                              partial.sums);
            return;
        }
        for (std::size_t i = 0; i < count; ++i) {
            const double w = weight ? weight[i] : 1.0;
            double* sums = partial.sums + std::size_t(labels[i]) * (2 * d + 1);
            sums[2 * d] += 1;
            for (std::size_t j = 0; j < d; ++j) {
                const double value = problem_.X.row(first + i)[j];
                if (value != value) continue;
                sums[j] += w * (value - problem_.offset[j]);
                sums[d + j] += w;
            }
        }
    }

    void measure(std::size_t first, std::size_t count, const std::int32_t* labels,
                 Scratch<T>& scratch, Partial& partial) const {
        for (std::size_t i = 0; i < count; ++i) scratch.rows[i] = std::uint32_t(i);
        const auto squared = problem_.gaps ? kernels_.squared_to_own_gaps : kernels_.squared_to_own;
        squared(problem_.X.row(first), problem_.X.cols, scratch.rows, count, frame_.offset.data(),
                frame_.shifted.data(), labels, scratch.squared);
        for (std::size_t i = 0; i < count; ++i) {
            const double distance = scratch.squared[i];
            partial.inertia += (problem_.weight ? problem_.weight[first + i] : 1.0) * distance;
            if (wanted_.squared) wanted_.squared[first + i] = distance;
        }
    }

    const CentreProblem<T>& problem_;
    const RowState& state_;
    const CentreTotals& wanted_;
    const Kernels<T>& kernels_;
    CentreFrame<T> frame_;
};

void add_in_order(const std::vector<Partial>& partials, std::size_t size, CentreTotals& totals) {
    if (totals.table) std::fill_n(totals.table, size, 0.0);
    for (const Partial& partial : partials) {
        for (std::size_t i = 0; totals.table && i < size; ++i)
            totals.table[i] += partial.lost ? partial.sums[i] + partial.lost[i] : partial.sums[i];
        totals.inertia += partial.inertia;
        totals.moved += partial.moved;
        totals.scanned += partial.scanned;
    }
}

}  // namespace

template <typename T>
Segments CentreProblem<T>::parts() const {
    return segments(X.rows, std::max<std::size_t>(8 * kRun, 8 * centres.rows));
}

template <typename T>
void centre_sums(const CentreProblem<T>& problem, const RowState& state, int threads,
                 CentreTotals& totals) {
    const Segments parts = problem.parts();
    const std::size_t size = problem.centres.rows * problem.width();
    std::vector<double> own(totals.table && !state.sums ? parts.count * size : 0);
    std::vector<Partial> partials(parts.count);
    for (std::size_t s = 0; totals.table && s < parts.count; ++s) {
        partials[s].sums = state.sums ? state.sums + 2 * s * size : own.data() + s * size;
        partials[s].lost = state.sums ? state.sums + (2 * s + 1) * size : nullptr;
    }
    const Step<T> step(problem, state, totals, threads);
    const double work = double(problem.X.rows) * double(size);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     step.segment(parts.begin(s), parts.end(s), partials[s], thread, stop);
                 });
    add_in_order(partials, size, totals);
}

template <typename T>
void squared_distances(const CentreProblem<T>& problem, int threads, T* out) {
    const std::size_t n = problem.X.rows, d = problem.X.cols, k = problem.centres.rows;
    const Kernels<T>& kernel = kernels<T>();
    const CentreFrame<T> frame(problem.centres, problem.offset, kernel.centre_block);
    const auto squared = problem.gaps ? kernel.squared_to_points_gaps : kernel.squared_to_points;
    const auto scale = [&](const T* x) {
        if (!problem.gaps) return T(1);
        return T(d) /
               T(std::max<std::ptrdiff_t>(1, std::count_if(x, x + d, [](T v) { return v == v; })));
    };
    const Segments parts = segments(n, 8 * kRun);
    const double work = double(n) * double(k) * double(d);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     std::vector<T> tile(kernel.tile * d), distances(k * kernel.tile);
                     for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                          i += kernel.tile) {
                         const std::size_t here = std::min(kernel.tile, parts.end(s) - i);
                         squared(problem.X.data, d, i, here, frame.offset.data(),
                                 frame.shifted.data(), k, tile.data(), distances.data());
                         for (std::size_t r = 0; r < here; ++r) {
                             const T factor = scale(problem.X.row(i + r));
                             for (std::size_t c = 0; c < k; ++c)
                                 out[(i + r) * k + c] = factor * distances[c * kernel.tile + r];
                         }
                     }
                 });
}

template struct CentreProblem<double>;
template struct CentreProblem<float>;
template void centre_sums<double>(const CentreProblem<double>&, const RowState&, int,
                                  CentreTotals&);
template void centre_sums<float>(const CentreProblem<float>&, const RowState&, int, CentreTotals&);
template void squared_distances<double>(const CentreProblem<double>&, int, double*);
template void squared_distances<float>(const CentreProblem<float>&, int, float*);

}  // namespace ceiba
