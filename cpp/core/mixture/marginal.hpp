// Full-covariance components as seen by rows that miss some columns: the density of what is
// observed, and what is expected of the rest.
//
// Ghahramani & Jordan (1994), "Supervised learning from incomplete data via an EM approach",
// NIPS 6.
#pragma once

#include <cstdint>
#include <vector>

#include "mixture/gaussians.hpp"

namespace ceiba {

class Marginal {
  public:
    // `conditional`: whether what is expected of missing columns is wanted, beside densities.
    Marginal(const Gaussians& model, bool conditional)
        : model_(model), conditional_wanted_(conditional) {}

    // Restrict to the columns that are not marked as missing.
    void see(const std::vector<bool>& missing);

    const std::vector<std::size_t>& observed() const { return observed_; }
    const std::vector<std::size_t>& missing() const { return missing_; }

    // Of component c: mean, inverse Cholesky factor in panels and the constant of the log density
    // (with the weight) of the observed columns.
    const double* mean(std::size_t c) const { return means_.data() + c * observed_.size(); }
    const double* panels(std::size_t c) const { return panels_.data() + c * panels_each_; }
    double norm(std::size_t c) const { return norms_[c]; }

    // Of component c: how missing column m depends on the observed ones, and the covariance of the
    // missing columns given them.
    const double* slopes(std::size_t c, std::size_t m) const {
        return slopes_.data() + (c * missing_.size() + m) * observed_.size();
    }
    const double* conditional(std::size_t c) const {
        return conditional_.data() + c * missing_.size() * missing_.size();
    }

  private:
    void take_part(std::size_t c);
    void take_conditional(std::size_t c);
    void keep(std::size_t c, const double* factor);

    const Gaussians& model_;
    bool conditional_wanted_;
    std::vector<std::size_t> observed_, missing_;
    std::vector<double> means_, panels_, norms_, slopes_, conditional_;
    std::vector<double> factor_, cross_;
    std::size_t panels_each_ = 0;
};

}  // namespace ceiba
