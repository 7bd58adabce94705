// Partition of the rows of a node in two, in parallel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/parallel.hpp"

namespace ceiba::boosting {

// Make divide(rows, n, out) of branch(row): it copies n rows to `out`, those of the left branch
// from its front on and those of the right one from its back on, and returns the number on the
// left.
template <typename Branch>
auto divide_by(const Branch& branch) {
    return [branch](const std::uint32_t* rows, std::size_t n, std::uint32_t* out) {
        // Write to both sides and advance one index: no branch to mispredict.
        std::size_t front = 0, back = n;
        for (std::size_t i = 0; i < n; ++i) {
            const auto goes_right = std::size_t(branch(rows[i]));
            out[front] = rows[i];
            out[back - 1] = rows[i];
            front += 1 - goes_right;
            back -= goes_right;
        }
        return front;
    };
}

// Partition many rows in two, in parallel and stable; returns the number of rows on the left. Every
// segment divides its rows into its part of `spare`, then all are copied to their positions.
template <typename Divide>
std::size_t partition_in_two(std::uint32_t* rows, std::size_t n, const Divide& divide,
                             std::vector<std::uint32_t>& spare, int threads) {
    if (spare.size() < n) spare.resize(n);
    threads = threads_for(8.0 * double(n), threads);
    const Segments parts{n, std::size_t(threads)};
    std::vector<std::size_t> left(parts.count + 1, 0);
    for_segments(parts, threads, [&](std::size_t s, int, Interrupt&) {
        const std::size_t begin = parts.begin(s);
        left[s + 1] = divide(rows + begin, parts.end(s) - begin, spare.data() + begin);
    });
    for (std::size_t s = 0; s < parts.count; ++s) left[s + 1] += left[s];
    for_segments(parts, threads, [&](std::size_t s, int, Interrupt&) {
        const std::uint32_t* from = spare.data() + parts.begin(s);
        const std::size_t n_left = left[s + 1] - left[s];
        std::copy_n(from, n_left, rows + left[s]);
        std::reverse_copy(from + n_left, from + (parts.end(s) - parts.begin(s)),
                          rows + left.back() + parts.begin(s) - left[s]);
    });
    return left.back();
}

}  // namespace ceiba::boosting
