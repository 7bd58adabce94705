// From the values of a column to codes: ranks among all values, or bins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace ceiba::tree {

// Values of one column as they lie in memory: a column of a matrix, or an array of its own.
template <typename T>
struct Values {
    const T* data = nullptr;
    std::size_t rows = 0;
    std::ptrdiff_t stride = 1;           // in elements
    const std::uint8_t* gaps = nullptr;  // mask; floats say NaN themselves

    T at(std::size_t i) const { return data[std::ptrdiff_t(i) * stride]; }
    bool gap(std::size_t i) const {
        if constexpr (std::is_floating_point_v<T>) {
            const T value = at(i);
            return value != value;
        }
        return gaps != nullptr && gaps[i];
    }
};

// Room to sort one column after another.
struct RankBuffers {
    std::vector<std::uint64_t> keys, items, spare;
};

// Ranks of all rows among the different values (a gap has their number); returns their number.
template <typename T>
std::uint32_t rank(const Values<T>& values, std::uint32_t* codes, RankBuffers& buffers);

// The value of each of some codes, ascending: whole passes over the rows, so that nobody has to
// keep the values of all codes.
template <typename T, typename Code>
std::vector<T> values_of_codes(const Values<T>& values, const Code* codes,
                               const std::vector<std::uint32_t>& wanted);

// Upper edges of at most `bins` bins by weight, finer in the tails: a value belongs to the first
// bin whose edge is not below it, or to the last, which has no edge. Different values that are no
// more than the bins have one each. `weight` may be null.
template <typename T>
std::vector<T> bin_edges(const Values<T>& values, const double* weight, std::size_t bins,
                         RankBuffers& buffers);

// Bins of rows [begin, end); a gap has the number edges + 1.
template <typename T, typename Code>
void bin(const Values<T>& values, const std::vector<T>& edges, std::size_t begin, std::size_t end,
         Code* codes);

// A threshold that separates a < b: a <= t < b.
template <typename T>
T between(T a, T b) {
    if constexpr (std::is_floating_point_v<T>) {
        const T middle = a / 2 + b / 2;
        return a <= middle && middle < b ? middle : a;
    } else {
        using Unsigned = std::make_unsigned_t<T>;
        return T(Unsigned(a) + (Unsigned(b) - Unsigned(a)) / 2);
    }
}

}  // namespace ceiba::tree
