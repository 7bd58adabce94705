// Vantage-point trees, and searches by a Python function of two rows.
#include "neighbors/vantage_tree.hpp"

#include "common/aligned.hpp"
#include "neighbors.hpp"
#include "neighbors/top_k.hpp"

namespace ceiba::bindings {
namespace {

static_assert(sizeof(VantageBounds) == 4 * sizeof(double));

// Run native code that calls Python; Ctrl-C raises the exception of the signal handler.
template <typename Work>
void with_gil(Work work) {
    try {
        work();
    } catch (const Interrupted&) {
        throw nb::python_error();
    }
}

// A native metric, or a Python function of two rows.
using AnyMetric = std::variant<MetricArrays, nb::callable>;

Metric checked_metric(const MetricArrays& metric, std::size_t d) {
    using enum MetricKind;
    const Metric own = metric.view(d);
    require(own.missing == MissingRule::kNone && own.kind != kBrayCurtis && own.kind != kDice &&
                own.kind != kRussellRao && own.kind != kYule,
            "a vantage tree requires a metric that satisfies the triangle inequality, without "
            "missing values.");
    return own;
}

// Bounds in the tree are distances of all columns.
Queries checked_queries(const QueryArrays& queries, std::size_t d) {
    require(!queries.columns && queries.factor == 1 && queries.offset == 0,
            "distances must be of all columns.");
    return queries.view(d);
}

void check_rows(std::size_t rows) {
    require(rows > 0 && rows < (std::size_t(1) << 32), "X must have up to 2^32 rows.");
}

// The rows of an array as arrays of float64, which functions take. They are read-only: a function
// that changes its arguments would change the rows of the tree.
class PythonRows {
  public:
    template <typename T>
    explicit PythonRows(const RowArray<T>& X)
        : X_(nb::cast(X).attr("astype")("float64", "copy"_a = false).attr("view")()) {
        X_.attr("setflags")("write"_a = false);
    }

    nb::object operator[](std::size_t i) const {
        nb::object row = nb::steal(PySequence_GetItem(X_.ptr(), Py_ssize_t(i)));
        if (!row.is_valid()) throw nb::python_error();
        return row;
    }

  private:
    nb::object X_;
};

// Call a distance of the user.
double call(const nb::callable& function, const nb::object& x, const nb::object& y) {
    // Python code is interrupted by Python itself, compiled functions are interrupted here.
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::object result = function(x, y);
    const double distance = PyFloat_AsDouble(result.ptr());  // -1 for what is no number
    PyErr_Clear();
    if (!(distance >= 0))
        throw std::invalid_argument("metric must return a number of at least 0, got " +
                                    std::string(nb::repr(result).c_str()) + ".");
    return distance;
}

// Distances of queries to the rows at the positions of a tree.
class FunctionDistances final : public QueryDistances {
  public:
    template <typename T>
    FunctionDistances(const nb::callable& function, const QueryArrays& queries,
                      const RowArray<T>& X, const std::uint32_t* order,
                      const std::uint32_t* vantage)
        : function_(function),
          queries_(queries.X),
          X_(X),
          n_(X.shape(0)),
          order_(order),
          vantage_(vantage) {}

    double to_vantage(std::size_t query, std::size_t node) const override {
        return call(function_, queries_[query], X_[vantage_[node]]);
    }

    std::size_t to_leaf(std::size_t query, std::size_t leaf, double, std::uint32_t* rows,
                        double* distances) const override {
        const std::size_t first = leaf * kTileRows, n = std::min(kTileRows, n_ - first);
        const nb::object own = queries_[query];
        for (std::size_t r = 0; r < n; ++r) {
            rows[r] = std::uint32_t(r);
            distances[r] = call(function_, own, X_[order_[first + r]]);
        }
        return n;
    }

    // Nothing is known about the rounding of a function. One that loses half of its digits, in
    // float32 or near opposite points on a sphere, is still searched exactly.
    double error(double distance) const override { return 0x1p-23 * distance; }

