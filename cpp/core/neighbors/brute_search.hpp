// Distances to all rows, for any metric: blocks of rows are packed into tiles once for all queries
// of a thread.
#pragma once

#include "neighbors/box_tree.hpp"

namespace ceiba {

// Merge the nearest of the rows, whose numbers are `row_ids`, into the k nearest found so far.
template <typename T>
SearchCounts search_rows(Matrix<const T> X, const std::int64_t* row_ids, const Metric& metric,
                         const Queries& queries, std::size_t k, double* distances,
                         std::int64_t* rows, int threads);

template <typename T>
RadiusResult radius_rows(Matrix<const T> X, const std::int64_t* row_ids, const Metric& metric,
                         const Queries& queries, double radius, int threads);

}  // namespace ceiba
