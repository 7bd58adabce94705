// Entries sorted by their code: counting passes over as few bits as the codes have.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ceiba::tree {

// Sort `entries` by bits [from, to); the order of equal ones is kept. `spare` is of equal size; the
// result lies in whichever of the two is returned.
template <typename Entry>
Entry* radix_sort(Entry* entries, Entry* spare, std::size_t n, int from, int to) {
    // 1024 counters and as many streams of writes stay in the nearest cache.
    constexpr int kDigit = 10;
    if (n < 64) {
        std::stable_sort(entries, entries + n,
                         [from](Entry a, Entry b) { return a >> from < b >> from; });
        return entries;
    }
    const int passes = std::max(1, (to - from + kDigit - 1) / kDigit);
    const int digit = (to - from + passes - 1) / passes;
    const Entry mask = (Entry(1) << digit) - 1;
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = from + pass * digit;
        std::array<std::uint32_t, 1 << kDigit> place{};
        for (std::size_t i = 0; i < n; ++i) ++place[entries[i] >> shift & mask];
        if (place[entries[0] >> shift & mask] == n) continue;
        std::uint32_t sum = 0;
        for (std::size_t d = 0; d <= std::size_t(mask); ++d) {
            const std::uint32_t here = place[d];
            place[d] = sum;
            sum += here;
        }
        for (std::size_t i = 0; i < n; ++i) spare[place[entries[i] >> shift & mask]++] = entries[i];
        std::swap(entries, spare);
    }
    return entries;
}

inline int bits_of(std::uint64_t largest) { return std::bit_width(largest); }

}  // namespace ceiba::tree
