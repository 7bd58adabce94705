#include "mixture/expectation.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "aligned.hpp"
#include "mixture/marginal.hpp"
#include "mixture/tile_reader.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace ceiba {
namespace {

// Joint log densities of the components, tile by tile: what the covariances' kinds differ in.
template <typename T>
class Densities {
  public:
    Densities(const MixtureProblem<T>& problem, bool conditional)
        : problem_(problem),
          model_(problem.model),
          reader_(problem),
          joint_(model_.k * kMixtureRows),
          marginal_(model_, conditional),
          work_((side_blocks(model_.d) + 1) * kSide * kMixtureRows) {
        if (!model_.full)
            prepare_diagonal();
        else if (problem.patterns.order == nullptr)
            marginal_.see(std::vector<bool>(model_.d));
    }

    const TileReader<T>& reader() const { return reader_; }
    const Marginal& marginal() const { return marginal_; }
    double* joint() { return joint_.data(); }
    double* work() { return work_.data(); }

    // body() for each tile of the rows [begin, end) of the order, as long as it returns true; tiles
    // never mix patterns.
    template <typename Body>
    void for_tiles(std::size_t begin, std::size_t end, const Body& body) {
        const std::int64_t* starts = problem_.patterns.starts;
        if (problem_.patterns.order == nullptr) {
            tiles(begin, end, body);
            return;
        }
        std::size_t p = std::size_t(
            std::upper_bound(starts, starts + problem_.patterns.count + 1, std::int64_t(begin)) -
            starts - 1);
        for (; begin < end; ++p) {
            const std::size_t stop = std::min(end, std::size_t(starts[p + 1]));
            see(std::size_t(problem_.patterns.order[begin]));
            if (!tiles(begin, stop, body)) return;
            begin = stop;
        }
    }

    // The joint log densities of the tile at hand.
    void compute() {
        for (std::size_t c = 0; c < model_.k; ++c) {
            double* out = joint_.data() + c * kMixtureRows;
            const std::size_t padded = reader_.padded();
            if (model_.full)
                kernels_.triangular(reader_.tile(), marginal_.observed().size(), padded,
                                    marginal_.mean(c), marginal_.panels(c), marginal_.norm(c),
                                    work_.data(), out);
            else if (problem_.gaps)
                kernels_.diagonal_gaps(reader_.tile(), model_.d, padded, model_.mean(c),
                                       model_.factor(c), log_norms_.data() + c * model_.d,
                                       model_.log_weights[c], out);
            else
                kernels_.diagonal(reader_.tile(), model_.d, padded, model_.mean(c),
                                  model_.factor(c), norms_[c], out);
        }
    }

  private:
    void prepare_diagonal() {
        norms_.resize(model_.k);
        log_norms_.resize(model_.k * model_.d);
        for (std::size_t c = 0; c < model_.k; ++c) {
            norms_[c] = model_.log_weights[c];
            for (std::size_t j = 0; j < model_.d; ++j) {
                const double one = std::log(model_.factor(c)[j]) - 0.5 * kLogTwoPi;
                log_norms_[c * model_.d + j] = one;
                norms_[c] += one;
            }
        }
    }

    void see(std::size_t row) {
        std::vector<bool> missing(model_.d);
        for (std::size_t j = 0; j < model_.d; ++j) missing[j] = std::isnan(problem_.X.row(row)[j]);
        marginal_.see(missing);
    }

    template <typename Body>
    bool tiles(std::size_t begin, std::size_t end, const Body& body) {
        for (; begin < end; begin += kMixtureRows) {
            reader_.read(begin, std::min(kMixtureRows, end - begin), marginal_.observed());
            if (!body()) return false;
        }
        return true;
    }