  private:
    const nb::callable& function_;
    PythonRows queries_, X_;
    std::size_t n_;
    const std::uint32_t *order_, *vantage_;
};

// Call body(query, distance, row) for all pairs whose row is neither forgotten nor excluded.
template <typename T, typename Body>
std::uint64_t for_pairs(const RowArray<T>& X, const Array1<const std::int64_t>& row_ids,
                        const nb::callable& function, const QueryArrays& queries, Body&& body) {
    const Queries view = checked_queries(queries, X.shape(1));
    require(row_ids.shape(0) == X.shape(0), "row_ids must have one entry per row.");
    const PythonRows python_queries(queries.X), rows(X);
    std::uint64_t n_distances = 0;
    for (std::size_t i = 0; i < X.shape(0); ++i) {
        const std::int64_t row = row_ids.data()[i];
        const nb::object own = rows[i];
        for (std::size_t q = 0; q < view.X.rows; ++q) {
            if (view.skips(q, row)) continue;
            body(q, call(function, python_queries[q], own), row);
            ++n_distances;
        }
    }
    return n_distances;
}

template <typename T>
std::uint64_t search_function(const RowArray<T>& X, const Array1<const std::int64_t>& row_ids,
                              const nb::callable& function, const QueryArrays& queries,
                              const NearestArrays& nearest) {
    const std::size_t n = queries.X.shape(0), k = nearest.checked_k(n);
    std::vector<TopK> found;
    for (std::size_t q = 0; q < n; ++q)
        found.emplace_back(nearest.distances.data() + q * k, nearest.rows.data() + q * k, k);
    const std::uint64_t n_distances = for_pairs(
        X, row_ids, function, queries,
        [&](std::size_t q, double distance, std::int64_t row) { found[q].insert(distance, row); });
    for (TopK& own : found) own.finish();
    return n_distances;
}

template <typename T>
nb::tuple radius_function(const RowArray<T>& X, const Array1<const std::int64_t>& row_ids,
                          const nb::callable& function, const QueryArrays& queries, double radius) {
    const std::size_t n = queries.X.shape(0);
    RadiusResult result{std::vector<std::vector<std::int64_t>>(n),
                        std::vector<std::vector<double>>(n)};
    for_pairs(X, row_ids, function, queries, [&](std::size_t q, double distance, std::int64_t row) {
        if (!(distance <= radius)) return;
        result.rows[q].push_back(row);
        result.distances[q].push_back(distance);
    });
    return to_arrays(std::move(result));
}

// Arrays that a build fills.
struct BuiltTree {
    std::vector<std::uint32_t> order, vantage;
    std::vector<VantageBounds> bounds;

    explicit BuiltTree(std::size_t rows) {
        check_rows(rows);
        order.resize(rows), vantage.resize(vantage_nodes(rows)), bounds.resize(vantage_nodes(rows));
    }

    void build(const RowDistances& distances, int threads) {
        build_vantage_tree(order.size(), distances, order.data(), vantage.data(), bounds.data(),
                           threads);
    }

    nb::tuple to_arrays() {
        return nb::make_tuple(owned(std::move(order)), owned(std::move(vantage)),
                              owned_words<double>(std::move(bounds)));
    }
};

template <typename T>
nb::tuple build(const RowArray<T>& X, const AnyMetric& metric, int threads) {
    BuiltTree tree(X.shape(0));
    checked_threads(threads);
    if (const auto* function = std::get_if<nb::callable>(&metric)) {
        const PythonRows rows(X);
        const auto distances = [&](std::uint32_t row, const std::uint32_t* others, std::size_t n,
                                   double* out) {
            const nb::object own = rows[row];
            for (std::size_t i = 0; i < n; ++i) out[i] = call(*function, own, rows[others[i]]);
        };
        with_gil([&] { tree.build(distances, 1); });
    } else {
        const Metric own = checked_metric(std::get<MetricArrays>(metric), X.shape(1));
        without_gil([&] { tree.build(metric_distances(matrix(X), own), threads); });
    }
    return tree.to_arrays();
}

// A tree with the rows of its leaves in tiles; arrays are checked once.
template <typename T>
class VantageTreeArrays {
  public:
    VantageTreeArrays(RowArray<T> X, Array1<const std::uint32_t> order,
                      Array1<const std::int64_t> row_ids, Array1<const std::uint32_t> vantage,
                      Array2<const double> bounds, int threads)
        : X_(X), order_(order), row_ids_(row_ids), vantage_(vantage), bounds_(bounds) {
        const std::size_t n = X.shape(0), d = X.shape(1);
        check_rows(n);
        check_order(order, n);
        require(row_ids.shape(0) == n, "row_ids must have one entry per row.");
        require(vantage.shape(0) == vantage_nodes(n) && has_shape(bounds, vantage_nodes(n), 4),
                "vantage and bounds must have one entry per node.");
        for (std::size_t i = 0; i < vantage.shape(0); ++i) {
            require(vantage.data()[i] < n, "vantage must be rows of X.");
            const T* row = matrix(X).row(vantage.data()[i]);
            vantage_rows_.insert(vantage_rows_.end(), row, row + d);
        }
        checked_threads(threads);
        tiles_.resize(vantage_leaves(n) * d * kTileRows);
        without_gil([&] {
            pack_vantage_tiles(matrix(X), order.data(), tiles_.data(), threads);
            extent_ = Extent::of(matrix(X));
        });
    }

