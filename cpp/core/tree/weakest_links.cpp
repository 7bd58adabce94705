#include "tree/weakest_links.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ceiba::tree {
namespace {

// The strength and number of a link; the strongest on top.
using Bend = std::pair<double, std::int32_t>;
using Heap = std::vector<Bend>;

// Of two links alike the lower number is the stronger.
bool weaker(const Bend& a, const Bend& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
}

void push(Heap& heap, const Bend& bend) {
    heap.push_back(bend);
    std::push_heap(heap.begin(), heap.end(), weaker);
}

// One heap of those of a node's branches: the smaller go into the largest.
Heap merged(std::vector<Heap>& bends, std::int32_t first, std::int32_t branches) {
    Heap* largest = &bends[std::size_t(first)];
    for (std::int32_t b = 1; b < branches; ++b)
        if (bends[std::size_t(first + b)].size() > largest->size())
            largest = &bends[std::size_t(first + b)];
    Heap heap = std::move(*largest);
    for (std::int32_t b = 0; b < branches; ++b) {
        Heap& other = bends[std::size_t(first + b)];
        if (&other == largest) continue;
        for (const Bend& bend : other) push(heap, bend);
        Heap().swap(other);
    }
    return heap;
}

}  // namespace

// The least risk + alpha x leaves below a node is a line that bends where a link is cut. Above the
// last bend its branches are leaves; the node is better a leaf from where its own line crosses
// theirs. Bends beyond the crossing never come: they are taken back, the last first, each putting
// the line of its subtree in its place. Every bend is made and taken back at most once.
Links weakest_links(const LinkedNodes& nodes, double near) {
    struct Subtree {
        double risk = 0;
        double leaves = 1;
    };
    Links links;
    links.strength.assign(nodes.count, std::numeric_limits<double>::infinity());
    std::vector<Subtree> below(nodes.count);  // where it is cut
    std::vector<Heap> bends(nodes.count);
    for (std::size_t v = nodes.count; v-- > 0;) {
        if (!nodes.open[v]) continue;
        const std::int32_t first = nodes.child[v], branches = nodes.branches[v];
        Heap heap = merged(bends, first, branches);
        Subtree under{0, double(branches)};
        for (std::int32_t b = 0; b < branches; ++b) under.risk += nodes.risk[first + b];
        const auto crossing = [&] { return (nodes.risk[v] - under.risk) / (under.leaves - 1); };
        while (!heap.empty() && heap.front().first > crossing() + near) {
            const auto back = std::size_t(heap.front().second);
            std::pop_heap(heap.begin(), heap.end(), weaker);
            heap.pop_back();
            under.risk += below[back].risk - nodes.risk[back];
            under.leaves += below[back].leaves - 1;
        }
        links.strength[v] = crossing();
        below[v] = under;
        push(heap, {links.strength[v], std::int32_t(v)});
        bends[v] = std::move(heap);
    }
    for (const Bend& bend : bends[0]) links.kept.push_back(bend.second);
    return links;
}

}  // namespace ceiba::tree
