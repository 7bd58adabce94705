// Implementation of the E step: responsibilities and expected moments of every component.
#include "mixture/expectation.hpp"

#include <algorithm>
#include <vector>

#include "common/aligned.hpp"
#include "common/ordered_sum.hpp"
#include "common/parallel.hpp"
#include "common/random.hpp"
#include "mixture/densities.hpp"
#include "mixture/work_division.hpp"

namespace ceiba {
namespace {

// Layout of the sums of one segment in one array, so that segments are added entry by entry:
// log-likelihood, weights, and moments in the kernels' layout.
struct SumLayout {
    explicit SumLayout(const Gaussians& model, bool has_missing) {
        const std::size_t lanes = mixture_kernels().lanes;
        first = (1 + model.k + 7) / 8 * 8;  // start of a cache line
        first_each = model.full ? model.d : model.d * (has_missing ? 3 : 2) * lanes;
        second = first + model.k * first_each;
        second_each = model.full ? triangle_size(model.d) : 0;
        size = second + model.k * second_each;
    }
    std::size_t first, first_each, second, second_each, size;
};

template <typename T>
class ComponentSums {
  public:
    ComponentSums(const MixtureProblem<T>& problem, const double* pivots, const SumLayout& layout)
        : problem_(problem),
          model_(problem.model),
          pivots_(pivots),
          layout_(layout),
          densities_(problem, true),
          completed_(problem.patterns.order != nullptr && model_.full ? model_.d * kMixtureRows
                                                                      : 0) {}

    void add(std::size_t begin, std::size_t end, double* sums, const StopTest& stop) {
        densities_.for_tiles(begin, end, stop, [&] {
            if (problem_.given.any())
                fill_given();
            else
                compute_responsibilities(sums);
            for (std::size_t c = 0; c < model_.k && !densities_.stopped(); ++c)
                add_component(c, sums);
            return true;
        });
    }

  private:
    void compute_responsibilities(double* sums) {
        densities_.compute();
        const auto& reader = densities_.reader();
        sums[0] += kernels_.responsibilities(densities_.joint(), model_.k, reader.padded(),
                                             reader.weight(), nullptr);
    }

    void fill_given() {
        const auto& reader = densities_.reader();
        double* joint = densities_.joint();
        std::fill_n(joint, model_.k * kMixtureRows, 0.0);
        for (std::size_t r = 0; r < reader.count(); ++r) {
            double total = 0;
            for (std::size_t c = 0; c < model_.k; ++c)
                total += joint[c * kMixtureRows + r] = given_responsibility(reader.row(r), c);
            const double scale = reader.weight()[r] / (problem_.given.drawn ? total : 1.0);
            for (std::size_t c = 0; c < model_.k; ++c) joint[c * kMixtureRows + r] *= scale;
        }
    }

    double given_responsibility(std::size_t row, std::size_t c) const {
        const GivenResponsibilities& given = problem_.given;
        if (given.labels != nullptr) return given.labels[row] == std::int32_t(c) ? 1.0 : 0.0;
        if (given.responsibilities != nullptr) return given.responsibilities[row * model_.k + c];
        return uniform(given.seed, given.stream, (given.first_row + row) * model_.k + c);
    }

    void add_component(std::size_t c, double* sums) {
        const auto& reader = densities_.reader();
        const double* r = densities_.joint() + c * kMixtureRows;
        const double* pivot = pivots_ + c * model_.d;
        double* first = sums + layout_.first + c * layout_.first_each;
        double* second = sums + layout_.second + c * layout_.second_each;
        double total;
        if (model_.full) {
            const double* tile = completed_.empty() ? reader.tile() : complete(c);
            total = kernels_.full_moments(tile, model_.d, reader.padded(), pivot, r,
                                          densities_.work(), first, second);
            add_conditional(c, total, second);
        } else {
            const auto add = problem_.has_missing ? kernels_.diagonal_moments_missing
                                                  : kernels_.diagonal_moments;
            total = add(reader.tile(), model_.d, reader.padded(), pivot, r, first);
        }
        sums[1 + c] += total;
    }

