// Passes over coded rows: log joint, expected table sums, conditional log-likelihoods.
#pragma once

#include "bayes/counts.hpp"

namespace ceiba {

// log p(c, x) = bias(c) + sum over the families of weights(table row, c).
//
// A weight of NaN marks a table row with a missing value that has to be summed over
// (`messages.hpp`); the weights are then log probabilities of a forest. All other weights are
// finite.
struct LogLinear {
    Families families;
    const double* weights = nullptr;  // families.n_rows() x K
    const double* bias = nullptr;     // K
    bool sums_missing = false;
};

// Log joint of each row: `log_joint` has n x K entries.
template <typename Code>
void log_joint(Matrix<const Code> codes, const LogLinear& model, std::size_t n_classes,
               double* log_joint, int threads);

// Turn the log scores of n rows (n x K) into the probabilities of the classes, or their logarithms.
void normalize_scores(double* scores, std::size_t n, std::size_t n_classes, bool logarithms,
                      int threads);

// Index of the largest of each row's scores (n x K), the first of equal ones.
void largest_scores(const double* scores, std::size_t n, std::size_t n_classes,
                    std::int64_t* indices, int threads);

// What a row adds to each class of its table rows, before it is multiplied by the row's weight.
enum class ClassWeighting : std::uint8_t {
    kResiduals,    // [c = y] - p(c | x): the gradient of the conditional log-likelihood
    kLabels,       // [c = y]: expected counts, where values are missing
    kPosteriors,   // p(c | x): expected counts of a latent class
    kInformation,  // p(c | x) (log(p(c | x) / p(c)) - their mean): gradient of I(C; X)
};

// Sums of a pass over the rows; null pointers are not computed.
struct TableSums {
    double objective = 0;     // sum of log p(y | x), log p(y, x), log p(x) or sum_c p log(p / p(c))
    double* table = nullptr;  // target.n_rows() x K
    double* bias = nullptr;   // K
    double* table_variances = nullptr;  // sums of p(c | x) (1 - p(c | x)), shaped as the table
};

// Sum by the table rows of `target`, usually the families of the model itself; where these have
// missing values, expected sums given the observed values and the class. `class_means` are the
// p(c) of kInformation.
template <typename Code>
void table_sums(const CodedRows<Code>& rows, const LogLinear& model, const Families& target,
                ClassWeighting weighting, const double* class_means, TableSums& sums, int threads);

// Conditional log-likelihood at the weights model + t * direction, for each of `n_steps` values of
// t; the direction has the families of the model, and no weight is NaN.
template <typename Code>
void conditional_log_likelihoods(const CodedRows<Code>& rows, const LogLinear& model,
                                 const LogLinear& direction, const double* steps,
                                 std::size_t n_steps, double* log_likelihoods, int threads);

}  // namespace ceiba
