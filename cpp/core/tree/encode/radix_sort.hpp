// Stable radix sort of entries by a range of their bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace ceiba::tree {

// Sort `entries` by bits [from, to), at most 33 of them; the order of equal entries is kept.
// `spare` has the same size; the result is in the array that is returned.
template <typename Entry>
Entry* radix_sort(Entry* entries, Entry* spare, std::size_t n, int from, int to) {
    constexpr int kDigit = 11, kPasses = 3;
    if (n < 64) {
        // Insertion sort: small inputs do not pay for clearing and summing counters.
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
    // Count all digits in one pass.
    std::uint32_t offset[kPasses][1 << kDigit];
    for (int pass = 0; pass < passes; ++pass) std::fill_n(offset[pass], std::size_t(mask) + 1, 0u);
    for (std::size_t i = 0; i < n; ++i)
        for (int pass = 0; pass < passes; ++pass)
            ++offset[pass][entries[i] >> (from + pass * digit) & mask];
    for (int pass = 0; pass < passes; ++pass) {
        const int shift = from + pass * digit;
        std::uint32_t* offsets = offset[pass];
        if (offsets[entries[0] >> shift & mask] == n) continue;
        std::uint32_t sum = 0;
        for (std::size_t d = 0; d <= std::size_t(mask); ++d) {
            const std::uint32_t count = offsets[d];
            offsets[d] = sum;
            sum += count;
        }
        for (std::size_t i = 0; i < n; ++i)
            spare[offsets[entries[i] >> shift & mask]++] = entries[i];
        std::swap(entries, spare);
    }
    return entries;
}

inline int bits_of(std::uint64_t largest) { return std::bit_width(largest); }

}  // namespace ceiba::tree