    // The tile with missing values replaced by their conditional expectation under component c.
    const double* complete(std::size_t c) {
        const auto& reader = densities_.reader();
        const Marginal& marginal = densities_.marginal();
        if (marginal.missing().empty()) return reader.tile();
        const std::size_t o = marginal.observed().size();
        for (std::size_t i = 0; i < o; ++i)
            std::copy_n(reader.tile() + i * kMixtureRows, reader.padded(),
                        completed_.data() + marginal.observed()[i] * kMixtureRows);
        for (std::size_t m = 0; m < marginal.missing().size(); ++m) {
            const std::size_t j = marginal.missing()[m];
            kernels_.regress(reader.tile(), o, reader.padded(), marginal.mean(c),
                             marginal.slopes(c, m), model_.mean(c)[j],
                             completed_.data() + j * kMixtureRows);
        }
        return completed_.data();
    }

    void add_conditional(std::size_t c, double weight, double* second) {
        const std::vector<std::size_t>& missing = densities_.marginal().missing();
        const double* conditional = densities_.marginal().conditional(c);
        for (std::size_t a = 0; a < missing.size(); ++a)
            for (std::size_t b = 0; b <= a; ++b)
                second[triangle_index(missing[a], missing[b])] +=
                    weight * conditional[a * missing.size() + b];
    }

