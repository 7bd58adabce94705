// Implementation of the raw scores of boosted trees.
#include "boosting/raw_scores.hpp"

#include <bit>
#include <numeric>

namespace ceiba::boosting {

// Rows per block: a tree stays in the cache while they pass through it.
constexpr std::size_t kBlock = 2048;

void add_raw_scores(const forest::ForestView& trees, const forest::ForestRows& table,
                    std::size_t begin, std::size_t end, std::size_t outputs, double* scores,
                    int threads) {
    if (table.rows == 0) return;
    const Segments parts{table.rows, (table.rows + kBlock - 1) / kBlock};
    for_segments(parts, threads_for(20.0 * double(table.rows) * double(end - begin), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     std::vector<std::uint32_t> rows(parts.end(s) - parts.begin(s));
                     std::iota(rows.begin(), rows.end(), std::uint32_t(parts.begin(s)));
                     std::vector<std::int32_t> leaf(rows.size());
                     double* own = scores + parts.begin(s) * outputs;
                     for (std::size_t t = begin; t < end; ++t) {
                         if (interrupt.stopped(thread)) return;
                         forest::route_rows(trees, table, t, rows, leaf.data());
                         const tree::PackedNode* nodes = trees.nodes + trees.first[t];
                         const std::size_t k = t % outputs;
                         for (std::size_t i = 0; i < rows.size(); ++i)
                             own[i * outputs + k] += std::bit_cast<double>(nodes[leaf[i]].bits);
                     }
                 });
}

}  // namespace ceiba::boosting
