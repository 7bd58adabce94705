// Implementation of the order of splits and the final numbering.
#include "tree/grow/split_order.hpp"

#include <algorithm>

namespace ceiba::tree {

void SplitOrder::push_if_split(std::int32_t node) {
    const auto index = std::size_t(node);
    if (builder_.nodes[index].reason != Reason::kSplit) return;
    const double priority = double(builder_.weight(index)) * builder_.nodes[index].gain;
    queue_.push_back({priority, pushed_++, node});
    if (builder_.config.growth_order == GrowthOrder::kBestFirst)
        std::push_heap(queue_.begin(), queue_.end());
}

void SplitOrder::push_branches(std::size_t node) {
    const Node& n = builder_.nodes[node];
    // The first branch must be the first to leave the stack.
    const bool stack = builder_.config.growth_order == GrowthOrder::kDepthFirst;
    for (std::int32_t b = 0; b < n.n_branches; ++b)
        push_if_split(stack ? n.child + n.n_branches - 1 - b : n.child + b);
}

std::int32_t SplitOrder::pop() {
    if (builder_.config.growth_order == GrowthOrder::kBreadthFirst) return queue_[first_++].node;
    if (builder_.config.growth_order == GrowthOrder::kBestFirst)
        std::pop_heap(queue_.begin(), queue_.end());
    const std::int32_t node = queue_.back().node;
    queue_.pop_back();
    return node;
}

Numbering number_nodes(const TreeBuilder& builder) {
    Numbering found;
    std::vector<std::int32_t> new_index(builder.nodes.size(), -1);
    const auto append = [&](std::int32_t node) {
        new_index[std::size_t(node)] = std::int32_t(found.order.size());
        found.order.push_back(node);
        found.child.push_back(-1);
    };
    append(0);
    for_splits_in_order(builder, [&](std::size_t node) {
        const Node& n = builder.nodes[node];
        if (!n.expanded()) return found.unexpanded.push_back(std::int32_t(node));
        found.child[std::size_t(new_index[node])] = std::int32_t(found.order.size());
        for (std::int32_t b = 0; b < n.n_branches; ++b) append(n.child + b);
    });
    return found;
}

}  // namespace ceiba::tree
