// Implementation of ranks, bin edges and bins (encoding.hpp).
#include "tree/encode/encoding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "simd/tree_kernels.hpp"
#include "tree/encode/radix_sort.hpp"

namespace ceiba::tree {
namespace {

// Bits in the order of the values. Minus zero equals zero.
std::uint64_t ordered_bits(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value + 0.0);
    return bits ^ (std::uint64_t(std::int64_t(bits) >> 63) | 0x8000000000000000u);
}
std::uint64_t ordered_bits(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value + 0.0f);
    return bits ^ (std::uint32_t(std::int32_t(bits) >> 31) | 0x80000000u);
}
std::uint64_t ordered_bits(std::int64_t value) {
    return std::uint64_t(value) ^ 0x8000000000000000u;
}
std::uint64_t ordered_bits(std::uint64_t value) { return value; }

// Sort the rows with a known value; the row is the lower half of an item. One word holds the row
// and the 32 highest bits in which the keys differ; ties in those bits are resolved by comparing
// whole keys.
template <typename T>
std::uint64_t* sort_known(const ColumnValues<T>& values, RankBuffers& b, std::size_t& known) {
    b.keys.resize(values.rows);
    b.items.resize(values.rows);
    b.spare.resize(values.rows);
    std::uint64_t differing_bits = 0, first = 0;
    known = 0;
    for (std::size_t i = 0; i < values.rows; ++i) {
        if (values.is_missing(i)) continue;
        b.keys[i] = ordered_bits(values.at(i));
        if (known == 0) first = b.keys[i];
        differing_bits |= b.keys[i] ^ first;
        b.items[known++] = i;
    }
    const int shift = std::max(0, int(std::bit_width(differing_bits)) - 32);
    for (std::size_t k = 0; k < known; ++k) b.items[k] |= (b.keys[b.items[k]] >> shift) << 32;
    std::uint64_t* sorted = radix_sort(b.items.data(), b.spare.data(), known, 32, 64);
    if (shift == 0) return sorted;
    const auto before = [&](std::uint64_t x, std::uint64_t y) {
        return b.keys[std::uint32_t(x)] < b.keys[std::uint32_t(y)];
    };
    for (std::size_t k = 0; k < known;) {
        std::size_t end = k + 1;
        while (end < known && sorted[end] >> 32 == sorted[k] >> 32) ++end;
        if (end > k + 1) std::sort(sorted + k, sorted + end, before);
        k = end;
    }
    return sorted;
}

}  // namespace

template <typename T>
std::uint32_t rank(const ColumnValues<T>& values, std::uint32_t* codes, RankBuffers& buffers) {
    std::size_t known;
    const std::uint64_t* sorted = sort_known(values, buffers, known);
    std::uint32_t code = 0;
    std::uint64_t last = 0;
    for (std::size_t k = 0; k < known; ++k) {
        const std::uint64_t key = buffers.keys[std::uint32_t(sorted[k])];
        code += k > 0 && key != last;
        last = key;
        codes[std::uint32_t(sorted[k])] = code;
    }
    const std::uint32_t distinct = known ? code + 1 : 0;
    if (known < values.rows)
        for (std::size_t i = 0; i < values.rows; ++i)
            if (values.is_missing(i)) codes[i] = distinct;
    return distinct;
}

template <typename T, typename Code>
std::vector<T> values_of_codes(const ColumnValues<T>& values, const Code* codes,
                               const std::vector<std::uint32_t>& wanted) {
    std::vector<T> found(wanted.size());
    if (wanted.empty()) return found;
    std::vector<std::uint32_t> slot(std::size_t(wanted.back()) + 1, 0);
    for (std::size_t w = 0; w < wanted.size(); ++w) slot[wanted[w]] = std::uint32_t(w + 1);
    for (std::size_t i = 0; i < values.rows; ++i)
        if (codes[i] < slot.size() && slot[codes[i]] > 0) found[slot[codes[i]] - 1] = values.at(i);
    return found;
}

namespace {

// Position of a weight fraction, from 0 to 1, on a scale on which all bins have the same length:
// its odds are the square root of the odds of the fraction. Bins in the middle hold twice the
// weight of equal-weight bins, the outermost ones a few rows, as in a t-digest (Dunning and Ertl,
// 2019), but computed from square roots alone, which every processor rounds alike. Deep trees
// depend on the tails: forests of 100 trees in 255 bins of 100,000 x 28 normal values reach an
// accuracy of 64.5 instead of 63.8 % on five classes and an R^2 of 0.844 instead of 0.829 in
// regression (exact: 64.7 %, 0.846); uniform and log-normal columns gain as well.
double tail_scale(double below, double all) {
    const double left = std::sqrt(below), right = std::sqrt(std::max(all - below, 0.0));
    return left / (left + right);
}

}  // namespace