    const MixtureProblem<T>& problem_;
    const Gaussians& model_;
    const MixtureKernels& kernels_ = mixture_kernels();
    TileReader<T> reader_;
    Aligned<double> joint_;
    Marginal marginal_;
    Aligned<double> work_;
    std::vector<double> norms_, log_norms_;
};

// The sums of one segment of rows, as one array, so that segments are added entry by entry:
// log-likelihood, weights, and the moments as the kernels keep them.
struct SumLayout {
    explicit SumLayout(const Gaussians& model, bool gaps) {
        const std::size_t lanes = mixture_kernels().lanes;
        first = (1 + model.k + 7) / 8 * 8;  // where a cache line begins
        first_each = model.full ? model.d : model.d * (gaps ? 3 : 2) * lanes;
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

    void add(std::size_t begin, std::size_t end, double* sums, int thread, Interrupt& stop) {
        densities_.for_tiles(begin, end, [&] {
            if (stop.stopped(thread)) return false;
            if (problem_.given.any())
                take_given();
            else
                expect(sums);
            for (std::size_t c = 0; c < model_.k; ++c) add_component(c, sums);
            return true;
        });
    }

  private:
    void expect(double* sums) {
        densities_.compute();
        const auto& reader = densities_.reader();
        sums[0] += kernels_.responsibilities(densities_.joint(), model_.k, reader.padded(),
                                             reader.weight(), nullptr);
    }

    void take_given() {
        const auto& reader = densities_.reader();
        double* joint = densities_.joint();
        std::fill_n(joint, model_.k * kMixtureRows, 0.0);
        for (std::size_t r = 0; r < reader.count(); ++r) {
            double total = 0;
            for (std::size_t c = 0; c < model_.k; ++c)
                total += joint[c * kMixtureRows + r] = share(reader.row(r), c);
            const double scale = reader.weight()[r] / (problem_.given.drawn ? total : 1.0);
            for (std::size_t c = 0; c < model_.k; ++c) joint[c * kMixtureRows + r] *= scale;
        }
    }

    double share(std::size_t row, std::size_t c) const {
        const Given& given = problem_.given;
        if (given.labels != nullptr) return given.labels[row] == std::int32_t(c) ? 1.0 : 0.0;
        if (given.shares != nullptr) return given.shares[row * model_.k + c];
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
            const auto add =
                problem_.gaps ? kernels_.diagonal_moments_gaps : kernels_.diagonal_moments;
            total = add(reader.tile(), model_.d, reader.padded(), pivot, r, first);
        }
        sums[1 + c] += total;
    }

    // The tile with missing values replaced by what component c expects there.
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
                second[triangle_place(missing[a], missing[b])] +=
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

// Sums of segments, added in the order of the segments whoever comes first. Those that have to wait
// for an earlier one are few: who comes too early waits himself, so that many columns take little
// memory.
class OrderedSum {
  public:
    explicit OrderedSum(std::size_t size) : total_(size) {}

    // Zeros to sum a segment in: memory that has been used is used again.
    Aligned<double> zeros() {
        const std::lock_guard<std::mutex> guard(lock_);
        if (spare_.empty()) return Aligned<double>(total_.size());
        Aligned<double> sums = std::move(spare_.back());
        spare_.pop_back();
        std::fill(sums.begin(), sums.end(), 0.0);
        return sums;
    }

    void add(std::size_t segment, Aligned<double>&& sums, int thread, Interrupt& stop) {
        std::unique_lock<std::mutex> guard(lock_);
        while (segment > next_ + kAhead && !stop.stopped(thread))
            added_.wait_for(guard, std::chrono::milliseconds(20));
        waiting_.emplace(segment, std::move(sums));
        for (auto first = waiting_.begin(); first != waiting_.end() && first->first == next_;
             first = waiting_.erase(first), ++next_) {
            for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += first->second[i];
            spare_.push_back(std::move(first->second));
        }
        added_.notify_all();
    }

    const double* values() const { return total_.data(); }

  private:
    static constexpr std::size_t kAhead = 2;

    std::mutex lock_;
    std::condition_variable added_;
    std::map<std::size_t, Aligned<double>> waiting_;
    std::vector<Aligned<double>> spare_;
    std::size_t next_ = 0;
    Aligned<double> total_;
};

// What a thread works with, made when it comes for the first time.
template <typename Worker>
class Workers {
  public:
    explicit Workers(int threads) : each_(std::size_t(threads)) {}

    template <typename... Arguments>
    Worker& of(int thread, const Arguments&... arguments) {
        std::unique_ptr<Worker>& mine = each_[std::size_t(thread)];
        if (!mine) mine = std::make_unique<Worker>(arguments...);
        return *mine;
    }

