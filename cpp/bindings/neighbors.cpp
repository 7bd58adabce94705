// Indices and searches of nearest neighbors.
#include "neighbors.hpp"

#include "neighbors/brute_search.hpp"
#include "neighbors/product_search.hpp"

namespace ceiba::bindings {
namespace {

BoxTreeShape checked_shape(std::size_t rows, std::size_t leaf_rows) {
    require(rows > 0 && rows < (std::size_t(1) << 32), "a tree must have 1 to 2^32 rows.");
    require(leaf_rows > 0, "leaf_rows must be positive.");
    return BoxTreeShape::of(rows, leaf_rows);
}

template <typename T>
nb::tuple build(const RowArray<T>& X, std::size_t leaf_rows, const Maybe1<const double>& mismatch,
                int threads) {
    const BoxTreeShape shape = checked_shape(X.shape(0), leaf_rows);
    const std::size_t d = X.shape(1);
    std::vector<std::uint32_t> order(X.shape(0));
    std::vector<double> boxes(shape.inner_nodes() * 2 * d * kChildren);
    const double* nominal = sized(mismatch, d, "mismatch must have one entry per column.");
    checked_threads(threads);
    without_gil(
        [&] { build_box_tree(matrix(X), shape, nominal, order.data(), boxes.data(), threads); });
    return nb::make_tuple(owned(std::move(order)),
                          owned(std::move(boxes), {shape.inner_nodes(), 2, d, kChildren}));
}

std::vector<std::int64_t> tile_starts(const BoxTreeShape& shape) {
    std::vector<std::int64_t> starts{0};
    for (std::size_t leaf = 0; leaf < shape.leaves; ++leaf)
        starts.push_back(starts.back() + std::int64_t(shape.tiles_of(leaf)));
    return starts;
}

template <typename T>
nb::object packed_tiles(const RowArray<T>& X, std::size_t leaf_rows,
                        const Array1<const std::uint32_t>& order, int threads) {
    check_order(order, X.shape(0));
    const BoxTreeShape shape = checked_shape(X.shape(0), leaf_rows);
    const std::size_t n = std::size_t(tile_starts(shape).back()), d = X.shape(1);
    std::vector<T> tiles(n * d * kTileRows);
    checked_threads(threads);
    without_gil([&] { pack_tiles(matrix(X), shape, order.data(), tiles.data(), threads); });
    return nb::cast(owned(std::move(tiles), {n, d, kTileRows}));
}

template <typename T>
nb::tuple packed_products(const RowArray<T>& X, std::size_t leaf_rows,
                          const Array1<const std::uint32_t>& order, int threads) {
    check_order(order, X.shape(0));
    const BoxTreeShape shape = checked_shape(X.shape(0), leaf_rows);
    const std::size_t n = std::size_t(tile_starts(shape).back()), d = X.shape(1);
    std::vector<float> tiles(n * d * kTileRows), half_squares(n * kTileRows);
    std::vector<double> centers(shape.leaves * d), radii(shape.leaves);
    checked_threads(threads);
    without_gil([&] {
        pack_products(matrix(X), shape, order.data(), tiles.data(), half_squares.data(),
                      centers.data(), radii.data(), threads);
    });
    return nb::make_tuple(owned(std::move(tiles), {n, d, kTileRows}),
                          owned(std::move(half_squares), {n, kTileRows}),
                          owned(std::move(centers), {shape.leaves, d}), owned(std::move(radii)));
}

template <typename T>
using TileArray = nb::ndarray<const T, nb::ndim<3>, nb::c_contig, nb::device::cpu, nb::numpy>;
using BoxArray = nb::ndarray<const double, nb::ndim<4>, nb::c_contig, nb::device::cpu, nb::numpy>;

// A tree with tiles of the rows themselves, or with products; arrays are checked once.
template <typename T>
class BoxTreeArrays {
  public:
    BoxTreeArrays(std::optional<RowArray<T>> X, std::size_t leaf_rows,
                  Array1<const std::uint32_t> order, Array1<const std::int64_t> row_ids,
                  BoxArray boxes, std::optional<TileArray<T>> tiles,
                  std::optional<std::tuple<TileArray<float>, Array2<const float>,
                                           Array2<const double>, Array1<const double>>>
                      products)
        : X_(X),
          order_(order),
          row_ids_(row_ids),
          boxes_(boxes),
          tiles_(tiles),
          products_(products),
          d_(boxes.shape(2)),
          shape_(checked_shape(order.shape(0), leaf_rows)),
          starts_(tile_starts(shape_)) {
        const std::size_t n = order.shape(0), d = d_, n_tiles = std::size_t(starts_.back());
        check_order(order, n);
        require(row_ids.shape(0) == n, "row_ids must have one entry per row.");
        require(boxes.shape(0) == shape_.inner_nodes() && boxes.shape(1) == 2 &&
                    boxes.shape(2) == d && boxes.shape(3) == kChildren,
                "boxes must have shape (n_inner_nodes, 2, n_columns, 8).");
        require(tiles.has_value() != products.has_value(),
                "either tiles or products are required.");
        if (tiles) check_tiles(*tiles, n_tiles, d);
        if (!products) return;
        require(X && has_shape(*X, n, d), "products require X, the rows themselves.");
        const auto& [own, half_squares, centers, radii] = *products;
        check_tiles(own, n_tiles, d);
        require(has_shape(half_squares, n_tiles, kTileRows) &&
                    has_shape(centers, shape_.leaves, d) && radii.shape(0) == shape_.leaves,
                "products must have the shapes of the leaves.");
    }

