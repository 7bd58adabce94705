// Sorts the entries of a node, with the code in the high bits, by code.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/encode/radix_sort.hpp"
#include "tree/split/split_finder.hpp"

namespace ceiba::forest {

using tree::kLargeBits;
using tree::LargeEntry;

// Codes are ranks or bins, so those of a node are spread about evenly: distributed over as many
// buckets as there are entries they are nearly sorted, and insertion sort finishes. That takes
// about 3.2 ns per entry for a few hundred entries, where radix passes take 4.8 ns; for a few
// thousand entries radix passes take 3.5 ns, and buckets full enough to fit into the caches take
// longer.
class EntrySorter {
  public:
    // Sort `entries`, whose codes are in [min_code, max_code], stably by code. The result is in
    // `entries` or in memory of this object.
    const LargeEntry* operator()(LargeEntry* entries, std::size_t n, std::uint32_t min_code,
                                 std::uint32_t max_code) {
        if (n <= kMaxInsertion) {
            insertion_sort(entries, n);
            return entries;
        }
        if (buffer_.size() < n) buffer_.resize(n);
        if (n > kBuckets) return radix_sort(entries, n, max_code);
        const std::size_t buckets = std::max<std::size_t>(std::bit_ceil(n), 64);
        const std::uint32_t range = max_code - min_code;
        const int shift =
            std::max(0, int(std::bit_width(range)) - int(std::bit_width(buckets - 1)));
        if (!sort_into_buckets(entries, n, min_code, shift, range >> shift))
            return radix_sort(entries, n, max_code);
        if (shift > 0) insertion_sort(buffer_.data(), n);
        return buffer_.data();
    }

  private:
    static constexpr std::size_t kMaxInsertion = 16, kBuckets = 2048;
    // Larger buckets of different codes would take too long to sort by insertion.
    static constexpr std::uint32_t kMaxBucket = 24;

    static std::uint32_t code(LargeEntry entry) { return std::uint32_t(entry >> kLargeBits); }

    const LargeEntry* radix_sort(LargeEntry* entries, std::size_t n, std::uint32_t max_code) {
        const int last_bit = kLargeBits + tree::bits_of(max_code);
        return tree::radix_sort(entries, buffer_.data(), n, kLargeBits, last_bit);
    }

    static void insertion_sort(LargeEntry* entries, std::size_t n) {
        for (std::size_t i = 1; i < n; ++i) {
            const LargeEntry entry = entries[i];
            std::size_t j = i;
            for (; j > 0 && code(entries[j - 1]) > code(entry); --j) entries[j] = entries[j - 1];
            entries[j] = entry;
        }
    }

    // Distribute into `buffer_` by bucket; returns false, having moved nothing, if a bucket is too
    // full.
    bool sort_into_buckets(const LargeEntry* entries, std::size_t n, std::uint32_t min_code,
                           int shift, std::uint32_t last) {
        std::fill_n(offset_, last + 1, 0u);
        for (std::size_t i = 0; i < n; ++i) ++offset_[(code(entries[i]) - min_code) >> shift];
        std::uint32_t sum = 0, fullest = 0;
        for (std::uint32_t b = 0; b <= last; ++b) {
            const std::uint32_t count = offset_[b];
            fullest = std::max(fullest, count);
            offset_[b] = sum;
            sum += count;
        }
        if (shift > 0 && fullest > kMaxBucket) return false;
        for (std::size_t i = 0; i < n; ++i)
            buffer_[offset_[(code(entries[i]) - min_code) >> shift]++] = entries[i];
        return true;
    }

    std::vector<LargeEntry> buffer_;
    std::uint32_t offset_[kBuckets];
};

}  // namespace ceiba::forest
