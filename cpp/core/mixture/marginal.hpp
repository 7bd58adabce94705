// Marginal and conditional distributions of full-covariance components for incomplete rows.
//
// Ghahramani & Jordan (1994), "Supervised learning from incomplete data via an EM approach",
// NIPS 6.
#pragma once

#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "mixture/gaussians.hpp"

namespace ceiba {

// Whether a long computation of one thread should end; never, where no interrupt is given.
struct StopTest {
    Interrupt* interrupt = nullptr;
    int thread = 0;

    bool operator()() const { return interrupt != nullptr && interrupt->stopped(thread); }
};

class Marginal {
  public:
    // `conditional`: also compute the conditional distribution of the missing columns.
    Marginal(const Gaussians& model, bool conditional)
        : model_(model), with_conditional_(conditional) {}

    // Restrict the components to the columns that are not missing. Returns false, with unusable
    // results, where `stop` ended it: for 1,500 columns a pattern takes seconds.
    bool set_missing(const std::vector<bool>& missing, const StopTest& stop = {});

    const std::vector<std::size_t>& observed() const { return observed_; }
    const std::vector<std::size_t>& missing() const { return missing_; }

    // Marginal of component c over the observed columns: mean, inverse Cholesky factor in panels
    // and the constant of the log density (including the mixing weight).
    const double* mean(std::size_t c) const { return means_.data() + c * observed_.size(); }
    const double* panels(std::size_t c) const { return panels_.data() + c * panels_each_; }
    double norm(std::size_t c) const { return norms_[c]; }

    // Regression of missing column m on the observed columns under component c, and the conditional
    // covariance of the missing columns.
    const double* slopes(std::size_t c, std::size_t m) const {
        return slopes_.data() + (c * missing_.size() + m) * observed_.size();
    }
    const double* conditional(std::size_t c) const {
        return conditional_.data() + c * missing_.size() * missing_.size();
    }

  private:
    bool restrict_component(std::size_t c, const StopTest& stop);
    bool compute_conditional(std::size_t c, const StopTest& stop);
    void store_factor(std::size_t c, const double* factor);

    const Gaussians& model_;
    bool with_conditional_;
    std::vector<std::size_t> observed_, missing_;
    std::vector<double> means_, panels_, norms_, slopes_, conditional_;
    std::vector<double> factor_, cross_;
    std::size_t panels_each_ = 0;
};

}  // namespace ceiba
