// Joint log densities of a mixture's components, for whole, gappy and diagonal rows alike.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "aligned.hpp"
#include "mixture/marginal.hpp"
#include "mixture/tile_reader.hpp"

namespace ceiba {

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

}  // namespace ceiba
