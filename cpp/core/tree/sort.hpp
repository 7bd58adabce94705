// Entries sorted by their code: counting passes over as few bits as the codes have.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ceiba::tree {

// Sort `entries` by bits [from, to); the order of equal ones is kept. `spare` is of equal size; the
// result lies in whichever of the two is returned. At most 33 bits.
template <typename Entry>
Entry* radix_sort(Entry* entries, Entry* spare, std::size_t n, int from, int to) {
    constexpr int kDigit = 11, kPasses = 3;
    if (n < 64) {
        // By insertion: there are no counters to clear and to add up.
        for (std::size_t i = 1; i < n; ++i) {
            const Entry entry = entries[i];
            std::size_t j = i;
            for (; j > 0 && entries[j - 1] >> from > entry >> from; --j)
                entries[j] = entries[j - 1];
            entries[j] = entry;
        }
        return entries;
    }
    const int passes = std::max(1, (to - from + kDigit - 1) / kDigit);
    const int digit = (to - from + passes - 1) / passes;
    const Entry mask = (Entry(1) << digit) - 1;
    // All digits are counted in one pass.
    std::uint32_t place[kPasses][1 << kDigit];
    for (int pass = 0; pass < passes; ++pass) std::fill_n(place[pass], std::size_t(mask) + 1, 0u);
    for (std::size_t i = 0; i < n; ++i)
        for (int pass = 0; pass < passes; ++pass)
            ++place[pass][entries[i] >> (from + pass * digit) & mask];
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = from + pass * digit;
        std::uint32_t* own = place[pass];
        if (own[entries[0] >> shift & mask] == n) continue;
        std::uint32_t sum = 0;
        for (std::size_t d = 0; d <= std::size_t(mask); ++d) {
            const std::uint32_t here = own[d];
            own[d] = sum;
            sum += here;
        }
        for (std::size_t i = 0; i < n; ++i) spare[own[entries[i] >> shift & mask]++] = entries[i];
        std::swap(entries, spare);
    }
    return entries;
}

inline int bits_of(std::uint64_t largest) { return std::bit_width(largest); }

}  // namespace ceiba::tree
