// Implementation of the box tree: building it, and searching it for one query at a time.
#include "neighbors/box_tree.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/aligned.hpp"
#include "common/parallel.hpp"
#include "neighbors/top_k.hpp"

namespace ceiba {

BoxTreeShape BoxTreeShape::of(std::size_t rows, std::size_t leaf_rows) {
    BoxTreeShape shape;
    shape.rows = rows;
    while (rows > leaf_rows * shape.leaves) shape.leaves *= 2;
    shape.node_starts = {0};
    // Nodes of a depth: a power of eight times the children of the root.
    std::vector<std::size_t> counts;
    for (std::size_t n = shape.leaves; n > 1; n = (n + kChildren - 1) / kChildren)
        counts.push_back((n + kChildren - 1) / kChildren);
    for (auto n = counts.rbegin(); n != counts.rend(); ++n)
        shape.node_starts.push_back(shape.node_starts.back() + *n);
    return shape;
}

namespace {

struct Keyed {
    double value;
    std::uint32_t row;

    bool operator<(const Keyed& other) const {
        return value != other.value ? value < other.value : row < other.row;
    }
};

// Divides ranges of leaves in halves, by the widest column.
template <typename T>
class Splitter {
  public:
    Splitter(Matrix<const T> X, const BoxTreeShape& shape, const double* mismatch,
             std::uint32_t* order)
        : X_(X), shape_(shape), mismatch_(mismatch), order_(order) {}

    void split(std::size_t first_leaf, std::size_t last_leaf) {
        if (last_leaf - first_leaf < 2) return;
        const std::size_t middle = divide(first_leaf, last_leaf);
        split(first_leaf, middle);
        split(middle, last_leaf);
    }

    // Order the rows of some leaves so that those of the first half come first.
    std::size_t divide(std::size_t first_leaf, std::size_t last_leaf) {
        const std::size_t middle = (first_leaf + last_leaf) / 2;
        const std::size_t begin = shape_.begin(first_leaf), end = shape_.begin(last_leaf);
        const std::size_t column = widest(begin, end);
        keys_.resize(end - begin);
        for (std::size_t i = begin; i < end; ++i)
            keys_[i - begin] = {double(X_.row(order_[i])[column]), order_[i]};
        const auto border = keys_.begin() + std::ptrdiff_t(shape_.begin(middle) - begin);
        std::nth_element(keys_.begin(), border, keys_.end());
        for (std::size_t i = begin; i < end; ++i) order_[i] = keys_[i - begin].row;
        return middle;
    }

  private:
    // Rows that determine the widest column: enough for a good choice.
    static constexpr std::size_t kSample = 512;

    std::size_t widest(std::size_t begin, std::size_t end) {
        const std::size_t d = X_.cols, step = std::max<std::size_t>((end - begin) / kSample, 1);
        low_.assign(d, std::numeric_limits<double>::infinity());
        high_.assign(d, -std::numeric_limits<double>::infinity());
        for (std::size_t i = begin; i < end; i += step) {
            const T* x = X_.row(order_[i]);
            for (std::size_t j = 0; j < d; ++j) {
                low_[j] = std::min(low_[j], double(x[j]));
                high_[j] = std::max(high_[j], double(x[j]));
            }
        }
        std::size_t best = 0;
        double width = -1;
        for (std::size_t j = 0; j < d; ++j) {
            double own = high_[j] - low_[j];
            // Different codes are as far apart as their mismatch.
            if (mismatch_ != nullptr && !std::isnan(mismatch_[j])) own = own > 0 ? mismatch_[j] : 0;
            if (own > width) best = j, width = own;
        }
        return best;
    }

