// Column moments, the assignment step of k-means and k-means++ seeding.
#include <algorithm>

#include "arrays.hpp"
#include "kmeans/center_sums.hpp"
#include "kmeans/moments.hpp"
#include "kmeans/plus_plus.hpp"

namespace ceiba::bindings {
namespace {

constexpr const char* kPerRow = "arrays of row values must have one entry per row of X.";
constexpr const char* kColumns = "centers and offset must have one entry per column of X.";

template <typename Array>
using Value = std::remove_const_t<typename Array::Scalar>;

std::tuple<std::size_t, std::int64_t, std::int64_t> column_moments(
    const AnyFloat2& any, const Maybe1<const double>& weight, Array2<double> out, int threads) {
    return std::visit(
        [&](const auto& X) {
            using T = Value<std::decay_t<decltype(X)>>;
            const double* row_weight = sized(weight, X.shape(0), kPerRow);
            require(has_shape(out, 5, X.shape(1)), "out must have shape (5, n_columns).");
            checked_threads(threads);
            Moments result(0);
            without_gil([&] { result = moments<T>(matrix(X), row_weight, threads); });
            const std::vector<double>* parts[] = {&result.weight, &result.mean, &result.squares,
                                                  &result.min, &result.max};
            for (std::size_t p = 0; p < 5; ++p)
                std::copy(parts[p]->begin(), parts[p]->end(), out.data() + p * X.shape(1));
            const auto index = [](std::size_t i) {
                return i == Moments::kNone ? std::int64_t(-1) : std::int64_t(i);
            };
            return std::make_tuple(result.n_missing, index(result.infinite_row),
                                   index(result.infinite_column));
        },
        any);
}

// Rows to cluster; coordinates are taken relative to the offset.
struct KMeansPoints {
    AnyFloat2 X;
    Maybe1<const double> weight;
    Array1<const double> offset;
    bool has_missing;
};

// Row state of an iteration for the next one; see RowState.
struct KMeansState {
    Maybe2<const double> previous;
    Maybe1<std::int32_t> labels;
    Maybe1<float> upper, lower;
    Maybe1<double> segment_sums;
};

struct CandidateDraws {
    Array1<double> potential;
    Array2<double> keys;
    Array2<std::int64_t> rows;
};

template <typename T>
CenterProblem<T> center_problem(const KMeansPoints& points, const Array2<const T>& X,
                                const Array2<const double>& centers) {
    require(centers.shape(0) >= 1, "centers must have at least one row.");
    require(centers.shape(0) < std::size_t(std::numeric_limits<std::int32_t>::max()),
            "centers must have less than 2^31 - 1 rows.");
    require(centers.shape(1) == X.shape(1) && points.offset.shape(0) == X.shape(1), kColumns);
    CenterProblem<T> problem;
    problem.X = matrix(X);
    problem.weight = sized(points.weight, X.shape(0), kPerRow);
    problem.offset = points.offset.data();
    problem.centers = matrix(centers);
    problem.has_missing = points.has_missing;
    return problem;
}

template <typename T>
RowState row_state(const KMeansState& arrays, const CenterProblem<T>& problem, bool has_table) {
    const std::size_t n = problem.X.rows, k = problem.centers.rows, d = problem.X.cols;
    const auto& [previous, labels, upper, lower, segment_sums] = arrays;
    require(!previous || has_shape(*previous, k, d),
            "previous must have the shape of the centers.");
    require(!previous || labels, "previous requires labels.");
    require(bool(upper) == bool(lower), "upper requires lower, and lower upper.");
    require(!upper || (labels && !problem.has_missing),
            "bounds require labels and has_missing=False.");
    require(!segment_sums || (labels && has_table && !problem.has_missing),
            "segment_sums requires labels, table and has_missing=False.");
    RowState state;
    state.previous = pointer(previous);
    state.labels = sized(labels, n, kPerRow);
    state.upper = sized(upper, n, kPerRow);
    state.lower = sized(lower, n, kPerRow);
    state.sums = sized(segment_sums, 2 * problem.parts().count * k * problem.width(),
                       "segment_sums must have the size that segment_sums_size returns.");
    return state;
}

std::tuple<double, std::size_t, std::size_t> sum_centers(
    const KMeansPoints& points, const Array2<const double>& centers, const KMeansState* arrays,
    const Maybe2<double>& table, const Maybe1<double>& squared, bool compute_inertia, int threads) {
    return std::visit(
        [&](const auto& X) {
            const auto problem = center_problem(points, X, centers);
            require(!table || has_shape(*table, centers.shape(0), problem.width()),
                    "table must have shape (k, d + 2), with missing values (k, 2 d + 1).");
            RowState state;
            if (arrays != nullptr) state = row_state(*arrays, problem, bool(table));
            CenterTotals totals;
            totals.table = pointer(table);
            totals.squared = sized(squared, X.shape(0), kPerRow);
            totals.compute_inertia = compute_inertia;
            checked_threads(threads);
            without_gil([&] { center_sums(problem, state, threads, totals); });
            return std::make_tuple(totals.inertia, totals.moved, totals.scanned);
        },
        points.X);
}

void distances(const KMeansPoints& points, const Array2<const double>& centers,
               const std::variant<Array2<double>, Array2<float>>& any, int threads) {
    std::visit(
        [&](const auto& X) {
            using T = Value<std::decay_t<decltype(X)>>;
            const auto problem = center_problem(points, X, centers);
            const auto* out = std::get_if<Array2<T>>(&any);
            require(out != nullptr && has_shape(*out, X.shape(0), centers.shape(0)),
                    "out must have shape (n_rows, k) and the dtype of X.");
            checked_threads(threads);
            without_gil([&] { squared_distances(problem, threads, out->data()); });
        },
        points.X);
}

using Nearest = std::optional<std::variant<Array1<double>, Array1<float>>>;

template <typename T>
T* nearest_distances(const Nearest& any, std::size_t rows) {
    if (!any) return nullptr;
    const auto* array = std::get_if<Array1<T>>(&*any);
    require(array != nullptr && array->shape(0) == rows,
            "nearest must have one entry per row of X, of the dtype of X.");
    return array->data();
}

void draw_candidates(const KMeansPoints& points, const Array2<const double>& chosen,
                     const Array2<const double>& candidates, const DrawKey& key,
                     const Nearest& nearest, std::size_t n_cached, const CandidateDraws& out,
                     int threads) {
    std::visit(
        [&](const auto& X) {
            using T = Value<std::decay_t<decltype(X)>>;
            const std::size_t d = X.shape(1), n = X.shape(0);
            const std::size_t lists = candidates.shape(0) ? candidates.shape(0) : 1;
            require(chosen.shape(1) == d && candidates.shape(1) == d && points.offset.shape(0) == d,
                    kColumns);
            require(n_cached <= chosen.shape(0) && (nearest || n_cached == 0),
                    "n_cached must be at most the number of chosen centers, and requires nearest.");
            require(chosen.shape(0) == 0 || candidates.shape(0) > 0,
                    "candidates must have at least one row if centers have been chosen.");
            require(out.potential.shape(0) == lists && out.keys.shape(0) == lists &&
                        has_shape(out.rows, lists, out.keys.shape(1)) && out.keys.shape(1) >= 1,
                    "potential, keys and rows must have one entry or row per candidate.");
            PlusPlusProblem<T> problem;
            problem.X = matrix(X);
            problem.weight = sized(points.weight, n, kPerRow);
            problem.offset = points.offset.data();
            problem.chosen = matrix(chosen);
            problem.candidates = matrix(candidates);
            problem.nearest = nearest_distances<T>(nearest, n);
            problem.n_cached = n_cached;
            problem.has_missing = points.has_missing;
            problem.seed = key.seed;
            problem.stream = key.stream;
            problem.first_row = key.first_row;
            const PlusPlusTotals totals{out.keys.shape(1), out.potential.data(), out.keys.data(),
                                        out.rows.data()};
            checked_threads(threads);
            without_gil([&] { next_candidates(problem, threads, totals); });
        },
        points.X);
}

std::size_t segment_sums_size(std::size_t n_rows, std::size_t n_centers, std::size_t n_columns) {
    CenterProblem<double> problem;
    problem.X = {nullptr, n_rows, n_columns};
    problem.centers = {nullptr, n_centers, n_columns};
    std::size_t size = 2 * problem.parts().count;
    const bool fits = !__builtin_mul_overflow(size, n_centers, &size) &&
                      !__builtin_mul_overflow(size, problem.width(), &size);
    require(fits, "n_centers x n_columns must fit into memory.");
    return size;
}

}  // namespace

void bind_kmeans(nb::module_& module) {
    module.def(
        "moments", &column_moments, "X"_a.noconvert(), "weight"_a.noconvert().none(),
        "out"_a.noconvert(), "threads"_a,
        "Write weight, mean, centered squares, min and max of each column to out (5 x d).\n\n"
        "Returns (n_missing, row and column of the first infinity), -1 for none.");
    nb::class_<KMeansPoints>(module, "KMeansPoints", "Rows to cluster, relative to an offset.")
        .def(nb::init<AnyFloat2, Maybe1<const double>, Array1<const double>, bool>(),
             "X"_a.noconvert(), "weight"_a.noconvert().none(), "offset"_a.noconvert(),
             "has_missing"_a);
    nb::class_<KMeansState>(module, "KMeansState",
                            "Labels, bounds and sums of an iteration, for the next one.")
        .def(nb::init<Maybe2<const double>, Maybe1<std::int32_t>, Maybe1<float>, Maybe1<float>,
                      Maybe1<double>>(),
             nb::kw_only(), "previous"_a.noconvert() = nb::none(),
             "labels"_a.noconvert() = nb::none(), "upper"_a.noconvert() = nb::none(),
             "lower"_a.noconvert() = nb::none(), "segment_sums"_a.noconvert() = nb::none());
    nb::class_<CandidateDraws>(module, "CandidateDraws",
                               "Potential of each candidate, and the rows drawn after it.")
        .def(nb::init<Array1<double>, Array2<double>, Array2<std::int64_t>>(),
             "potential"_a.noconvert(), "keys"_a.noconvert(), "rows"_a.noconvert());
    module.def("segment_sums_size", &segment_sums_size, "n_rows"_a, "n_centers"_a, "n_columns"_a,
               "Return the size of KMeansState.segment_sums.");
    module.def(
        "center_sums", &sum_centers, "points"_a, "centers"_a.noconvert(),
        "state"_a.none() = nb::none(), nb::kw_only(), "table"_a.noconvert() = nb::none(),
        "squared"_a.noconvert() = nb::none(), "compute_inertia"_a = false, "threads"_a = 1,
        "Label each row with its nearest center and sum the rows of each (E step of k-means).\n\n"
        "A state without previous centers is only written. Returns (inertia, number of rows whose\n"
        "label changed, number of rows that were compared with all centers).");
    module.def("squared_distances", &distances, "points"_a, "centers"_a.noconvert(),
               "out"_a.noconvert(), "threads"_a,
               "Write the squared distance of each row to each center to out.\n\n"
               "With missing values they are scaled by n_columns / n_observed.");
    module.def("next_candidates", &draw_candidates, "points"_a, "chosen"_a.noconvert(),
               "candidates"_a.noconvert(), "key"_a, "nearest"_a.noconvert().none(), "n_cached"_a,
               "out"_a, "threads"_a,
               "Compute the potential of each candidate of greedy k-means++ and draw the next.\n\n"
               "nearest holds squared distances to the nearest of the first n_cached centers.");
}

}  // namespace ceiba::bindings
