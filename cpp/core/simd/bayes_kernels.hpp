// Loops of the Bayesian classifiers that gain from SIMD, compiled once for each instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ceiba {

// Sums of the weights, the values and the squared values of each class and column, k x d each. A
// sum is three doubles that are added up, the errors of each being part of the next: about 159
// bits. Rows can then be removed again, though the squares of one of them may exceed all the
// others.
struct ClassSums {
    double *weight[3], *sum[3], *squares[3];
    double* nonzero;  // weight of the values that are not zero
};

// Normal densities of each class and column, k x d each: an observed value x adds
// constant - ((x - mean) * factor)^2 to the log density.
struct NormalTerms {
    const double *mean, *factor, *constant;
};

struct BayesKernels {
    // Turn the log joint of n cases (n x k, row-major) into class probabilities; `log_evidence`,
    // if not null, gets the logarithm of the sum of each case's joint.
    void (*normalize)(double* log_joint, std::size_t n, std::size_t k, double* log_evidence);
    // Add the weights (m x width) of the table rows that each of n rows selects to its scores
    // (n x width); `tables` indices per row.
    void (*gather_rows)(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                        const double* weights, std::size_t width, double* scores);
    // Add the values (n x width) of each row to the table rows (m x width) that it selects.
    void (*scatter_rows)(const std::uint16_t* indices, std::size_t n, std::size_t tables,
                         const double* values, std::size_t width, double* table);
    // Turn the scores of n rows into residuals w ([c = y] - p(c | x)) and return the sum of
    // w log p(y | x). The scores have k columns; those of two classes have one, the logarithm of
    // p(1 | x) / p(0 | x), and so have their residuals, which are those of class 1.
    double (*softmax_residuals)(double* scores, std::size_t n, std::size_t k,
                                const std::int32_t* labels, const double* weight);
    // Add n rows (n x d) of known class to the sums of their class; missing values are left out.
    void (*add_class_sums)(const double* X, std::size_t d, std::size_t n,
                           const std::int32_t* labels, const double* weight, const ClassSums& sums);
    // Add the n sums of another part of the rows.
    void (*merge_class_sums)(std::size_t n, const ClassSums& other, const ClassSums& into);
    // Add the log densities of n rows (n x d) to `out` (n x k); missing values add nothing.
    // `work` has normal_work_size(d) entries, the first d of which are zero.
    void (*add_log_normals)(const double* X, std::size_t d, std::size_t n, const NormalTerms& terms,
                            std::size_t k, double* work, double* out);
};

// Enough for the widest tile.
inline std::size_t normal_work_size(std::size_t d) { return d * (1 + 16); }

const BayesKernels& bayes_kernels();

}  // namespace ceiba