    Matrix<const T> X_;
    const BoxTreeShape& shape_;
    const double* mismatch_;
    std::uint32_t* order_;
    std::vector<Keyed> keys_;
    std::vector<double> low_, high_;
};

// Write the box of some rows into a lane of the boxes of a node.
template <typename T>
void box_of_rows(Matrix<const T> X, const std::uint32_t* begin, const std::uint32_t* end,
                 double* boxes, std::size_t lane) {
    const std::size_t d = X.cols;
    for (std::size_t j = 0; j < d; ++j) {
        double low = std::numeric_limits<double>::infinity(), high = -low;
        for (const std::uint32_t* row = begin; row < end; ++row) {
            const double x = double(X.row(*row)[j]);
            low = std::min(low, x), high = std::max(high, x);
        }
        boxes[j * kChildren + lane] = low;
        boxes[(d + j) * kChildren + lane] = high;
    }
}

// Write the box of all children of a node into a lane of the boxes of its parent.
void box_of_children(const double* children, std::size_t d, double* boxes, std::size_t lane) {
    for (std::size_t j = 0; j < 2 * d; ++j) {
        const double* own = children + j * kChildren;
        boxes[j * kChildren + lane] = j < d ? *std::min_element(own, own + kChildren)
                                            : *std::max_element(own, own + kChildren);
    }
}

}  // namespace

template <typename T>
void build_box_tree(Matrix<const T> X, const BoxTreeShape& shape, const double* mismatch,
                    std::uint32_t* order, double* boxes, int threads) {
    for (std::size_t i = 0; i < X.rows; ++i) order[i] = std::uint32_t(i);
    // The first divisions one after another, until there is a part for every thread.
    std::vector<std::pair<std::size_t, std::size_t>> parts{{0, shape.leaves}};
    const int used = threads_for(20.0 * double(X.rows), threads);
    Splitter<T> splitter(X, shape, mismatch, order);
    while (parts.size() < std::size_t(used) && parts.size() < shape.leaves) {
        std::vector<std::pair<std::size_t, std::size_t>> halves;
        for (const auto& [first, last] : parts) {
            const std::size_t middle = splitter.divide(first, last);
            halves.push_back({first, middle});
            halves.push_back({middle, last});
        }
        parts = std::move(halves);
    }
    for_segments({parts.size(), parts.size()}, used, [&](std::size_t s, int, Interrupt&) {
        Splitter<T>(X, shape, mismatch, order).split(parts[s].first, parts[s].second);
    });
    const std::size_t d = X.cols, size = 2 * d * kChildren;
    if (shape.depth() == 0) return;
    // A lane without a child has an empty box.
    const std::size_t last_depth = shape.depth() - 1, first = shape.node_starts[last_depth];
    const std::size_t count = shape.node_starts[last_depth + 1] - first;
    for (std::size_t i = 0; i < shape.inner_nodes() * 2; ++i)
        std::fill_n(boxes + i * d * kChildren, d * kChildren,
                    (i % 2 == 0 ? 1 : -1) * std::numeric_limits<double>::infinity());
    for_segments({count, count}, used, [&](std::size_t i, int, Interrupt&) {
        for (std::size_t c = 0; c < kChildren && i * kChildren + c < shape.leaves; ++c) {
            const std::size_t leaf = i * kChildren + c;
            box_of_rows(X, order + shape.begin(leaf), order + shape.begin(leaf + 1),
                        boxes + (first + i) * size, c);
        }
    });
    for (std::size_t depth = last_depth; depth-- > 0;)
        for (std::size_t i = shape.node_starts[depth + 1]; i < shape.node_starts[depth + 2]; ++i) {
            const std::size_t child = i - shape.node_starts[depth + 1];
            box_of_children(boxes + i * size, d,
                            boxes + (shape.node_starts[depth] + child / kChildren) * size,
                            child % kChildren);
        }
}

template <typename T>
void pack_tiles(Matrix<const T> X, const BoxTreeShape& shape, const std::uint32_t* order, T* tiles,
                int threads) {
    std::vector<std::size_t> starts{0};
    for (std::size_t leaf = 0; leaf < shape.leaves; ++leaf)
        starts.push_back(starts.back() + shape.tiles_of(leaf));
    const std::size_t d = X.cols;
    std::fill_n(tiles, starts.back() * d * kTileRows, T(0));
    for_segments({shape.leaves, shape.leaves}, threads_for(double(X.rows * d), threads),
                 [&](std::size_t leaf, int, Interrupt&) {
                     T* own = tiles + starts[leaf] * d * kTileRows;
                     const std::size_t begin = shape.begin(leaf), end = shape.begin(leaf + 1);
                     for (std::size_t i = 0; i < end - begin; ++i) {
                         const T* x = X.row(order[begin + i]);
                         T* lane = own + i / kTileRows * d * kTileRows + i % kTileRows;
                         for (std::size_t j = 0; j < d; ++j) lane[j * kTileRows] = x[j];
                     }
                 });
}

namespace {

BoxTreeKernels<double> kernels_of(const BoxTree<double>&, const Metric& metric,
                                  const Queries& queries) {
    return neighbor_kernels().box_tree(metric, queries.columns);
}

BoxTreeKernels<float> kernels_of(const BoxTree<float>&, const Metric& metric,
                                 const Queries& queries) {
    return neighbor_kernels().float_box_tree(metric, queries.columns);
}

template <typename T>
BoxTreeView<T> view_of(const BoxTree<T>& tree) {
    const BoxTreeShape& shape = tree.shape;
    return {.d = tree.d,
            .rows = shape.rows,
            .leaf_bits = std::size_t(std::countr_zero(shape.leaves)),
            .depth = shape.depth(),
            .root_children = shape.depth() > 0 ? shape.children(0, 0) : 0,
            .node_starts = shape.node_starts.data(),
            .tile_starts = tree.tile_starts,
            .boxes = tree.boxes,
            .tiles = tree.tiles};
}

}  // namespace

template <typename T>
std::vector<std::uint32_t> query_order(const BoxTree<T>& tree, const Metric& metric,
                                       const Queries& queries, std::size_t shared, int threads) {
    const std::size_t n = queries.X.rows;
    std::vector<std::uint32_t> order(n), nodes(n);
    std::iota(order.begin(), order.end(), 0);
    if (n <= shared || tree.shape.depth() == 0) return order;
    std::size_t depth = 1;
    while (depth < tree.shape.depth() && tree.shape.nodes(depth) * shared < n) ++depth;
    const auto kernels = kernels_of(tree, metric, queries);
    const BoxTreeView<T> view = view_of(tree);
    const Segments parts = segments(n, 64, 4096);
    for_segments(parts, threads, [&](std::size_t s, int, Interrupt&) {
        for (std::size_t i = parts.begin(s); i < parts.end(s); ++i)
            nodes[i] = std::uint32_t(
                kernels.nearest_node(view, metric, queries.columns, queries.X.row(i), depth));
    });
    // Sorted by counting: a comparison sort, on one thread, took 6% of a search of two columns.
    std::vector<std::uint32_t> starts(tree.shape.nodes(depth) + 1);
    for (const std::uint32_t node : nodes) ++starts[node + 1];
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (std::size_t i = 0; i < n; ++i) order[starts[nodes[i]]++] = std::uint32_t(i);
    return order;
}

namespace {

// Searches the leaves of a tree from the nearest box on.
template <typename T>
class Traversal {
  public:
    Traversal(const BoxTree<T>& tree, const Metric& metric, const Queries& queries)
        : view_(view_of(tree)),
          kernels_(kernels_of(tree, metric, queries)),
          row_ids_(tree.row_ids),
          metric_(metric),
          queries_(queries) {}

