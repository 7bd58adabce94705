// Weakest-link pruning in one pass from the leaves up (weakest_links.hpp).
#include "tree/prune/weakest_links.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ceiba::tree {
namespace {

// Strength and node of a link; the strongest is on top of a heap.
using Breakpoint = std::pair<double, std::int32_t>;
using Heap = std::vector<Breakpoint>;

// Of two equal strengths, that of the lower node index is the stronger.
bool weaker(const Breakpoint& a, const Breakpoint& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
}

void push(Heap& heap, const Breakpoint& breakpoint) {
    heap.push_back(breakpoint);
    std::push_heap(heap.begin(), heap.end(), weaker);
}

// Merge the heaps of a node's branches: the smaller ones into the largest.
Heap merge_heaps(std::vector<Heap>& breakpoints, std::int32_t first, std::int32_t n_branches) {
    Heap* largest = &breakpoints[std::size_t(first)];
    for (std::int32_t b = 1; b < n_branches; ++b)
        if (breakpoints[std::size_t(first + b)].size() > largest->size())
            largest = &breakpoints[std::size_t(first + b)];
    Heap heap = std::move(*largest);
    for (std::int32_t b = 0; b < n_branches; ++b) {
        Heap& other = breakpoints[std::size_t(first + b)];
        if (&other == largest) continue;
        for (const Breakpoint& breakpoint : other) push(heap, breakpoint);
        Heap().swap(other);
    }
    return heap;
}

}  // namespace

// The minimum of risk + alpha * leaves below a node is a piecewise linear function of alpha with a
// breakpoint where a link is pruned. Above the last breakpoint its branches are leaves; the node is
// better a leaf from where its own line crosses theirs. Breakpoints beyond the crossing never take
// effect: they are undone, the last first, and each restores the line of its subtree. Every
// breakpoint is made and undone at most once.
WeakestLinks weakest_links(const PrunableNodes& nodes, double tolerance) {
    struct SubtreeLine {
        double risk = 0;
        double leaves = 1;
    };
    WeakestLinks links;
    links.strength.assign(nodes.count, std::numeric_limits<double>::infinity());
    std::vector<SubtreeLine> lines(nodes.count);  // at the alpha at which a node is pruned
    std::vector<Heap> breakpoints(nodes.count);
    for (std::size_t v = nodes.count; v-- > 0;) {
        if (!nodes.is_candidate[v]) continue;
        const std::int32_t first = nodes.child[v], n_branches = nodes.n_branches[v];
        Heap heap = merge_heaps(breakpoints, first, n_branches);
        SubtreeLine subtree{0, double(n_branches)};
        for (std::int32_t b = 0; b < n_branches; ++b) subtree.risk += nodes.risk[first + b];
        const auto crossing = [&] { return (nodes.risk[v] - subtree.risk) / (subtree.leaves - 1); };
        while (!heap.empty() && heap.front().first > crossing() + tolerance) {
            const auto undone = std::size_t(heap.front().second);
            std::pop_heap(heap.begin(), heap.end(), weaker);
            heap.pop_back();
            subtree.risk += lines[undone].risk - nodes.risk[undone];
            subtree.leaves += lines[undone].leaves - 1;
        }
        links.strength[v] = crossing();
        lines[v] = subtree;
        push(heap, {links.strength[v], std::int32_t(v)});
        breakpoints[v] = std::move(heap);
    }
    for (const Breakpoint& breakpoint : breakpoints[0]) links.kept.push_back(breakpoint.second);
    return links;
}

}  // namespace ceiba::tree
