// Implementation of the depth-first order of edges (path_edges.hpp).
#include "tree/explain/path_edges.hpp"

#include <algorithm>

#include "tree/predict/missing_routing.hpp"

namespace ceiba::tree {

std::int32_t explained_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                              std::size_t row, bool fractional) {
    if (fractional && lacks_branch(tree, node, column, row)) return -1;
    return branch_of(tree, node, column, row);
}

std::vector<std::int32_t> branch_counts(const TreeView& tree) {
    std::vector<std::int32_t> inner;
    for (std::size_t v = 0; v < tree.count; ++v)
        if (tree.nodes[v].kind() != Test::kLeaf) inner.push_back(std::int32_t(v));
    std::sort(inner.begin(), inner.end(), [&](std::int32_t a, std::int32_t b) {
        return tree.nodes[a].child < tree.nodes[b].child;
    });
    std::vector<std::int32_t> n_branches(tree.count, 0);
    for (std::size_t i = 0; i < inner.size(); ++i) {
        const std::int32_t end =
            i + 1 < inner.size() ? tree.nodes[inner[i + 1]].child : std::int32_t(tree.count);
        n_branches[std::size_t(inner[i])] = end - tree.nodes[inner[i]].child;
    }
    return n_branches;
}

PathEdges::PathEdges(const TreeView& tree) {
    struct Pending {
        std::int32_t split, branch, parent, n_closed;
    };
    const std::vector<std::int32_t> n_branches = branch_counts(tree);
    std::vector<Pending> pending;
    // The branches of a node are visited in order: the last one closes the edge of the node too.
    const auto add_branches = [&](std::int32_t node, std::int32_t parent, std::int32_t n_closed) {
        const auto split = std::int32_t(splits.size());
        splits.push_back(node);
        const std::int32_t n = n_branches[std::size_t(node)];
        for (std::int32_t b = n; b-- > 0;)
            pending.push_back({split, b, parent, b + 1 == n ? n_closed + 1 : 1});
    };
    if (tree.nodes[0].kind() == Test::kLeaf)
        leaves.push_back(0);
    else
        add_branches(0, -1, 0);
    while (!pending.empty()) {
        const Pending next = pending.back();
        pending.pop_back();
        const PackedNode& parent = tree.nodes[splits[std::size_t(next.split)]];
        const std::int32_t node = parent.child + next.branch;
        const auto index = std::int32_t(edges.size());
        const std::int32_t above = next.parent;
        ShapEdge edge{above < 0 ? 1 : edges[std::size_t(above)].depth + 1,
                      0,
                      above,
                      next.split,
                      next.branch,
                      std::int32_t(parent.column()),
                      0,
                      -1};
        std::int32_t own_slot = above < 0 ? 0 : n_slots[std::size_t(above)], columns = own_slot + 1;
        for (std::int32_t e = above; e >= 0; e = edges[std::size_t(e)].parent) {
            if (edges[std::size_t(e)].column != edge.column) continue;
            edge.previous_depth = edges[std::size_t(e)].depth;
            own_slot = slot[std::size_t(e)];
            --columns;
            break;
        }
        const bool is_leaf = tree.nodes[node].kind() == Test::kLeaf;
        if (is_leaf) {
            edge.n_closed = next.n_closed;
            edge.leaf = std::int32_t(leaves.size());
            leaves.push_back(node);
        }
        depth = std::max(depth, std::size_t(edge.depth));
        max_slots = std::max(max_slots, std::size_t(columns));
        edges.push_back(edge);
        slot.push_back(own_slot);
        n_slots.push_back(columns);
        if (!is_leaf) add_branches(node, index, next.n_closed);
    }
}

}  // namespace ceiba::tree
