// Joint log densities of the components of a mixture, computed tile by tile.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "mixture/gaussians.hpp"
#include "mixture/marginal.hpp"
#include "simd/mixture_kernels.hpp"

namespace ceiba {

// Reads tiles of rows as lanes, in row order or grouped by missing pattern.
template <typename T>
class TileReader {
  public:
    explicit TileReader(const MixtureProblem<T>& problem)
        : problem_(problem),
          kernels_(mixture_kernels()),
          tile_(std::max<std::size_t>(problem.X.cols, 1) * kMixtureRows),
          weight_(kMixtureRows) {}

    // Read rows [first, first + count) of the order, `count` <= kMixtureRows: the listed columns if
    // there is an order, else all.
    void read(std::size_t first, std::size_t count, const std::vector<std::size_t>& columns) {
        first_ = first;
        count_ = count;
        padded_ = (count + kernels_.group - 1) / kernels_.group * kernels_.group;
        if (problem_.patterns.order == nullptr)
            pack();
        else
            gather(columns);
        // Rows that pad a tile have weight zero.
        for (std::size_t r = 0; r < padded_; ++r)
            weight_[r] = r >= count                   ? 0.0
                         : problem_.weight == nullptr ? 1.0
                                                      : problem_.weight[row(r)];
    }

    std::size_t row(std::size_t r) const {
        const std::int64_t* order = problem_.patterns.order;
        return order == nullptr ? first_ + r : std::size_t(order[first_ + r]);
    }
    std::size_t count() const { return count_; }
    std::size_t padded() const { return padded_; }
    const double* tile() const { return tile_.data(); }
    const double* weight() const { return weight_.data(); }

  private:
    void pack() {
        const T* X = problem_.X.row(first_);
        const std::size_t readable = (problem_.X.rows - first_) * problem_.X.cols;
        if constexpr (std::is_same_v<T, double>)
            kernels_.pack(X, problem_.X.cols, count_, padded_, readable, tile_.data());
        else
            kernels_.pack_float(X, problem_.X.cols, count_, padded_, readable, tile_.data());
    }

    void gather(const std::vector<std::size_t>& columns) {
        for (std::size_t r = 0; r < padded_; ++r) {
            const T* x = problem_.X.row(row(std::min(r, count_ - 1)));
            for (std::size_t i = 0; i < columns.size(); ++i)
                tile_[i * kMixtureRows + r] = double(x[columns[i]]);
        }
    }

    const MixtureProblem<T>& problem_;
    const MixtureKernels& kernels_;
    Aligned<double> tile_, weight_;
    std::size_t first_ = 0, count_ = 0, padded_ = 0;
};

// Computes joint log densities for full, diagonal and incomplete rows, so that callers need not
// distinguish them.
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
            marginal_.set_missing(std::vector<bool>(model_.d));
    }

    const TileReader<T>& reader() const { return reader_; }
    const Marginal& marginal() const { return marginal_; }
    double* joint() { return joint_.data(); }
    double* work() { return work_.data(); }

    // Call body() for each tile of the rows [begin, end) of the order while it returns true and
    // `stop` does not; a tile never mixes patterns.
    template <typename Body>
    void for_tiles(std::size_t begin, std::size_t end, const StopTest& stop, const Body& body) {
        stop_ = stop;
        const std::int64_t* starts = problem_.patterns.starts;
        if (problem_.patterns.order == nullptr) {
            tiles(begin, end, body);
            return;
        }
        std::size_t p = std::size_t(
            std::upper_bound(starts, starts + problem_.patterns.count + 1, std::int64_t(begin)) -
            starts - 1);
        for (; begin < end; ++p) {
            const std::size_t next = std::min(end, std::size_t(starts[p + 1]));
            if (!set_missing(std::size_t(problem_.patterns.order[begin]))) return;
            if (!tiles(begin, next, body)) return;
            begin = next;
        }
    }

    // Whether to end between two components, which take long for many columns only.
    bool stopped() const { return model_.full && model_.d >= kManyColumns && stop_(); }

    // Compute the joint log densities of the current tile.
    void compute() {
        for (std::size_t c = 0; c < model_.k && !stopped(); ++c) {
            double* out = joint_.data() + c * kMixtureRows;
            const std::size_t padded = reader_.padded();
            if (model_.full)
                kernels_.triangular(reader_.tile(), marginal_.observed().size(), padded,
                                    marginal_.mean(c), marginal_.panels(c), marginal_.norm(c),
                                    work_.data(), out);
            else if (problem_.has_missing)
                kernels_.diagonal_missing(reader_.tile(), model_.d, padded, model_.mean(c),
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

    bool set_missing(std::size_t row) {
        std::vector<bool> missing(model_.d);
        for (std::size_t j = 0; j < model_.d; ++j) missing[j] = std::isnan(problem_.X.row(row)[j]);
        return marginal_.set_missing(missing, stop_);
    }

    template <typename Body>
    bool tiles(std::size_t begin, std::size_t end, const Body& body) {
        for (; begin < end; begin += kMixtureRows) {
            reader_.read(begin, std::min(kMixtureRows, end - begin), marginal_.observed());
            if (stop_() || !body()) return false;
        }
        return true;
    }

    static constexpr std::size_t kManyColumns = 256;

    const MixtureProblem<T>& problem_;
    const Gaussians& model_;
    const MixtureKernels& kernels_ = mixture_kernels();
    StopTest stop_;
    TileReader<T> reader_;
    Aligned<double> joint_;
    Marginal marginal_;
    Aligned<double> work_;
    std::vector<double> norms_, log_norms_;
};

}  // namespace ceiba