template <typename T>
BinEdges<T> bin_edges(const ColumnValues<T>& values, const double* weight, std::size_t bins,
                      RankBuffers& buffers) {
    std::size_t known;
    const std::uint64_t* sorted = sort_known(values, buffers, known);
    std::vector<T> distinct;
    std::vector<double> below;  // weight up to and including each distinct value
    double sum = 0;
    for (std::size_t k = 0; k < known; ++k) {
        const auto row = std::uint32_t(sorted[k]);
        if (k == 0 || buffers.keys[row] != buffers.keys[std::uint32_t(sorted[k - 1])]) {
            distinct.push_back(values.at(row));
            below.push_back(sum);
        }
        sum += weight == nullptr ? 1.0 : weight[row];
        below.back() = sum;
    }
    BinEdges<T> edges;
    if (distinct.size() <= bins) {
        for (std::size_t i = 0; i + 1 < distinct.size(); ++i)
            edges.add_between(distinct[i], distinct[i + 1]);
        return edges;
    }
    // Put an edge behind the value at which the current bin is full.
    double next_position = 1 / double(bins);
    for (std::size_t i = 0; i + 1 < distinct.size() && edges.values.size() + 1 < bins; ++i) {
        const double position = tail_scale(below[i], sum);
        if (position < next_position) continue;
        edges.add_between(distinct[i], distinct[i + 1]);
        next_position = position + (1 - position) / double(bins - edges.values.size());
    }
    return edges;
}

namespace {

// Bins of floats are found with vector instructions, those of integers one by one.
void bins_of(const double* x, std::size_t m, const double* edges, std::size_t padded,
             std::uint32_t* bin) {
    tree_kernels().bins(x, m, edges, padded, bin);
}
void bins_of(const float* x, std::size_t m, const float* edges, std::size_t padded,
             std::uint32_t* bin) {
    tree_kernels().single_bins(x, m, edges, padded, bin);
}
template <typename T>
void bins_of(const T* x, std::size_t m, const T* edges, std::size_t padded, std::uint32_t* bin) {
    // Binary search without branches, whose outcomes no processor could predict.
    for (std::size_t i = 0; i < m; ++i) {
        std::size_t below = 0;
        for (std::size_t half = padded / 2; half > 0; half /= 2)
            below += edges[below + half - 1] < x[i] ? half : 0;
        bin[i] = std::uint32_t(below);
    }
}

}  // namespace

template <typename T, typename Code>
void assign_bins(const ColumnValues<T>& values, const std::vector<T>& edges, std::size_t begin,
                 std::size_t end, Code* codes) {
    constexpr std::size_t kBlock = 512;
    const std::size_t padded = std::bit_ceil(edges.size() + 1);
    std::vector<T> table(padded, std::numeric_limits<T>::has_infinity
                                     ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max());
    std::copy(edges.begin(), edges.end(), table.begin());
    const auto last = std::uint32_t(edges.size());
    T x[kBlock];
    std::uint32_t found[kBlock];
    for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t m = std::min(kBlock, end - first);
        for (std::size_t r = 0; r < m; ++r) x[r] = values.at(first + r);
        bins_of(x, m, table.data(), padded, found);
        for (std::size_t r = 0; r < m; ++r)
            codes[first + r] =
                Code(values.is_missing(first + r) ? last + 1 : std::min(found[r], last));
    }
}

#define CEIBA_TREE_CODING(T)                                                              \
    template std::uint32_t rank(const ColumnValues<T>&, std::uint32_t*, RankBuffers&);    \
    template BinEdges<T> bin_edges(const ColumnValues<T>&, const double*, std::size_t,    \
                                   RankBuffers&);                                         \
    template std::vector<T> values_of_codes(const ColumnValues<T>&, const std::uint8_t*,  \
                                            const std::vector<std::uint32_t>&);           \
    template std::vector<T> values_of_codes(const ColumnValues<T>&, const std::uint16_t*, \
                                            const std::vector<std::uint32_t>&);           \
    template std::vector<T> values_of_codes(const ColumnValues<T>&, const std::uint32_t*, \
                                            const std::vector<std::uint32_t>&);           \
    template void assign_bins(const ColumnValues<T>&, const std::vector<T>&, std::size_t, \
                              std::size_t, std::uint8_t*);                                \
    template void assign_bins(const ColumnValues<T>&, const std::vector<T>&, std::size_t, \
                              std::size_t, std::uint16_t*);                               \
    template void assign_bins(const ColumnValues<T>&, const std::vector<T>&, std::size_t, \
                              std::size_t, std::uint32_t*);
CEIBA_TREE_CODING(double)
CEIBA_TREE_CODING(float)
CEIBA_TREE_CODING(std::int64_t)
CEIBA_TREE_CODING(std::uint64_t)

}  // namespace ceiba::tree
