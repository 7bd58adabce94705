// Class-conditional counts of families and of pairs of features.
#pragma once

#include "bayes/families.hpp"

namespace ceiba {

// Codes of the features, a row per row, with the class index and the weight of each row.
template <typename Code>
struct CodedRows {
    Matrix<const Code> codes;
    const std::int32_t* labels = nullptr;
    const double* weight = nullptr;  // null for unit weights
    std::size_t n_classes = 0;
};

// Weight of the rows in each table row and class; `counts` has families.n_rows() x K entries.
template <typename Code>
void family_counts(const CodedRows<Code>& rows, const Families& families, double* counts,
                   int threads);

// Tables of all pairs i < j of features, in the order (0, 1), (0, 2), ..., (1, 2), ...; each has
// (sizes[i] * K) x sizes[j] entries, the index of the first being code(i) * K + class.
template <typename Code>
void pair_counts(const CodedRows<Code>& rows, const std::int32_t* sizes, double* counts,
                 int threads);

}  // namespace ceiba
