// Search of a box tree for one query: bounds of eight children and distances of sixteen rows at a
// time. Included only by units that are compiled once for each instruction set, so everything is
// local.
#pragma once

#include "simd/neighbor_kernels.hpp"
#include "simd/vector_math.hpp"

namespace ceiba {
namespace {

inline Words load_words(const long long* from) {
    Words v;
    __builtin_memcpy(&v, from, sizeof v);
    return v;
}

// Combine all lanes of a vector, half with half. GCC takes a loop over the lanes through memory:
// with loops, a search of four columns took 1.4 times as long.
template <typename V, typename Combine, std::size_t... kLane>
[[gnu::always_inline]] inline auto fold_halves(const V& v, Combine combine,
                                               std::index_sequence<kLane...>) {
    constexpr std::size_t kHalf = sizeof...(kLane);
    if constexpr (kHalf == 1)
        return combine(v[0], v[1]);
    else
        return fold_halves(combine(__builtin_shufflevector(v, v, kLane...),
                                   __builtin_shufflevector(v, v, (kHalf + kLane)...)),
                           combine, std::make_index_sequence<kHalf / 2>());
}

template <typename Combine>
[[gnu::always_inline]] inline long long fold(const Words& v, Combine combine) {
    return fold_halves(v, combine, std::make_index_sequence<kLanes<double> / 2>());
}

// Bits of the rows of a tile whose distance does not exceed the limit.
[[gnu::always_inline]] inline std::uint32_t rows_within(const double* distances, double limit) {
    constexpr long long kBits[kTileRows] = {1 << 0,  1 << 1,  1 << 2,  1 << 3, 1 << 4,  1 << 5,
                                            1 << 6,  1 << 7,  1 << 8,  1 << 9, 1 << 10, 1 << 11,
                                            1 << 12, 1 << 13, 1 << 14, 1 << 15};
    Words hits{};
    for (std::size_t lane = 0; lane < kTileRows; lane += kLanes<double>)
        hits |= (load(distances + lane) <= limit) & load_words(kBits + lane);
    return std::uint32_t(fold(hits, [](const auto& a, const auto& b) { return a | b; }));
}

// Lower bounds of the distances to the children of a node, as keys to visit them in order. Bounds
// are neither negative nor NaN, so that their bits are ordered as integers. The lowest three bits
// are replaced by the number of the child: no two keys are equal, and bounds are rounded downward.
class ChildKeys {
  public:
    [[gnu::always_inline]] ChildKeys(const double* bounds, std::size_t n_children) {
        constexpr long long kNumbers[kChildren] = {0, 1, 2, 3, 4, 5, 6, 7};
        for (std::size_t lane = 0; lane < kChildren; lane += kLanes<double>) {
            Words bits;
            __builtin_memcpy(&bits, bounds + lane, sizeof bits);
            bits = (bits & ~kNumberBits) | load_words(kNumbers + lane);
            __builtin_memcpy(keys_ + lane, &bits, sizeof bits);
        }
        for (std::size_t c = n_children; c < kChildren; ++c) keys_[c] = kEnd;
    }

    // Go to the child that is the next one in the order, or past the last one. Taking the smallest
    // of the keys that are left costs less than sorting them: few children are visited.
    [[gnu::always_inline]] void advance() {
        Words next = kEnd - Words{};
        for (std::size_t lane = 0; lane < kChildren; lane += kLanes<double>) {
            const Words own = load_words(keys_ + lane);
            next = (own > current_) & (own < next) ? own : next;
        }
        current_ = fold(next, [](const auto& a, const auto& b) { return a < b ? a : b; });
    }

    std::size_t child() const { return std::size_t(current_ & kNumberBits); }

    // Lower bound of the distance to the child; NaN past the last one.
    double bound() const {
        const long long bits = current_ & ~kNumberBits;
        double value;
        __builtin_memcpy(&value, &bits, sizeof value);
        return value;
    }

  private:
    static constexpr long long kNumberBits = kChildren - 1;
    static constexpr long long kEnd = 0x7fffffffffffffffLL;

    alignas(64) long long keys_[kChildren];
    long long current_ = -1;
};

// `Query` computes the bounds of eight boxes, query.bounds(boxes, out), and the reduced distances
// to the rows of a tile, query.distances(tile, out); kColumns is the number of columns of the tree,
// or 0 if the compiler does not know it.
template <typename Query, typename T>
class BoxSearch {
  public:
    BoxSearch(const BoxTreeView<T>& tree, const Query& query) : tree_(tree), query_(query) {}

    // Returns the number of distances to rows that were computed.
    std::size_t run(double limit, const TileVisitor& visitor) {
        limit_ = limit;
        if (tree_.depth == 0)
            scan(0, visitor);
        else
            visit_children(0, 0, visitor);
        return n_distances_;
    }

    std::size_t nearest_node(std::size_t at_depth) const {
        std::size_t node = 0;
        for (std::size_t depth = 0; depth < at_depth; ++depth) {
            ChildKeys keys = children(depth, node);
            keys.advance();
            node = node * kChildren + keys.child();
        }
        return node;
    }

  private:
    std::size_t columns() const { return Query::kColumns > 0 ? Query::kColumns : tree_.d; }

    [[gnu::always_inline]] ChildKeys children(std::size_t depth, std::size_t node) const {
        alignas(64) double bounds[kChildren];
        query_.bounds(tree_.boxes + (tree_.node_starts[depth] + node) * 2 * columns() * kChildren,
                      bounds);
        return {bounds, depth == 0 ? tree_.root_children : kChildren};
    }

    // Visit the children of a node that can have neighbors, from the nearest box on.
    // Neither inlined into itself nor cloned for the root: that doubles the code, not the speed.
    [[gnu::noinline, gnu::noclone]] void visit_children(std::size_t depth, std::size_t node,
                                                        const TileVisitor& visitor) {
        ChildKeys keys = children(depth, node);
        for (keys.advance(); keys.bound() <= limit_; keys.advance()) {
            const std::size_t child = node * kChildren + keys.child();
            if (depth + 1 == tree_.depth)
                scan(child, visitor);
            else
                visit_children(depth + 1, child, visitor);
        }
    }

    [[gnu::always_inline]] void scan(std::size_t leaf, const TileVisitor& visitor) {
        const std::size_t begin = tree_.begin(leaf), end = tree_.begin(leaf + 1);
        const std::size_t size = columns() * kTileRows;
        const T* tile = tree_.tiles + std::size_t(tree_.tile_starts[leaf]) * size;
        n_distances_ += end - begin;
        for (std::size_t first = begin; first < end; first += kTileRows, tile += size) {
            alignas(64) double distances[kTileRows];
            query_.distances(tile, distances);
            std::uint32_t hits = rows_within(distances, limit_);
            if (end - first < kTileRows) hits &= (1u << (end - first)) - 1;
            if (hits != 0) limit_ = visitor.visit(visitor.context, first, hits, distances);
        }
    }

    const BoxTreeView<T>& tree_;
    const Query query_;
    double limit_ = 0;
    std::size_t n_distances_ = 0;
};

}  // namespace
}  // namespace ceiba
