// Implementation of the marginal and conditional distributions of the components.
#include "mixture/marginal.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>

#include "simd/mixture_kernels.hpp"

namespace ceiba {
namespace {

// Columns (or rows) of a factorization between two tests for an interrupt: 20 ms of 1,500 columns.
constexpr std::size_t kTestEvery = 16;

// Compute the lower Cholesky factor of the symmetric n x n matrix `a`, in place; false if stopped.
bool factorize_cholesky(double* a, std::size_t n, const StopTest& stop) {
    for (std::size_t j = 0; j < n; ++j) {
        if (j % kTestEvery == kTestEvery - 1 && stop()) return false;
        for (std::size_t i = j; i < n; ++i) {
            double sum = a[i * n + j];
            for (std::size_t t = 0; t < j; ++t) sum -= a[i * n + t] * a[j * n + t];
            if (i > j) {
                a[i * n + j] = sum / a[j * n + j];
            } else {
                if (!(sum > 0))
                    throw std::invalid_argument("a covariance matrix is not positive definite");
                a[j * n + j] = std::sqrt(sum);
            }
        }
    }
    return true;
}

// Invert the lower triangular matrix `a` in place, row by row: row i of the inverse is minus row i
// of `a` times the rows already inverted, divided by the diagonal. False if stopped.
bool invert_lower(double* a, std::size_t n, const StopTest& stop) {
    for (std::size_t i = 0; i < n; ++i) {
        if (i % kTestEvery == kTestEvery - 1 && stop()) return false;
        const double pivot = 1 / a[i * n + i];
        for (std::size_t j = 0; j < i; ++j) {
            double sum = 0;
            for (std::size_t t = j; t < i; ++t) sum += a[i * n + t] * a[t * n + j];
            a[i * n + j] = -sum * pivot;
        }
        a[i * n + i] = pivot;
    }
    return true;
}

// Pack four rows at a time, by columns, as far as the triangle reaches; zeros pad the blocks.
void pack_panels(const double* factor, std::size_t n, double* panels) {
    for (std::size_t block = 0; block < side_blocks(n); ++block)
        for (std::size_t i = 0; i < (block + 1) * kSide; ++i)
            for (std::size_t j = block * kSide; j < (block + 1) * kSide; ++j)
                *panels++ = j < n && i <= j ? factor[j * n + i] : 0;
}

}  // namespace

bool Marginal::set_missing(const std::vector<bool>& missing, const StopTest& stop) {
    observed_.clear();
    missing_.clear();
    for (std::size_t j = 0; j < model_.d; ++j) (missing[j] ? missing_ : observed_).push_back(j);
    const std::size_t o = observed_.size(), m = missing_.size();
    panels_each_ = triangle_size(o);
    means_.resize(model_.k * o);
    panels_.resize(model_.k * panels_each_);
    norms_.resize(model_.k);
    factor_.resize(o * o);
    if (with_conditional_) {
        slopes_.resize(model_.k * m * o);
        conditional_.resize(model_.k * m * m);
        cross_.resize(m * o);
    }
    for (std::size_t c = 0; c < model_.k; ++c) {
        for (std::size_t i = 0; i < o; ++i) means_[c * o + i] = model_.mean(c)[observed_[i]];
        if (m == 0)
            store_factor(c, model_.factor(c));
        else if (!restrict_component(c, stop))
            return false;
    }
    return true;
}

void Marginal::store_factor(std::size_t c, const double* factor) {
    const std::size_t o = observed_.size();
    pack_panels(factor, o, panels_.data() + c * panels_each_);
    norms_[c] = model_.log_weights[c] - 0.5 * double(o) * kLogTwoPi;
    for (std::size_t i = 0; i < o; ++i) norms_[c] += std::log(factor[i * o + i]);
}

bool Marginal::restrict_component(std::size_t c, const StopTest& stop) {
    const std::size_t o = observed_.size(), d = model_.d;
    const double* covariance = model_.covariance(c);
    double* P = factor_.data();
    for (std::size_t i = 0; i < o; ++i)
        for (std::size_t j = 0; j < o; ++j)
            P[i * o + j] = covariance[observed_[i] * d + observed_[j]];
    if (!factorize_cholesky(P, o, stop) || !invert_lower(P, o, stop)) return false;
    store_factor(c, P);
    return !with_conditional_ || compute_conditional(c, stop);
}

// With S = L L' the covariance of the observed columns, P the inverse of L and C the covariances of
// missing and observed columns: cross = C P', slopes = cross P, conditional = S_mm - cross cross'.
bool Marginal::compute_conditional(std::size_t c, const StopTest& stop) {
    const std::size_t o = observed_.size(), m = missing_.size(), d = model_.d;
    const double *covariance = model_.covariance(c), *P = factor_.data();
    double* slopes = slopes_.data() + c * m * o;
    for (std::size_t row = 0; row < m; ++row) {
        if (row % kTestEvery == kTestEvery - 1 && stop()) return false;
        const double* with = covariance + missing_[row] * d;
        double *cross = cross_.data() + row * o, *slope = slopes + row * o;
        for (std::size_t i = 0; i < o; ++i) {
            cross[i] = slope[i] = 0;
            for (std::size_t t = 0; t <= i; ++t) cross[i] += with[observed_[t]] * P[i * o + t];
            for (std::size_t t = 0; t <= i; ++t) slope[t] += cross[i] * P[i * o + t];
        }
    }
    double* conditional = conditional_.data() + c * m * m;
    for (std::size_t a = 0; a < m; ++a) {
        if (a % kTestEvery == kTestEvery - 1 && stop()) return false;
        for (std::size_t b = 0; b < m; ++b) {
            double value = covariance[missing_[a] * d + missing_[b]];
            for (std::size_t i = 0; i < o; ++i) value -= cross_[a * o + i] * cross_[b * o + i];
            conditional[a * m + b] = value;
        }
    }
    return true;
}

}  // namespace ceiba
