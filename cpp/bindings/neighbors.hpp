// Arguments of the searches of nearest neighbors: checked arrays.
#pragma once

#include "arrays.hpp"
#include "neighbors/box_tree.hpp"

namespace ceiba::bindings {

template <typename T>
using RowArray = Array2<const T>;

struct MetricArrays {
    MetricKind kind;
    double p;
    Maybe1<const double> mismatch, weights;
    MissingRule missing;

    Metric view(std::size_t d) const {
        require(!(p < 1) && std::isfinite(p), "p must be finite and at least 1.");
        require(kind != MetricKind::kHaversine || d == 2, "haversine requires two columns.");
        const bool coordinate = kind <= MetricKind::kMinkowski;
        require(coordinate || (!mismatch && missing == MissingRule::kNone),
                "nominal columns and missing values require a sum over the columns.");
        require(missing == MissingRule::kNone || weights, "missing values require weights.");
        return {kind, p, sized(mismatch, d, "mismatch must have one entry per column."), missing,
                sized(weights, d, "weights must have one entry per column.")};
    }
};

struct QueryArrays {
    Array2<const double> X;
    Maybe1<const std::uint32_t> columns;  // None for all
    double factor, offset;
    Maybe1<const std::int64_t> excluded;

    Queries view(std::size_t d) const {
        require(X.shape(1) == d, "queries must have the columns of the rows.");
        for (std::size_t a = 0; columns && a < columns->shape(0); ++a)
            require(columns->data()[a] < d, "columns must be columns of the rows.");
        require(factor > 0 && offset >= 0, "factor must be positive, and offset at least 0.");
        return {matrix(X),
                {pointer(columns), columns ? columns->shape(0) : d},
                factor,
                offset,
                sized(excluded, X.shape(0), "excluded must have one entry per query.")};
    }
};

// The nearest rows found so far, which a search updates.
struct NearestArrays {
    Array2<double> distances;
    Array2<std::int64_t> rows;

    std::size_t checked_k(std::size_t n_queries) const {
        require(has_shape(distances, n_queries, rows.shape(1)) && rows.shape(0) == n_queries &&
                    rows.shape(1) > 0,
                "distances and rows must have shape (n_queries, k).");
        return rows.shape(1);
    }
};

inline nb::tuple to_arrays(RadiusResult&& result) {
    std::vector<std::int64_t> starts{0}, rows;
    std::vector<double> distances;
    for (std::size_t q = 0; q < result.rows.size(); ++q) {
        rows.insert(rows.end(), result.rows[q].begin(), result.rows[q].end());
        distances.insert(distances.end(), result.distances[q].begin(), result.distances[q].end());
        starts.push_back(std::int64_t(rows.size()));
    }
    return nb::make_tuple(owned(std::move(starts)), owned(std::move(distances)),
                          owned(std::move(rows)));
}

inline void check_order(const Array1<const std::uint32_t>& order, std::size_t rows) {
    require(order.shape(0) == rows, "order must have one entry per row.");
    for (std::size_t i = 0; i < rows; ++i)
        require(order.data()[i] < rows, "order must be rows of X.");
}

}  // namespace ceiba::bindings
