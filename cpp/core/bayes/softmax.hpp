// Softmax regression on table rows: the pass of discriminative training over complete rows.
//
// A row of data is the list of the table rows that it selects, one in each of a few tables. Two
// classes need one logit: the differences of their weights, and the residuals of one of them.
#pragma once

#include "bayes/counts.hpp"

namespace ceiba {

// The table rows of each row, with its class index and its weight.
struct IndexedRows {
    Matrix<const std::uint16_t> indices;
    const std::int32_t* labels = nullptr;
    const double* weight = nullptr;  // null for unit weights
    std::size_t n_classes = 0;
};

// log p(c | x) = bias(c) + sum of weights(table row, c), up to a constant of x.
struct SoftmaxWeights {
    const double* table = nullptr;  // n_table_rows x K
    const double* bias = nullptr;   // K
    std::size_t n_table_rows = 0;
};

// Write the table row of each row and family to `indices`; all of them must be below 2^16.
template <typename Code>
void table_indices(Matrix<const Code> codes, const Families& families, std::uint16_t* indices,
                   int threads);

// Return the conditional log-likelihood; `table` (n_table_rows x K) and `bias` (K) get its
// gradient.
double softmax_gradient(const IndexedRows& rows, const SoftmaxWeights& weights, double* table,
                        double* bias, int threads);

// Conditional log-likelihood at weights + t * direction, for each of `n_steps` values of t.
void softmax_likelihoods(const IndexedRows& rows, const SoftmaxWeights& weights,
                         const SoftmaxWeights& direction, const double* steps, std::size_t n_steps,
                         double* log_likelihoods, int threads);

}  // namespace ceiba
