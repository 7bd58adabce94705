// Normal distributions of numeric columns, one for each class and column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/views.hpp"
#include "simd/bayes_kernels.hpp"

namespace ceiba {

// Weight, mean and centered squares of the observed values of each class and column, k x d each.
struct ClassMoments {
    double *weight, *mean, *squares;
};

void class_moments(Matrix<const double> X, const std::int32_t* labels, const double* weight,
                   std::size_t k, const ClassMoments& out, int threads);

// Add the log density of each row, given each class, to `out` (n x k).
void add_log_normals(Matrix<const double> X, const NormalTerms& terms, std::size_t k, double* out,
                     int threads);

}  // namespace ceiba
