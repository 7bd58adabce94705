// Sorting the entries of a node: code above, whatever goes with it below.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/finder.hpp"
#include "tree/sort.hpp"

namespace ceiba::forest {

using tree::kLargeBits;
using tree::LargeEntry;

// Codes are ranks or bins, so those of a node lie about evenly between their extremes: thrown into
// as many buckets as there are entries they are nearly in order, and insertion does the rest. That
// takes some 3.2 ns an entry of a few hundred, where counting passes take 4.8; of a few thousand
// these take 3.5 and buckets that are full enough to fit into the caches more.
class EntrySort {
  public:
    // `entries` sorted by code, all codes being in [least, most]; the order of equal ones is kept.
    // The result lies in `entries` or in memory of this object.
    const LargeEntry* operator()(LargeEntry* entries, std::size_t n, std::uint32_t least,
                                 std::uint32_t most) {
        if (n <= kFew) {
            insert(entries, n);
            return entries;
        }
        if (spare_.size() < n) spare_.resize(n);
        if (n > kBuckets) return by_digits(entries, n, most);
        const std::size_t buckets = std::max<std::size_t>(std::bit_ceil(n), 64);
        const std::uint32_t range = most - least;
        const int shift =
            std::max(0, int(std::bit_width(range)) - int(std::bit_width(buckets - 1)));
        if (!throw_in(entries, n, least, shift, range >> shift)) return by_digits(entries, n, most);
        if (shift > 0) insert(spare_.data(), n);
        return spare_.data();
    }

  private:
    static constexpr std::size_t kFew = 16, kBuckets = 2048;
    // A fuller bucket of different codes would take long to sort by insertion.
    static constexpr std::uint32_t kFull = 24;

    static std::uint32_t code(LargeEntry entry) { return std::uint32_t(entry >> kLargeBits); }

    const LargeEntry* by_digits(LargeEntry* entries, std::size_t n, std::uint32_t most) {
        const int to = kLargeBits + tree::bits_of(most);
        return tree::radix_sort(entries, spare_.data(), n, kLargeBits, to);
    }

    static void insert(LargeEntry* entries, std::size_t n) {
        for (std::size_t i = 1; i < n; ++i) {
            const LargeEntry entry = entries[i];
            std::size_t j = i;
            for (; j > 0 && code(entries[j - 1]) > code(entry); --j) entries[j] = entries[j - 1];
            entries[j] = entry;
        }
    }

    // Into `spare_`, by bucket; false, with nothing done, where a bucket is too full.
    bool throw_in(const LargeEntry* entries, std::size_t n, std::uint32_t least, int shift,
                  std::uint32_t last) {
        std::fill_n(place_, last + 1, 0u);
        for (std::size_t i = 0; i < n; ++i) ++place_[(code(entries[i]) - least) >> shift];
        std::uint32_t sum = 0, most = 0;
        for (std::uint32_t b = 0; b <= last; ++b) {
            const std::uint32_t here = place_[b];
            most = std::max(most, here);
            place_[b] = sum;
            sum += here;
        }
        if (shift > 0 && most > kFull) return false;
        for (std::size_t i = 0; i < n; ++i)
            spare_[place_[(code(entries[i]) - least) >> shift]++] = entries[i];
        return true;
    }

    std::vector<LargeEntry> spare_;
    std::uint32_t place_[kBuckets];
};

}  // namespace ceiba::forest