    // Call visit(distances, rows, n) for the rows of each tile whose reduced distance does not
    // exceed the limit. It returns the limit from then on.
    template <typename Visit>
    void run(std::size_t query, double limit, Visit&& visit) {
        struct Context {
            const Traversal& traversal;
            std::size_t query;
            Visit& visit;
        } context{*this, query, visit};
        const auto visit_tile = [](void* own, std::size_t first, std::uint32_t hits,
                                   const double* reduced) {
            const auto& [traversal, query, visit] = *static_cast<const Context*>(own);
            return traversal.visit_rows(query, first, hits, reduced, visit);
        };
        n_distances_ += kernels_.search(view_, metric_, queries_.columns, queries_.X.row(query),
                                        limit, {visit_tile, &context});
    }

    std::uint64_t n_distances() const { return n_distances_; }

  private:
    template <typename Visit>
    double visit_rows(std::size_t query, std::size_t first, std::uint32_t hits,
                      const double* reduced, Visit& visit) const {
        double distances[kTileRows];
        std::int64_t rows[kTileRows];
        std::size_t n = 0;
        for (; hits != 0; hits &= hits - 1) {
            const std::size_t r = std::size_t(std::countr_zero(hits));
            distances[n] = queries_.to_distance(metric_, reduced[r]);
            rows[n] = row_ids_[first + r];
            n += !queries_.skips(query, rows[n]);
        }
        return visit(distances, rows, n);
    }

