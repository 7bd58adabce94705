#include "tree/coding.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

namespace ceiba::tree {
namespace {

// Bits that are ordered as the values are. Minus zero is zero.
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

struct Keyed {
    std::uint64_t key;
    std::uint32_t row;
};

constexpr int kDigit = 11;

void radix_pass(const std::vector<Keyed>& from, std::vector<Keyed>& to, int shift) {
    std::array<std::uint32_t, 1 << kDigit> place{};
    constexpr std::uint64_t mask = (1 << kDigit) - 1;
    for (const Keyed& item : from) ++place[item.key >> shift & mask];
    std::uint32_t sum = 0;
    for (std::uint32_t& p : place) sum += std::exchange(p, sum);
    for (const Keyed& item : from) to[place[item.key >> shift & mask]++] = item;
}

// Three passes over the highest bits in which the keys differ put nearly all in order; what is
// alike there is put right by comparing.
void sort_keys(std::vector<Keyed>& items, std::vector<Keyed>& spare) {
    const auto before = [](const Keyed& a, const Keyed& b) { return a.key < b.key; };
    if (items.size() < 256) return std::sort(items.begin(), items.end(), before);
    std::uint64_t differ = 0;
    for (const Keyed& item : items) differ |= item.key ^ items[0].key;
    const int top = std::bit_width(differ);
    const int from = std::max(0, top - 3 * kDigit);
    spare.resize(items.size());
    for (int shift = from; shift < top; shift += kDigit) {
        radix_pass(items, spare, shift);
        std::swap(items, spare);
    }
    if (from == 0) return;
    for (std::size_t i = 0; i < items.size();) {
        std::size_t end = i + 1;
        while (end < items.size() && items[end].key >> from == items[i].key >> from) ++end;
        if (end > i + 1)
            std::sort(items.begin() + std::ptrdiff_t(i), items.begin() + std::ptrdiff_t(end),
                      before);
        i = end;
    }
}

template <typename T>
std::vector<Keyed> sorted_known(const Values<T>& values) {
    std::vector<Keyed> items, spare;
    items.reserve(values.rows);
    for (std::size_t i = 0; i < values.rows; ++i)
        if (!values.gap(i)) items.push_back({ordered_bits(values.at(i)), std::uint32_t(i)});
    sort_keys(items, spare);
    return items;
}

}  // namespace

template <typename T>
std::vector<T> rank(const Values<T>& values, std::uint32_t* codes) {
    const std::vector<Keyed> items = sorted_known(values);
    std::vector<T> different;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i == 0 || items[i].key != items[i - 1].key)
            different.push_back(values.at(items[i].row));
        codes[items[i].row] = std::uint32_t(different.size() - 1);
    }
    if (items.size() < values.rows)
        for (std::size_t i = 0; i < values.rows; ++i)
            if (values.gap(i)) codes[i] = std::uint32_t(different.size());
    return different;
}

template <typename T>
std::vector<T> bin_edges(const Values<T>& values, const double* weight, std::size_t bins) {
    const std::vector<Keyed> items = sorted_known(values);
    std::vector<T> different;
    std::vector<double> below;  // weight up to and with each different value
    double sum = 0;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i == 0 || items[i].key != items[i - 1].key) {
            different.push_back(values.at(items[i].row));
            below.push_back(sum);
        }
        sum += weight == nullptr ? 1.0 : weight[items[i].row];
        below.back() = sum;
    }
    std::vector<T> edges;
    if (different.size() <= bins) {
        for (std::size_t i = 0; i + 1 < different.size(); ++i)
            edges.push_back(between(different[i], different[i + 1]));
        return edges;
    }
    // An edge behind the value at which the next share of the weight is full.
    double wanted = sum / double(bins);
    for (std::size_t i = 0; i + 1 < different.size() && edges.size() + 1 < bins; ++i) {
        if (below[i] < wanted) continue;
        edges.push_back(between(different[i], different[i + 1]));
        wanted = below[i] + (sum - below[i]) / double(bins - edges.size());
    }
    return edges;
}

template <typename T, typename Code>
void bin(const Values<T>& values, const std::vector<T>& edges, std::size_t begin, std::size_t end,
         Code* codes) {
    // A search without branches over a power of two of edges, for a block of rows at once: their
    // chains of loads run side by side.
    constexpr std::size_t kBlock = 16;
    const std::size_t padded = std::bit_ceil(edges.size() + 1);
    std::vector<T> table(padded, std::numeric_limits<T>::has_infinity
                                     ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max());
    std::copy(edges.begin(), edges.end(), table.begin());
    const T* edge = table.data();
    const auto last = std::uint32_t(edges.size());
    for (std::size_t first = begin; first < end; first += kBlock) {
        const std::size_t n = std::min(kBlock, end - first);
        T x[kBlock] = {};
        std::uint32_t at[kBlock] = {};
        for (std::size_t r = 0; r < n; ++r) x[r] = values.at(first + r);
        for (std::uint32_t half = std::uint32_t(padded / 2); half > 0; half /= 2)
            for (std::size_t r = 0; r < kBlock; ++r)
                at[r] += edge[at[r] + half - 1] < x[r] ? half : 0;
        for (std::size_t r = 0; r < n; ++r)
            codes[first + r] = Code(values.gap(first + r) ? last + 1 : std::min(at[r], last));
    }
}

#define CEIBA_TREE_CODING(T)                                                             \
    template std::vector<T> rank(const Values<T>&, std::uint32_t*);                      \
    template std::vector<T> bin_edges(const Values<T>&, const double*, std::size_t);     \
    template void bin(const Values<T>&, const std::vector<T>&, std::size_t, std::size_t, \
                      std::uint8_t*);                                                    \
    template void bin(const Values<T>&, const std::vector<T>&, std::size_t, std::size_t, \
                      std::uint16_t*);                                                   \
    template void bin(const Values<T>&, const std::vector<T>&, std::size_t, std::size_t, \
                      std::uint32_t*);
CEIBA_TREE_CODING(double)
CEIBA_TREE_CODING(float)
CEIBA_TREE_CODING(std::int64_t)
CEIBA_TREE_CODING(std::uint64_t)

}  // namespace ceiba::tree
