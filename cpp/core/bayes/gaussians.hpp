// Normal distributions of numeric columns, one for each class and column.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/views.hpp"
#include "simd/bayes_kernels.hpp"

namespace ceiba {

// Arrays of k x d numbers that are a `ClassSums`: three of each sum, and the nonzero weight.
constexpr std::size_t kClassSums = 10;

// Sum the observed values of each class and column; `out` has kClassSums x k x d zeros.
void class_sums(Matrix<const double> X, const std::int32_t* labels, const double* weight,
                std::size_t k, double* out, int threads);

// Mean and centered sum of squares of n classes and columns from their `ClassSums`, three arrays of
// n numbers each; 0 without weight. They are accurate to the last digits, however far from zero the
// values are.
void centered_moments(const double* weight, const double* sum, const double* squares, std::size_t n,
                      double* mean, double* centered);

// Add the log density of each row, given each class, to `out` (n x k).
void add_log_normals(Matrix<const double> X, const NormalTerms& terms, std::size_t k, double* out,
                     int threads);

}  // namespace ceiba