  private:
    std::vector<std::unique_ptr<Worker>> each_;
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
                    second[triangle_place(i, j)];
    }
}

// What is missing in a diagonal model is expected at the mean, with the variance, whatever the row:
// it is added once for all rows.
void unpack_diagonal(const Gaussians& model, const SumLayout& layout, bool gaps, const double* sums,
                     MixtureMoments& out) {
    const std::size_t lanes = mixture_kernels().lanes, kinds = gaps ? 3 : 2;
    for (std::size_t c = 0; c < model.k; ++c)
        for (std::size_t j = 0; j < model.d; ++j) {
            const double* mine = sums + layout.first + c * layout.first_each + j * kinds * lanes;
            double total[3] = {};
            for (std::size_t kind = 0; kind < kinds; ++kind)
                for (std::size_t lane = 0; lane < lanes; ++lane)
                    total[kind] += mine[kind * lanes + lane];
            const std::size_t place = c * model.d + j;
            if (gaps) {
                const double away = model.means[place] - out.pivots[place];
                const double unseen = std::max(0.0, out.weights[c] - total[2]);
                total[0] += unseen * away;
                total[1] += unseen * (away * away + model.covariances[place]);
            }
            out.first[place] = total[0];
            out.second[place] = total[1];
        }
}

// Multiply-adds of all rows, for the choice of threads.
double work_of(const Gaussians& model, std::size_t rows) {
    const double each = model.full ? double(model.d) * double(model.d + 1) : 4.0 * double(model.d);
    return double(rows) * double(model.k) * (each + 20);
}

// Where segments of equal work begin, and the end. A pattern of gaps costs d^3 operations beside
// d^2 for each of its rows, as much as d rows; without patterns all rows cost the same.
std::vector<std::size_t> borders(const Segments& parts, const Patterns& patterns, std::size_t d) {
    std::vector<std::size_t> result;
    if (patterns.order == nullptr) {
        for (std::size_t s = 0; s <= parts.count; ++s) result.push_back(parts.begin(s));
        return result;
    }
    const double all = double(parts.rows) + double(patterns.count * d);
    double done = 0;
    for (std::size_t p = 0; p < patterns.count; ++p) {
        const double rows = double(patterns.starts[p + 1] - patterns.starts[p]);
        while (result.size() <= parts.count) {
            const double wanted = all * double(result.size()) / double(parts.count);
            if (wanted >= done + double(d) + rows) break;
            const double within = std::clamp(wanted - done - double(d), 0.0, rows);
            result.push_back(std::size_t(patterns.starts[p]) + std::size_t(within));
        }
        done += double(d) + rows;
    }
    result.resize(parts.count + 1, parts.rows);
    result.back() = parts.rows;
    return result;
}

// Some tiles a segment.
Segments mixture_segments(std::size_t rows) { return segments(rows, 4 * kMixtureRows, 64); }

// No more threads than segments, and one alone for little work.
template <typename T>
int threads_used(const MixtureProblem<T>& problem, const Segments& parts, int threads) {
    const int most = int(std::min(std::size_t(threads), parts.count));
    return threads_for(work_of(problem.model, problem.X.rows), most);
}

// The likeliest component of each row of a tile, the first of equals.
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

// Log densities and posteriors of a tile; the joint densities are used up.
template <typename T>
void write_shares(const TileReader<T>& reader, double* joint, std::size_t k,
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
    const SumLayout layout(problem.model, problem.gaps);
    const Segments parts = mixture_segments(problem.X.rows);
    const std::vector<std::size_t> border = borders(parts, problem.patterns, problem.model.d);
    OrderedSum total(layout.size);
    const int used = threads_used(problem, parts, threads);
    Workers<ComponentSums<T>> workers(used);
    for_segments(parts, used, [&](std::size_t s, int thread, Interrupt& stop) {
        Aligned<double> sums = total.zeros();
        workers.of(thread, problem, out.pivots, layout)
            .add(border[s], border[s + 1], sums.data(), thread, stop);
        total.add(s, std::move(sums), thread, stop);
    });
    const double* sums = total.values();
    out.log_likelihood = sums[0];
    std::copy_n(sums + 1, problem.model.k, out.weights);
    if (problem.model.full)
        unpack_full(problem.model, layout, sums, out);
    else
        unpack_diagonal(problem.model, layout, problem.gaps, sums, out);
}

template <typename T>
void row_posteriors(const MixtureProblem<T>& problem, const RowPosteriors& out, int threads) {
    const Segments parts = segments(problem.X.rows, 4 * kMixtureRows);
    const std::vector<std::size_t> border = borders(parts, problem.patterns, problem.model.d);
    const int used = threads_used(problem, parts, threads);
    Workers<Densities<T>> workers(used);
    for_segments(parts, used, [&](std::size_t s, int thread, Interrupt& stop) {
        Densities<T>& densities = workers.of(thread, problem, false);
        densities.for_tiles(border[s], border[s + 1], [&] {
            if (stop.stopped(thread)) return false;
            densities.compute();
            write_labels(densities.reader(), densities.joint(), problem.model.k, out);
            write_shares(densities.reader(), densities.joint(), problem.model.k, out);
            return true;
        });
    });
}

template void expected_moments<double>(const MixtureProblem<double>&, MixtureMoments&, int);
template void expected_moments<float>(const MixtureProblem<float>&, MixtureMoments&, int);
template void row_posteriors<double>(const MixtureProblem<double>&, const RowPosteriors&, int);
template void row_posteriors<float>(const MixtureProblem<float>&, const RowPosteriors&, int);

}  // namespace ceiba
