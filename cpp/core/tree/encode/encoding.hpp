// Encoding of column values as codes: ranks among all values, or bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ceiba::tree {

// Values of one column in memory: a column of a matrix, or an array of its own.
template <typename T>
struct ColumnValues {
    const T* data = nullptr;
    std::size_t rows = 0;
    std::ptrdiff_t stride = 1;                   // in elements
    const std::uint8_t* missing_mask = nullptr;  // integers only; a missing float is NaN

    T at(std::size_t i) const { return data[std::ptrdiff_t(i) * stride]; }
    bool is_missing(std::size_t i) const {
        if constexpr (std::is_floating_point_v<T>) {
            const T value = at(i);
            return value != value;
        }
        return missing_mask != nullptr && missing_mask[i];
    }
};

// Buffers for sorting one column after another.
struct RankBuffers {
    std::vector<std::uint64_t> keys, items, spare;
};

// Write the rank of every row among the distinct values, and return how many there are; a missing
// value gets that number.
template <typename T>
std::uint32_t rank(const ColumnValues<T>& values, std::uint32_t* codes, RankBuffers& buffers);

// Look up the values of some ascending codes in one pass over the rows, so that the values of all
// codes need not be stored.
template <typename T, typename Code>
std::vector<T> values_of_codes(const ColumnValues<T>& values, const Code* codes,
                               const std::vector<std::uint32_t>& wanted);

// Upper edges of bins; of integers an edge may be one half higher than its value.
template <typename T>
struct BinEdges {
    std::vector<T> values;
    std::vector<bool> halves;

    void add_between(T a, T b);
};

// Compute the upper edges of at most `bins` bins by weight, finer in the tails: a value belongs to
// the first bin whose edge is not below it, or to the last bin, which has no edge. If there are no
// more distinct values than bins, each has its own. `weight` may be null.
template <typename T>
BinEdges<T> bin_edges(const ColumnValues<T>& values, const double* weight, std::size_t bins,
                      RankBuffers& buffers);

// Assign bins to rows [begin, end); a missing value gets the code edges.size() + 1.
template <typename T, typename Code>
void assign_bins(const ColumnValues<T>& values, const std::vector<T>& edges, std::size_t begin,
                 std::size_t end, Code* codes);

// Threshold t between a < b: a <= t < b. Of integers it is rounded down.
template <typename T>
T midpoint(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const T middle = a / 2 + b / 2;
        return a <= middle && middle < b ? middle : a;
    } else {
        using Unsigned = std::make_unsigned_t<T>;
        return T(Unsigned(a) + (Unsigned(b) - Unsigned(a)) / 2);
    }
}

// Whether the midpoint of two integers is one half above `midpoint`.
template <typename T>
bool odd_distance(T a, T b) {
    if constexpr (std::is_floating_point_v<T>)
        return false;
    else
        return (std::uint64_t(b) - std::uint64_t(a)) & 1;
}

template <typename T>
void BinEdges<T>::add_between(T a, T b) {
    values.push_back(midpoint(a, b));
    halves.push_back(odd_distance(a, b));
}

}  // namespace ceiba::tree