    BoxTreeView<T> view_;
    BoxTreeKernels<T> kernels_;
    const std::int64_t* row_ids_;
    const Metric& metric_;
    const Queries& queries_;
    std::uint64_t n_distances_ = 0;
};

// Call body(traversal, query index) for every query.
template <typename T, typename Body>
SearchCounts for_queries(const BoxTree<T>& tree, const Metric& metric, const Queries& queries,
                         int threads, Body&& body) {
    const std::size_t n = queries.X.rows;
    // Enough for the caches; a finer order takes 3% longer than it saves in two columns.
    constexpr std::size_t kShared = 64;
    const std::vector<std::uint32_t> order = query_order(tree, metric, queries, kShared, threads);
    const Segments parts = segments(n, 16, 4096);
    std::atomic<std::uint64_t> total{0};
    const double work = double(n) * 500.0 * double(tree.d);
    for_segments(parts, threads_for(work, threads),
                 [&](std::size_t s, int thread, Interrupt& stop) {
                     Traversal<T> traversal(tree, metric, queries);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         // Reading the clock each time took 3% of a search of two columns.
                         if (i % 8 == 0 && stop.stopped(thread)) return;
                         body(traversal, order[i]);
                     }
                     total += traversal.n_distances();
                 });
    return {total};
}

}  // namespace

template <typename T>
SearchCounts search_box_tree(const BoxTree<T>& tree, const Metric& metric, const Queries& queries,
                             std::size_t k, double* distances, std::int64_t* rows, int threads) {
    const auto search = [&]<typename List>(Traversal<T>& traversal, std::size_t i, List&& nearest) {
        traversal.run(i, queries.to_limit(metric, nearest.farthest()),
                      [&](const double* found, const std::int64_t* found_rows, std::size_t n) {
                          nearest.insert(found, found_rows, n);
                          return queries.to_limit(metric, nearest.farthest());
                      });
        nearest.finish();
    };
    return for_queries(tree, metric, queries, threads, [&](Traversal<T>& traversal, std::size_t i) {
        if (k <= kShortList)
            search(traversal, i, ShortTopK(distances + i * k, rows + i * k, k));
        else
            search(traversal, i, TopK(distances + i * k, rows + i * k, k));
    });
}

template <typename T>
RadiusResult radius_box_tree(const BoxTree<T>& tree, const Metric& metric, const Queries& queries,
                             double radius, int threads) {
    RadiusResult result{std::vector<std::vector<std::int64_t>>(queries.X.rows),
                        std::vector<std::vector<double>>(queries.X.rows)};
    const double limit = queries.to_limit(metric, radius);
    for_queries(tree, metric, queries, threads, [&](Traversal<T>& traversal, std::size_t i) {
        traversal.run(i, limit,
                      [&](const double* found, const std::int64_t* found_rows, std::size_t n) {
                          for (std::size_t f = 0; f < n; ++f) {
                              if (found[f] > radius) continue;
                              result.rows[i].push_back(found_rows[f]);
                              result.distances[i].push_back(found[f]);
                          }
                          return limit;
                      });
    });
    return result;
}

#define CEIBA_BOX_TREE(T)                                                                       \
    template void build_box_tree<T>(Matrix<const T>, const BoxTreeShape&, const double*,        \
                                    std::uint32_t*, double*, int);                              \
    template void pack_tiles<T>(Matrix<const T>, const BoxTreeShape&, const std::uint32_t*, T*, \
                                int);                                                           \
    template SearchCounts search_box_tree<T>(const BoxTree<T>&, const Metric&, const Queries&,  \
                                             std::size_t, double*, std::int64_t*, int);         \
    template std::vector<std::uint32_t> query_order<T>(const BoxTree<T>&, const Metric&,        \
                                                       const Queries&, std::size_t, int);       \
    template RadiusResult radius_box_tree<T>(const BoxTree<T>&, const Metric&, const Queries&,  \
                                             double, int);
CEIBA_BOX_TREE(double)
CEIBA_BOX_TREE(float)
#undef CEIBA_BOX_TREE

}  // namespace ceiba