    std::uint64_t search(const MetricArrays& metric, const QueryArrays& queries,
                         const NearestArrays& nearest, int threads) const {
        const Metric own = checked(metric);
        const Queries view = queries.view(d_);
        const std::size_t k = nearest.checked_k(queries.X.shape(0));
        checked_threads(threads);
        SearchCounts counts;
        require(tiles_.has_value() ||
                    (own.kind == MetricKind::kEuclidean && own.mismatch == nullptr &&
                     view.factor == 1 && view.offset == 0 && view.columns.count == d_),
                "products require Euclidean distances of all columns.");
        without_gil([&] {
            counts = tiles_
                         ? search_box_tree(tree(), own, view, k, nearest.distances.data(),
                                           nearest.rows.data(), threads)
                         : search_products(tree(), leaves(), matrix(*X_), order_.data(), view, k,
                                           nearest.distances.data(), nearest.rows.data(), threads);
        });
        return counts.distances;
    }

    nb::tuple radius(const MetricArrays& metric, const QueryArrays& queries, double radius,
                     int threads) const {
        const Metric own = checked(metric);
        const Queries view = queries.view(d_);
        require(tiles_.has_value(), "a search by radius requires tiles.");
        checked_threads(threads);
        RadiusResult result;
        without_gil([&] { result = radius_box_tree(tree(), own, view, radius, threads); });
        return to_arrays(std::move(result));
    }

  private:
    template <typename Tiles>
    static void check_tiles(const Tiles& tiles, std::size_t n_tiles, std::size_t d) {
        require(tiles.shape(0) == n_tiles && tiles.shape(1) == d && tiles.shape(2) == kTileRows,
                "tiles must have shape (n_tiles, n_columns, 16).");
    }

    Metric checked(const MetricArrays& metric) const {
        const Metric own = metric.view(d_);
        require(own.is_coordinate() && own.missing == MissingRule::kNone,
                "a box tree requires sums over known columns.");
        return own;
    }

    BoxTree<T> tree() const {
        return {shape_,          d_,
                row_ids_.data(), starts_.data(),
                boxes_.data(),   tiles_ ? tiles_->data() : nullptr};
    }

    ProductLeaves leaves() const {
        const auto& [tiles, half_squares, centers, radii] = *products_;
        return {tiles.data(), half_squares.data(), centers.data(), radii.data()};
    }

