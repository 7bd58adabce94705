// Class-conditional counts of families and of pairs of features.
#pragma once

#include "bayes/families.hpp"
#include "common/parallel.hpp"

namespace ceiba {

// Codes of the features, a row per row, with the class index and the weight of each row.
template <typename Code>
struct CodedRows {
    Matrix<const Code> codes;
    const std::int32_t* labels = nullptr;
    const double* weight = nullptr;  // null for unit weights
    std::size_t n_classes = 0;
};

// Segments of rows long enough that clearing and adding the table of each costs less than the rows,
// of which each makes `per_row` updates.
inline Segments row_segments(std::size_t rows, std::size_t table, std::size_t per_row) {
    return segments(rows,
                    std::max<std::size_t>(4096, 2 * table / std::max<std::size_t>(per_row, 1)));
}

// Weight of the rows in each table row and class; `counts` has families.n_rows() x K entries.
template <typename Code>
void family_counts(const CodedRows<Code>& rows, const Families& families, double* counts,
                   int threads);

// Pairs i < j of features with i and j in given ranges of columns, in the order of i, then j.
struct PairBlock {
    std::size_t first_begin = 0, first_end = 0, second_begin = 0, second_end = 0;

    std::size_t second_after(std::size_t i) const {
        return second_begin > i ? second_begin : i + 1;
    }

    // Call visit(i, j) for every pair.
    template <typename Visit>
    void for_each(Visit&& visit) const {
        for (std::size_t i = first_begin; i < first_end; ++i)
            for (std::size_t j = second_after(i); j < second_end; ++j) visit(i, j);
    }
};

// Tables of the pairs of a block, one after another; each has (sizes[i] * K) x sizes[j] entries,
// the index of the first being code(i) * K + class.
template <typename Code>
void pair_counts(const CodedRows<Code>& rows, const std::int32_t* sizes, const PairBlock& block,
                 double* counts, int threads);

// Dependence of the two features of each pair given the class, from counts of known values, which
// exclude the last code of a feature: the mutual information in nats, the number of rows, and the
// degrees of freedom of a test of independence, (a - 1) * (b - 1) for each class in which a and b
// codes of the features occur.
struct PairDependence {
    double* information = nullptr;
    double* totals = nullptr;
    double* degrees = nullptr;
};

void pair_dependence(const double* counts, const std::int32_t* sizes, const PairBlock& block,
                     std::size_t n_classes, const PairDependence& out);

}  // namespace ceiba
