// Order in which the nodes of a growing tree are split, and their final numbering by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/grow/tree_builder.hpp"

namespace ceiba::tree {

// The order in which nodes are split.
class SplitOrder {
  public:
    SplitOrder(const TreeBuilder& builder) : builder_(builder) {}
    void push_if_split(std::int32_t node);
    void push_branches(std::size_t node);
    bool empty() const { return queue_.size() == first_; }
    std::int32_t pop();

  private:
    struct Entry {
        double priority;
        std::size_t sequence;  // ties go to the node found earlier
        std::int32_t node;

        bool operator<(const Entry& other) const {
            return priority != other.priority ? priority < other.priority
                                              : sequence > other.sequence;
        }
    };

    const TreeBuilder& builder_;
    std::vector<Entry> queue_;
    std::size_t first_ = 0;
    std::size_t pushed_ = 0;
};

// Call body(node) for the splits of a tree in growth order until the leaves are used up. It may
// make the branches of the node; their splits follow if there are any. Stop at the first split that
// exceeds the limit: the known part of a tree that is still growing can then never exceed the final
// tree.
template <typename Body>
void for_splits_in_order(const TreeBuilder& builder, const Body& body) {
    SplitOrder order(builder);
    std::int64_t leaves = 1;
    for (order.push_if_split(0); !order.empty();) {
        const auto node = std::size_t(order.pop());
        leaves += builder.nodes[node].n_branches - 1;
        if (builder.config.limits_leaves() && leaves > builder.config.max_leaves) break;
        body(node);
        if (builder.nodes[node].expanded()) order.push_branches(node);
    }
}

// Final numbering of a tree: nodes in growth order until the leaves are used up. `order[i]` is the
// node of the builder that becomes node i.
struct Numbering {
    std::vector<std::int32_t> order;
    std::vector<std::int32_t> child;  // final index of the first branch, -1 in a leaf
    // Nodes whose split belongs to the tree and whose branches have not been made yet.
    std::vector<std::int32_t> unexpanded;
};
Numbering number_nodes(const TreeBuilder& builder);

}  // namespace ceiba::tree