    std::uint64_t search(const AnyMetric& metric, const QueryArrays& queries,
                         const NearestArrays& nearest, int threads) const {
        const std::size_t k = nearest.checked_k(queries.X.shape(0));
        SearchCounts counts;
        run(metric, queries, threads,
            [&](const QueryDistances& distances, const Queries& view, int used) {
                counts = search_vantage_tree(tree(), distances, view, k, nearest.distances.data(),
                                             nearest.rows.data(), used);
            });
        return counts.distances;
    }

    nb::tuple radius(const AnyMetric& metric, const QueryArrays& queries, double radius,
                     int threads) const {
        RadiusResult result;
        run(metric, queries, threads,
            [&](const QueryDistances& distances, const Queries& view, int used) {
                result = radius_vantage_tree(tree(), distances, view, radius, used);
            });
        return to_arrays(std::move(result));
    }

  private:
    VantageTree tree() const {
        return {X_.shape(0), row_ids_.data(),
                reinterpret_cast<const VantageBounds*>(bounds_.data())};
    }

    // Call work(distances, queries, number of threads).
    template <typename Work>
    void run(const AnyMetric& metric, const QueryArrays& queries, int threads, Work work) const {
        const Queries view = checked_queries(queries, X_.shape(1));
        checked_threads(threads);
        if (const auto* function = std::get_if<nb::callable>(&metric)) {
            const FunctionDistances own(*function, queries, X_, order_.data(), vantage_.data());
            with_gil([&] { work(own, view, 1); });
        } else {
            const Metric native = checked_metric(std::get<MetricArrays>(metric), X_.shape(1));
            const MetricQueryDistances<T> own(native, view, X_.shape(0), vantage_rows_.data(),
                                              tiles_.data(), extent_);
            without_gil([&] { work(own, view, threads); });
        }
    }

    RowArray<T> X_;
    Array1<const std::uint32_t> order_;
    Array1<const std::int64_t> row_ids_;
    Array1<const std::uint32_t> vantage_;
    Array2<const double> bounds_;
    std::vector<T> vantage_rows_;
    Aligned<T> tiles_;
    Extent extent_;
};

template <typename T>
void bind_rows(nb::module_& module, const char* tree_name) {
    constexpr const char* kSearch =
        "Update the nearest rows of each query; return the number of distances.";
    constexpr const char* kRadius =
        "Return starts, distances and rows within a radius of each query.";
    module.def("neighbors_build_vantage", &build<T>, "X"_a.noconvert(), "metric"_a, "threads"_a = 1,
               "Order rows by leaf; return the order, the vantage points and bounds of nodes.");
    module.def("neighbors_search_function", &search_function<T>, "X"_a.noconvert(),
               "row_ids"_a.noconvert(), "metric"_a, "queries"_a, "nearest"_a, kSearch);
    module.def("neighbors_radius_function", &radius_function<T>, "X"_a.noconvert(),
               "row_ids"_a.noconvert(), "metric"_a, "queries"_a, "radius"_a, kRadius);
    using Tree = VantageTreeArrays<T>;
    nb::class_<Tree>(module, tree_name, "Rows in the leaves of a vantage-point tree.")
        .def(nb::init<RowArray<T>, Array1<const std::uint32_t>, Array1<const std::int64_t>,
                      Array1<const std::uint32_t>, Array2<const double>, int>(),
             "X"_a.noconvert(), "order"_a.noconvert(), "row_ids"_a.noconvert(),
             "vantage"_a.noconvert(), "bounds"_a.noconvert(), "threads"_a = 1)
        .def("search", &Tree::search, "metric"_a, "queries"_a, "nearest"_a, "threads"_a = 1,
             kSearch)
        .def("radius", &Tree::radius, "metric"_a, "queries"_a, "radius"_a, "threads"_a = 1,
             kRadius);
}

}  // namespace

void bind_vantage(nb::module_& module) {
    bind_rows<double>(module, "VantageTree");
    bind_rows<float>(module, "FloatVantageTree");
}

}  // namespace ceiba::bindings