    std::optional<RowArray<T>> X_;  // of products, whose distances are computed again
    Array1<const std::uint32_t> order_;
    Array1<const std::int64_t> row_ids_;
    BoxArray boxes_;
    std::optional<TileArray<T>> tiles_;
    std::optional<std::tuple<TileArray<float>, Array2<const float>, Array2<const double>,
                             Array1<const double>>>
        products_;
    std::size_t d_;
    BoxTreeShape shape_;
    std::vector<std::int64_t> starts_;
};

template <typename T>
std::uint64_t search_all(const RowArray<T>& X, const Array1<const std::int64_t>& row_ids,
                         const MetricArrays& metric, const QueryArrays& queries,
                         const NearestArrays& nearest, int threads) {
    const Metric own = metric.view(X.shape(1));
    const Queries view = queries.view(X.shape(1));
    const std::size_t k = nearest.checked_k(queries.X.shape(0));
    require(row_ids.shape(0) == X.shape(0), "row_ids must have one entry per row.");
    checked_threads(threads);
    SearchCounts counts;
    without_gil([&] {
        counts = search_rows(matrix(X), row_ids.data(), own, view, k, nearest.distances.data(),
                             nearest.rows.data(), threads);
    });
    return counts.distances;
}

template <typename T>
nb::tuple radius_all(const RowArray<T>& X, const Array1<const std::int64_t>& row_ids,
                     const MetricArrays& metric, const QueryArrays& queries, double radius,
                     int threads) {
    const Metric own = metric.view(X.shape(1));
    const Queries view = queries.view(X.shape(1));
    require(row_ids.shape(0) == X.shape(0), "row_ids must have one entry per row.");
    checked_threads(threads);
    RadiusResult result;
    without_gil(
        [&] { result = radius_rows(matrix(X), row_ids.data(), own, view, radius, threads); });
    return to_arrays(std::move(result));
}

template <typename T>
void bind_rows(nb::module_& module, const char* tree_name) {
    module.def("neighbors_build", &build<T>, "X"_a.noconvert(), "leaf_rows"_a,
               "mismatch"_a.noconvert().none(), "threads"_a = 1,
               "Order rows by the leaves of a tree, and return the order and the boxes.");
    module.def("neighbors_tiles", &packed_tiles<T>, "X"_a.noconvert(), "leaf_rows"_a,
               "order"_a.noconvert(), "threads"_a = 1, "Return the rows of the leaves as tiles.");
    module.def("neighbors_products", &packed_products<T>, "X"_a.noconvert(), "leaf_rows"_a,
               "order"_a.noconvert(), "threads"_a = 1,
               "Return tiles of differences from the centers of the leaves, half of their squares, "
               "the centers and the largest norms.");
    module.def("neighbors_search", &search_all<T>, "X"_a.noconvert(), "row_ids"_a.noconvert(),
               "metric"_a, "queries"_a, "nearest"_a, "threads"_a = 1,
               "Update the nearest rows of each query; return the number of distances.");
    module.def("neighbors_radius", &radius_all<T>, "X"_a.noconvert(), "row_ids"_a.noconvert(),
               "metric"_a, "queries"_a, "radius"_a, "threads"_a = 1,
               "Return starts, distances and rows within a radius of each query.");
    using Products = std::tuple<TileArray<float>, Array2<const float>, Array2<const double>,
                                Array1<const double>>;
    nb::class_<BoxTreeArrays<T>>(module, tree_name, "Rows in the leaves of a tree of boxes.")
        .def(nb::init<std::optional<RowArray<T>>, std::size_t, Array1<const std::uint32_t>,
                      Array1<const std::int64_t>, BoxArray, std::optional<TileArray<T>>,
                      std::optional<Products>>(),
             "X"_a.noconvert().none(), "leaf_rows"_a, "order"_a.noconvert(),
             "row_ids"_a.noconvert(), "boxes"_a.noconvert(), "tiles"_a.noconvert().none(),
             "products"_a.none())
        .def("search", &BoxTreeArrays<T>::search, "metric"_a, "queries"_a, "nearest"_a,
             "threads"_a = 1,
             "Update the nearest rows of each query; return the number of distances.")
        .def("radius", &BoxTreeArrays<T>::radius, "metric"_a, "queries"_a, "radius"_a,
             "threads"_a = 1, "Return starts, distances and rows within a radius of each query.");
}

}  // namespace

void bind_neighbors(nb::module_& module) {
    nb::enum_<MetricKind>(module, "MetricKind", "A distance between rows.")
        .value("EUCLIDEAN", MetricKind::kEuclidean)
        .value("MANHATTAN", MetricKind::kManhattan)
        .value("CHEBYSHEV", MetricKind::kChebyshev)
        .value("MINKOWSKI", MetricKind::kMinkowski)
        .value("CANBERRA", MetricKind::kCanberra)
        .value("BRAY_CURTIS", MetricKind::kBrayCurtis)
        .value("HAVERSINE", MetricKind::kHaversine)
        .value("HAMMING", MetricKind::kHamming)
        .value("JACCARD", MetricKind::kJaccard)
        .value("DICE", MetricKind::kDice)
        .value("ROGERS_TANIMOTO", MetricKind::kRogersTanimoto)
        .value("RUSSELL_RAO", MetricKind::kRussellRao)
        .value("SOKAL_SNEATH", MetricKind::kSokalSneath)
        .value("YULE", MetricKind::kYule);
    nb::enum_<MissingRule>(module, "MissingRule", "What a missing value adds to a distance.")
        .value("NONE", MissingRule::kNone)
        .value("PARTIAL", MissingRule::kPartial)
        .value("MISMATCH", MissingRule::kMismatch);
    nb::class_<MetricArrays>(module, "Metric", "A distance with its settings by column.")
        .def(
            nb::init<MetricKind, double, Maybe1<const double>, Maybe1<const double>, MissingRule>(),
            "kind"_a, "p"_a = 2.0, "mismatch"_a.noconvert() = nb::none(),
            "weights"_a.noconvert() = nb::none(), "missing"_a = MissingRule::kNone);
    nb::class_<QueryArrays>(module, "Queries", "Rows whose neighbors are searched.")
        .def(nb::init<Array2<const double>, Maybe1<const std::uint32_t>, double, double,
                      Maybe1<const std::int64_t>>(),
             "X"_a.noconvert(), "columns"_a.noconvert() = nb::none(), "factor"_a = 1.0,
             "offset"_a = 0.0, "excluded"_a.noconvert() = nb::none());
    nb::class_<NearestArrays>(module, "Nearest", "The nearest rows found so far.")
        .def(nb::init<Array2<double>, Array2<std::int64_t>>(), "distances"_a.noconvert(),
             "rows"_a.noconvert());
    bind_rows<double>(module, "BoxTree");
    bind_rows<float>(module, "FloatBoxTree");
}

}  // namespace ceiba::bindings