    const MixtureProblem<T>& problem_;
    const Gaussians& model_;
    const double* pivots_;
    const SumLayout& layout_;
    const MixtureKernels& kernels_ = mixture_kernels();
    Densities<T> densities_;
    Aligned<double> completed_;
};

void unpack_full(const Gaussians& model, const SumLayout& layout, const double* sums,
                 MixtureMoments& out) {
    const std::size_t d = model.d;
    for (std::size_t c = 0; c < model.k; ++c) {
        const double* second = sums + layout.second + c * layout.second_each;
        std::copy_n(sums + layout.first + c * d, d, out.first + c * d);
        for (std::size_t i = 0; i < d; ++i)
            for (std::size_t j = 0; j <= i; ++j)
                out.second[(c * d + i) * d + j] = out.second[(c * d + j) * d + i] =
                    second[triangle_index(i, j)];
    }
}

// A missing value of a diagonal model has the mean and variance of the component, independent of
// the row, so it is added once for all rows.
void unpack_diagonal(const Gaussians& model, const SumLayout& layout, bool has_missing,
                     const double* sums, MixtureMoments& out) {
    const std::size_t lanes = mixture_kernels().lanes, kinds = has_missing ? 3 : 2;
    for (std::size_t c = 0; c < model.k; ++c)
        for (std::size_t j = 0; j < model.d; ++j) {
            const double* column_sums =
                sums + layout.first + c * layout.first_each + j * kinds * lanes;
            double total[3] = {};
            for (std::size_t kind = 0; kind < kinds; ++kind)
                for (std::size_t lane = 0; lane < lanes; ++lane)
                    total[kind] += column_sums[kind * lanes + lane];
            const std::size_t index = c * model.d + j;
            if (has_missing) {
                const double from_pivot = model.means[index] - out.pivots[index];
                const double missing_weight = std::max(0.0, out.weights[c] - total[2]);
                total[0] += missing_weight * from_pivot;
                total[1] += missing_weight * (from_pivot * from_pivot + model.covariances[index]);
            }
            out.first[index] = total[0];
            out.second[index] = total[1];
        }
}

// Multiply-adds over all rows, to choose the number of threads.
double work_of(const Gaussians& model, std::size_t rows) {
    const double each = model.full ? double(model.d) * double(model.d + 1) : 4.0 * double(model.d);
    return double(rows) * double(model.k) * (each + 20);
}

// A few tiles per segment.
Segments mixture_segments(std::size_t rows) { return segments(rows, 4 * kMixtureRows, 64); }

// At most one thread per segment, and a single thread for little work.
template <typename T>
int threads_used(const MixtureProblem<T>& problem, const Segments& parts, int threads) {
    const int n_threads = int(std::min(std::size_t(threads), parts.count));
    return threads_for(work_of(problem.model, problem.X.rows), n_threads);
}

// Write the most probable component of each row of a tile; ties go to the first.
template <typename T>
void write_labels(const TileReader<T>& reader, const double* joint, std::size_t k,
                  const RowPosteriors& out) {
    if (out.labels == nullptr) return;
    for (std::size_t r = 0; r < reader.count(); ++r) {
        std::size_t best = 0;
        for (std::size_t c = 1; c < k; ++c)
            if (joint[c * kMixtureRows + r] > joint[best * kMixtureRows + r]) best = c;
        out.labels[reader.row(r)] = std::int32_t(best);
    }
}

// Write log densities and posteriors of a tile; overwrites the joint densities.
template <typename T>
void write_posteriors(const TileReader<T>& reader, double* joint, std::size_t k,
                      const RowPosteriors& out) {
    if (out.log_density == nullptr && out.posteriors == nullptr) return;
    alignas(64) double ones[kMixtureRows], log_density[kMixtureRows];
    std::fill_n(ones, kMixtureRows, 1.0);
    mixture_kernels().responsibilities(joint, k, reader.padded(), ones, log_density);
    for (std::size_t r = 0; r < reader.count(); ++r) {
        const std::size_t row = reader.row(r);
        if (out.log_density != nullptr) out.log_density[row] = log_density[r];
        if (out.posteriors == nullptr) continue;
        for (std::size_t c = 0; c < k; ++c)
            out.posteriors[row * k + c] = joint[c * kMixtureRows + r];
    }
}

}  // namespace

template <typename T>
void expected_moments(const MixtureProblem<T>& problem, MixtureMoments& out, int threads) {
    const SumLayout layout(problem.model, problem.has_missing);
    const Segments parts = mixture_segments(problem.X.rows);
    const std::vector<std::size_t> bounds =
        segment_borders(parts, problem.patterns, problem.model.d);
    OrderedSum total(layout.size);
    const int used = threads_used(problem, parts, threads);
    PerThread<ComponentSums<T>> workers(used);
    for_segments(parts, used, [&](std::size_t s, int thread, Interrupt& stop) {
        Aligned<double> sums = total.zeros();
        workers.of(thread, problem, out.pivots, layout)
            .add(bounds[s], bounds[s + 1], sums.data(), {&stop, thread});
        total.add(s, std::move(sums), thread, stop);
    });
    const double* sums = total.values();
    out.log_likelihood = sums[0];
    std::copy_n(sums + 1, problem.model.k, out.weights);
    if (problem.model.full)
        unpack_full(problem.model, layout, sums, out);
    else
        unpack_diagonal(problem.model, layout, problem.has_missing, sums, out);
}

template <typename T>
void row_posteriors(const MixtureProblem<T>& problem, const RowPosteriors& out, int threads) {
    const Segments parts = segments(problem.X.rows, 4 * kMixtureRows);
    const std::vector<std::size_t> bounds =
        segment_borders(parts, problem.patterns, problem.model.d);
    const int used = threads_used(problem, parts, threads);
    PerThread<Densities<T>> workers(used);
    for_segments(parts, used, [&](std::size_t s, int thread, Interrupt& stop) {
        Densities<T>& densities = workers.of(thread, problem, false);
        densities.for_tiles(bounds[s], bounds[s + 1], {&stop, thread}, [&] {
            densities.compute();
            write_labels(densities.reader(), densities.joint(), problem.model.k, out);
            write_posteriors(densities.reader(), densities.joint(), problem.model.k, out);
            return true;
        });
    });
}

template void expected_moments<double>(const MixtureProblem<double>&, MixtureMoments&, int);
template void expected_moments<float>(const MixtureProblem<float>&, MixtureMoments&, int);
template void row_posteriors<double>(const MixtureProblem<double>&, const RowPosteriors&, int);
template void row_posteriors<float>(const MixtureProblem<float>&, const RowPosteriors&, int);

}  // namespace ceiba
