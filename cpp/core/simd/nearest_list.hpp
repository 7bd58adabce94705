// Insertion into a short list of nearest rows that is kept in registers.
// Included only by units that are compiled once for each instruction set, so everything is local.
#pragma once

#include <cmath>

#include "simd/neighbor_kernels.hpp"
#include "simd/vector_math.hpp"

namespace ceiba {
namespace {

using RowNumbers = unsigned long long __attribute__((vector_size(CEIBA_VECTOR_BYTES)));

// The lanes of a vector, moved up by one to make room for the last lane of the vector before.
template <typename V, std::size_t... kLane>
[[gnu::always_inline]] inline V moved_up(const V& before, const V& v,
                                         std::index_sequence<kLane...>) {
    return __builtin_shufflevector(before, v, (kLanes<double> - 1 + kLane)...);
}

// Some entries of a list, or a row in all lanes. Row -1, which is no row, is the largest number.
struct Entries {
    Doubles distances;
    RowNumbers rows;

    Words after(const Entries& other) const {
        return (other.distances < distances) |
               ((other.distances == distances) & (other.rows < rows));
    }
};

inline Entries choose_entries(const Words& mask, const Entries& yes, const Entries& no) {
    return {mask ? yes.distances : no.distances, mask ? yes.rows : no.rows};
}

// Every entry that comes after the new row moves up, without a branch: where a row goes is not
// predictable. A search of ten neighbors in four columns takes 0.75 times as long as with a loop
// over the entries.
void insert_rows(double* list_distances, std::int64_t* list_rows, const double* distances,
                 const std::int64_t* rows, std::size_t n) {
    constexpr std::size_t kWidth = kLanes<double>, kVectors = kShortList / kWidth;
    constexpr auto kSequence = std::make_index_sequence<kWidth>();
    Entries list[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) {
        list[v].distances = load(list_distances + v * kWidth);
        __builtin_memcpy(&list[v].rows, list_rows + v * kWidth, sizeof(RowNumbers));
    }
    const Entries start{splat(-HUGE_VAL), RowNumbers{}};
    for (std::size_t i = 0; i < n; ++i) {
        const Entries row{splat(distances[i]),
                          static_cast<unsigned long long>(rows[i]) - RowNumbers{}};
        for (std::size_t v = kVectors; v-- > 0;) {
            const Entries& before = v > 0 ? list[v - 1] : start;
            const Entries moved{moved_up(before.distances, list[v].distances, kSequence),
                                moved_up(before.rows, list[v].rows, kSequence)};
            list[v] = choose_entries(list[v].after(row),
                                     choose_entries(moved.after(row), moved, row), list[v]);
        }
    }
    for (std::size_t v = 0; v < kVectors; ++v) {
        store(list_distances + v * kWidth, list[v].distances);
        __builtin_memcpy(list_rows + v * kWidth, &list[v].rows, sizeof(RowNumbers));
    }
}

}  // namespace
}  // namespace ceiba
