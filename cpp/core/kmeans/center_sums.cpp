// Implementation of the assignment step: Hamerly's bounds, full scans, compensated sums.
#include "kmeans/center_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kmeans/packed_centers.hpp"

namespace ceiba {
namespace {

// Rows processed together: they stay in the first-level cache between the bound test and the sums.
constexpr std::size_t kBlockRows = 256;

struct ExactTwo {
    std::int32_t label;
    double first, second;  // squared distances
};

// Distances computed by differences in double; ties go to the lowest label. Used where rounding
// could decide. A missing value adds nothing.
template <typename T>
ExactTwo exact_two(const T* x, Matrix<const double> centers) {
    const double infinity = std::numeric_limits<double>::infinity();
    ExactTwo two{0, infinity, infinity};
    for (std::size_t c = 0; c < centers.rows; ++c) {
        double squared = 0;
        for (std::size_t j = 0; j < centers.cols; ++j) {
            const double difference = double(x[j]) - centers.row(c)[j];
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

// Partial results of one segment.
struct Partial {
    double* sums = nullptr;          // k x width
    double* compensation = nullptr;  // k x width, or null: every iteration sums all rows
    double inertia = 0;
    std::size_t moved = 0, scanned = 0;
    bool resum = true;  // sum all rows again; false: only rows that moved
};

// Buffers of one thread.
template <typename T>
struct Scratch {
    Scratch(std::size_t tile, std::size_t d, std::size_t points)
        : work(tile * d), distances(points * tile) {}

    std::uint32_t rows[kBlockRows];
    std::int32_t open[kBlockRows];
    std::int32_t labels[kBlockRows], found[kBlockRows];
    T lead[kBlockRows], squared[kBlockRows];
    float upper[kBlockRows], lower[kBlockRows];
    std::vector<T> work, distances;
};

// One assignment step over blocks of rows.
template <typename T>
class AssignmentStep {
  public:
    AssignmentStep(const CenterProblem<T>& problem, const RowState& state,
                   const CenterTotals& totals, int threads)
        : problem_(problem),
          state_(state),
          totals_(totals),
          kernels_(kmeans_kernels<T>()),
          packed_(problem.centers, problem.offset, kernels_.center_block) {
        if (bounded())
            packed_.update_bounds(problem.centers, state.previous, problem.X.rows, threads);
    }

    void segment(std::size_t begin, std::size_t end, Partial& partial, int thread,
                 Interrupt& stop) const {
        Scratch<T> scratch(kernels_.tile, problem_.X.cols,
                           problem_.has_missing ? problem_.centers.rows + 1 : 0);
        partial.resum = state_.fresh() || !partial.compensation;
        if (!state_.fresh()) check_labels(begin, end);
        for (std::size_t i = begin; i < end && !stop.stopped(thread); i += kBlockRows)
            process_block(i, std::min(kBlockRows, end - i), (end - begin) / 4, scratch, partial);
        if (!partial.sums || !partial.compensation || stop.raised()) return;
        if (partial.resum)
            // More than a quarter of the rows moved: one sum over all rows, now that their labels
            // are final, is cheaper than two corrections per moved row.
            resum_all(begin, end, partial);
        else
            clear_empty(partial);
    }

  private:
    bool bounded() const { return state_.upper != nullptr; }

    // Labels of an earlier iteration index arrays of length k, so they must be in range.
    void check_labels(std::size_t begin, std::size_t end) const {
        const std::uint32_t k = std::uint32_t(problem_.centers.rows);
        std::uint32_t outside = 0;
        for (std::size_t i = begin; i < end; ++i) outside |= std::uint32_t(state_.labels[i]) >= k;
        if (outside) throw std::invalid_argument("labels must be indices of centers.");
    }

    void process_block(std::size_t first, std::size_t count, std::size_t max_moved,
                       Scratch<T>& scratch, Partial& partial) const {
        std::int32_t* labels = state_.labels ? state_.labels + first : scratch.labels;
        if (problem_.has_missing)
            label_with_missing(first, count, labels, scratch, partial);
        else
            label_with_bounds(first, count, labels, scratch, partial);
        partial.resum |= partial.moved > max_moved;
        if (partial.sums && !partial.compensation) add(first, count, labels, partial);
        if (totals_.compute_inertia || totals_.squared)
            add_inertia(first, count, labels, scratch, partial);
    }

    void label_with_bounds(std::size_t first, std::size_t count, std::int32_t* labels,
                           Scratch<T>& scratch, Partial& partial) const {
        std::size_t open = count;
        if (state_.fresh() || !bounded()) {
            for (std::size_t i = 0; i < count; ++i) scratch.rows[i] = std::uint32_t(i);
        } else {
            open = undecided(first, count, labels, scratch);
            // Where most rows are undecided, most stay undecided, and their own distance would be
            // wasted.
            if (2 * open <= count) open = tighten(first, open, labels, scratch);
        }
        scan(first, open, labels, scratch, partial);
    }

    // Collect the rows whose bounds cross after the movement of the centers.
    std::size_t undecided(std::size_t first, std::size_t count, const std::int32_t* labels,
                          Scratch<T>& scratch) const {
        const CenterMovement moves{packed_.movement.data(), packed_.other_movement.data(),
                                   packed_.half_separation.data()};
        kernels_.loosen_bounds(count, labels, moves, state_.upper + first, state_.lower + first,
                               scratch.open);
        std::size_t open = 0;
        for (std::size_t i = 0; i < count; ++i) {
            scratch.rows[open] = std::uint32_t(i);
            open += std::size_t(scratch.open[i]);
        }
        return open;
    }

    // Tighten the upper bound by one distance, to the row's own center, which decides many rows.
    std::size_t tighten(std::size_t first, std::size_t open, const std::int32_t* labels,
                        Scratch<T>& scratch) const {
        kernels_.squared_to_own(problem_.X.row(first), problem_.X.cols, scratch.rows, open,
                                packed_.offset.data(), packed_.shifted.data(), labels,
                                scratch.squared);
        std::size_t n_open = 0;
        for (std::size_t i = 0; i < open; ++i) {
            const std::uint32_t row = scratch.rows[i];
            float& upper = state_.upper[first + row];
            upper = std::min(upper, packed_.upper_bound(scratch.squared[i]));
            scratch.rows[n_open] = row;
            n_open += !(upper <
                        std::max(state_.lower[first + row], packed_.half_separation[labels[row]]));
        }
        return n_open;
    }

    // Compare the undecided rows with every center.
    void scan(std::size_t first, std::size_t open, std::int32_t* labels, Scratch<T>& scratch,
              Partial& partial) const {
        kernels_.nearest_two(problem_.X.row(first), problem_.X.cols, scratch.rows, open,
                             packed_.offset.data(), packed_.panels(), scratch.work.data(),
                             {scratch.found, scratch.lead, scratch.upper, scratch.lower});
        for (std::size_t i = 0; i < open; ++i) {
            const std::uint32_t row = scratch.rows[i];
            relabel(first + row, resolve_label(first + row, i, scratch), labels[row], partial);
        }
        partial.scanned += open;
    }

    // Return the label of a scanned row: the kernel's, unless its lead is within the rounding
    // error.
    std::int32_t resolve_label(std::size_t row, std::size_t i, Scratch<T>& scratch) const {
        if (!(scratch.lead[i] > 0)) {
            const ExactTwo two = exact_two(problem_.X.row(row), problem_.centers);
            scratch.found[i] = two.label;
            scratch.upper[i] = packed_.upper_bound(T(two.first));
            scratch.lower[i] = float(std::sqrt(two.second) * PackedCenters<T>::kUnder);
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
            add_signed(row, old, -1, partial);
            add_signed(row, label, +1, partial);
        }
        old = label;
    }

    void add_signed(std::size_t row, std::int32_t label, double sign, Partial& partial) const {
        const std::size_t d = problem_.X.cols, first = std::size_t(label) * (d + 2);
        const double w = sign * (problem_.weight ? problem_.weight[row] : 1.0);
        kernels_.add_row_compensated(problem_.X.row(row), d, w, problem_.offset,
                                     partial.sums + first, partial.compensation + first);
        partial.sums[first + d + 1] += sign;
    }

    // Clear the sums of a center without rows, so that no rounding error remains.
    void clear_empty(Partial& partial) const {
        const std::size_t width = problem_.width();
        for (std::size_t c = 0; c < problem_.centers.rows; ++c)
            if (partial.sums[c * width + width - 1] == 0) {
                std::fill_n(partial.sums + c * width, width, 0.0);
                std::fill_n(partial.compensation + c * width, width, 0.0);
            }
    }

    void label_with_missing(std::size_t first, std::size_t count, std::int32_t* labels,
                            Scratch<T>& scratch, Partial& partial) const {
        const std::size_t tile = kernels_.tile, k = problem_.centers.rows;
        for (std::size_t t = 0; t < count; t += tile) {
            const std::size_t n_rows = std::min(tile, count - t);
            // The point after the centers is the offset itself: its distance is the norm of the
            // row.
            kernels_.squared_to_points_missing(problem_.X.data, problem_.X.cols, first + t, n_rows,
                                               packed_.offset.data(), packed_.shifted.data(), k + 1,
                                               scratch.work.data(), scratch.distances.data());
            for (std::size_t r = 0; r < n_rows; ++r)
                relabel(first + t + r,
                        nearest_observed(first + t + r, scratch.distances.data() + r),
                        labels[t + r], partial);
        }
        partial.scanned += count;
    }

    // Return the nearest center, in exact arithmetic if its lead is within the rounding error.
    std::int32_t nearest_observed(std::size_t row, const T* distances) const {
        const std::size_t tile = kernels_.tile, k = problem_.centers.rows;
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
        if (second - first > packed_.difference_error(distances[k * tile]))
            return std::int32_t(nearest);
        return exact_two(problem_.X.row(row), problem_.centers).label;
    }

    void resum_all(std::size_t begin, std::size_t end, Partial& partial) const {
        const std::size_t size = problem_.centers.rows * problem_.width();
        std::fill_n(partial.sums, size, 0.0);
        std::fill_n(partial.compensation, size, 0.0);
        for (std::size_t i = begin; i < end; ++i) add_signed(i, state_.labels[i], +1, partial);
    }

    void add(std::size_t first, std::size_t count, const std::int32_t* labels,
             Partial& partial) const {
        const double* weight = problem_.weight ? problem_.weight + first : nullptr;
        const std::size_t d = problem_.X.cols;
        if (!problem_.has_missing) {
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

    void add_inertia(std::size_t first, std::size_t count, const std::int32_t* labels,
                     Scratch<T>& scratch, Partial& partial) const {
        for (std::size_t i = 0; i < count; ++i) scratch.rows[i] = std::uint32_t(i);
        const auto squared =
            problem_.has_missing ? kernels_.squared_to_own_missing : kernels_.squared_to_own;
        squared(problem_.X.row(first), problem_.X.cols, scratch.rows, count, packed_.offset.data(),
                packed_.shifted.data(), labels, scratch.squared);
        for (std::size_t i = 0; i < count; ++i) {
            const double distance = scratch.squared[i];
            partial.inertia += (problem_.weight ? problem_.weight[first + i] : 1.0) * distance;
            if (totals_.squared) totals_.squared[first + i] = distance;
        }
    }

    const CenterProblem<T>& problem_;
    const RowState& state_;
    const CenterTotals& totals_;
    const KMeansKernels<T>& kernels_;
    PackedCenters<T> packed_;
};

void add_in_order(const std::vector<Partial>& partials, std::size_t size, CenterTotals& totals) {
    if (totals.table) std::fill_n(totals.table, size, 0.0);
    for (const Partial& partial : partials) {
        for (std::size_t i = 0; totals.table && i < size; ++i)
            totals.table[i] +=
                partial.compensation ? partial.sums[i] + partial.compensation[i] : partial.sums[i];
        totals.inertia += partial.inertia;
        totals.moved += partial.moved;
        totals.scanned += partial.scanned;
    }
}

}  // namespace

template <typename T>
Segments CenterProblem<T>::parts() const {
    return segments(X.rows, std::max<std::size_t>(8 * kBlockRows, 8 * centers.rows));
}

template <typename T>
void center_sums(const CenterProblem<T>& problem, const RowState& state, int threads,
                 CenterTotals& totals) {
    const Segments parts = problem.parts();
    const std::size_t size = problem.centers.rows * problem.width();
    std::vector<double> own(totals.table && !state.sums ? parts.count * size : 0);
    std::vector<Partial> partials(parts.count);
    for (std::size_t s = 0; totals.table && s < parts.count; ++s) {
        partials[s].sums = state.sums ? state.sums + 2 * s * size : own.data() + s * size;
        partials[s].compensation = state.sums ? state.sums + (2 * s + 1) * size : nullptr;
    }
    const AssignmentStep<T> step(problem, state, totals, threads);
    const double work = double(problem.X.rows) * double(size);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     step.segment(parts.begin(s), parts.end(s), partials[s], thread, stop);
                 });
    add_in_order(partials, size, totals);
}

template <typename T>
void squared_distances(const CenterProblem<T>& problem, int threads, T* out) {
    const std::size_t n = problem.X.rows, d = problem.X.cols, k = problem.centers.rows;
    const KMeansKernels<T>& kernel = kmeans_kernels<T>();
    const PackedCenters<T> packed(problem.centers, problem.offset, kernel.center_block);
    const auto squared =
        problem.has_missing ? kernel.squared_to_points_missing : kernel.squared_to_points;
    const auto scale = [&](const T* x) {
        if (!problem.has_missing) return T(1);
        return T(d) /
               T(std::max<std::ptrdiff_t>(1, std::count_if(x, x + d, [](T v) { return v == v; })));
    };
    const Segments parts = segments(n, 8 * kBlockRows);
    const double work = double(n) * double(k) * double(d);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     std::vector<T> tile(kernel.tile * d), distances(k * kernel.tile);
                     for (std::size_t i = parts.begin(s); i < parts.end(s) && !stop.stopped(thread);
                          i += kernel.tile) {
                         const std::size_t n_rows = std::min(kernel.tile, parts.end(s) - i);
                         squared(problem.X.data, d, i, n_rows, packed.offset.data(),
                                 packed.shifted.data(), k, tile.data(), distances.data());
                         for (std::size_t r = 0; r < n_rows; ++r) {
                             const T factor = scale(problem.X.row(i + r));
                             for (std::size_t c = 0; c < k; ++c)
                                 out[(i + r) * k + c] = factor * distances[c * kernel.tile + r];
                         }
                     }
                 });
}

template struct CenterProblem<double>;
template struct CenterProblem<float>;
template void center_sums<double>(const CenterProblem<double>&, const RowState&, int,
                                  CenterTotals&);
template void center_sums<float>(const CenterProblem<float>&, const RowState&, int, CenterTotals&);
template void squared_distances<double>(const CenterProblem<double>&, int, double*);
template void squared_distances<float>(const CenterProblem<float>&, int, float*);

}  // namespace ceiba
