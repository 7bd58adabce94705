#include "tree/ways.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace ceiba::tree {

std::int32_t surrogate_branch(const TreeView& tree, const SurrogateView& surrogates,
                              std::size_t node, const std::vector<AnyColumn>& columns,
                              std::size_t row, std::int32_t otherwise) {
    for (std::int64_t s = surrogates.first[node]; s < surrogates.first[node + 1]; ++s) {
        const PackedNode& split = surrogates.splits[s];
        const AnyColumn& column = columns[split.column()];
        if (is_gap(column, row)) continue;
        const std::int32_t branch = branch_of(tree, split, column, row);
        if (branch >= 0) return branch ^ split.child;
    }
    return otherwise;
}

namespace {

// Call visit(leaf, share) for every leaf that a row comes to.
class Walker {
  public:
    Walker(const TreeView& tree, const Shares& shares, const std::vector<AnyColumn>& columns)
        : tree_(tree), shares_(shares), columns_(columns) {}

    template <typename Visit>
    void walk(std::size_t row, const Visit& visit) {
        waiting_.assign(1, {0, 1.0});
        while (!waiting_.empty()) {
            auto [at, share] = waiting_.back();
            waiting_.pop_back();
            const PackedNode* node = &tree_.nodes[at];
            while (node->kind() != Test::kLeaf) {
                const AnyColumn& column = columns_[node->column()];
                if (lacks_branch(tree_, *node, column, row)) break;
                at = node->child + branch_of(tree_, *node, column, row);
                node = &tree_.nodes[at];
            }
            if (node->kind() == Test::kLeaf)
                visit(at, share);
            else
                part(at, share);
        }
    }

  private:
    // All branches of a node, the first on top.
    void part(std::int32_t node, double share) {
        const std::int32_t first = tree_.nodes[node].child;
        for (std::int32_t v = first + shares_.branches[node] - 1; v >= first; --v)
            if (shares_.of[v] > 0) waiting_.push_back({v, share * shares_.of[v]});
    }

    struct Way {
        std::int32_t node;
        double share;
    };

    const TreeView& tree_;
    const Shares& shares_;
    const std::vector<AnyColumn>& columns_;
    std::vector<Way> waiting_;
};

}  // namespace

bool lacks_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                  std::size_t row) {
    if (is_gap(column, row)) return true;
    if (node.kind() != Test::kWords && node.kind() != Test::kTable) return false;
    const auto level = std::size_t(
        static_cast<const std::int32_t*>(column.data)[std::ptrdiff_t(row) * column.stride]);
    if (node.kind() == Test::kTable) return !tree.tables[node.cut + 1 + column.levels + level];
    const std::size_t width = (std::size_t(column.levels) + 63) / 64;
    return !(tree.words[node.cut + width + level / 64] >> level % 64 & 1);
}

const char* presence_complaint(const TreeView& tree, const std::vector<std::uint32_t>& levels) {
    for (std::size_t v = 0; v < tree.count; ++v) {
        const PackedNode& node = tree.nodes[v];
        const bool words = node.kind() == Test::kWords, table = node.kind() == Test::kTable;
        if (!words && !table) continue;
        const std::size_t n = levels[node.column()];
        const std::size_t need = words ? 2 * ((n + 63) / 64) : 2 * n + 1;
        const std::size_t room = words ? tree.n_words : tree.n_tables;
        if (need > room || node.cut > room - need)
            return "the levels that a node had lie outside of the tree's arrays";
    }
    return nullptr;
}

const char* complaint(const TreeView& tree, const SurrogateView& surrogates, std::size_t count,
                      const std::vector<Type>& types, const std::vector<std::uint32_t>& levels) {
    if (surrogates.first[0] != 0 || surrogates.first[tree.count] != std::int64_t(count))
        return "surrogates must be those of the nodes";
    for (std::size_t v = 0; v < tree.count; ++v)
        if (surrogates.first[v] > surrogates.first[v + 1])
            return "surrogates must be those of the nodes";
    for (std::size_t s = 0; s < count; ++s) {
        const PackedNode& split = surrogates.splits[s];
        if (split.column() >= types.size()) return "a surrogate tests a column that is not there";
        const Type type = types[split.column()];
        const bool table = split.kind() == Test::kTable;
        if (split.child < 0 || split.child > 1 || (table != (type == Type::kNominal)) ||
            (!table && !fits(split.kind(), type)) || split.kind() == Test::kIntervals)
            return "a surrogate's test does not suit the type of its column";
        if (!table) continue;
        const std::size_t wide = std::size_t(levels[split.column()]) + 1;
        if (wide > tree.n_tables || split.cut > tree.n_tables - wide)
            return "the levels of a surrogate lie outside of the tree's arrays";
        const std::int32_t* first = tree.tables + split.cut;
        if (std::any_of(first, first + wide, [](std::int32_t b) { return b < -1 || b > 1; }))
            return "a surrogate has two branches";
    }
    return nullptr;
}

void route_by_surrogates(const TreeView& tree, const SurrogateView& surrogates,
                         const std::vector<AnyColumn>& columns, std::size_t n, std::int32_t* leaf,
                         int threads) {
    const Segments parts = segments(n, 1024);
    for_segments(parts, threads_for(60.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if ((i - parts.begin(s)) % 1024 == 0 && interrupt.stopped(thread)) return;
                         std::int32_t at = 0;
                         while (tree.nodes[at].kind() != Test::kLeaf) {
                             const PackedNode& node = tree.nodes[at];
                             const AnyColumn& column = columns[node.column()];
                             std::int32_t branch = branch_of(tree, node, column, i);
                             if (lacks_branch(tree, node, column, i))
                                 branch = surrogate_branch(tree, surrogates, std::size_t(at),
                                                           columns, i, branch);
                             at = node.child + branch;
                         }
                         leaf[i] = at;
                     }
                 });
}

void mean_of_ways(const TreeView& tree, const Shares& shares, const std::vector<AnyColumn>& columns,
                  std::size_t n, const LeafValues& values, double* out, int threads) {
    const Segments parts = segments(n, 256);
    for_segments(parts, threads_for(100.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     Walker walker(tree, shares, columns);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if ((i - parts.begin(s)) % 256 == 0 && interrupt.stopped(thread)) return;
                         double* mean = out + i * values.width;
                         std::fill_n(mean, values.width, 0.0);
                         double whole = 0;
                         walker.walk(i, [&](std::int32_t leaf, double part) {
                             const double* said =
                                 values.said + std::size_t(values.row[leaf]) * values.width;
                             for (std::size_t k = 0; k < values.width; ++k)
                                 mean[k] += part * said[k];
                             whole += part;
                         });
                         if (whole == 1) continue;
                         for (std::size_t k = 0; k < values.width; ++k) mean[k] /= whole;
                     }
                 });
}

void weigh_ways(const TreeView& tree, const Shares& shares, const std::vector<AnyColumn>& columns,
                std::size_t n, const double* weight, const std::int32_t* label, const double* value,
                std::size_t width, double* out) {
    Walker walker(tree, shares, columns);
    Interrupt interrupt;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 1024 == 0 && interrupt.stopped(0) && interrupt.by_user()) throw Interrupted();
        const double whole = weight == nullptr ? 1 : weight[i];
        walker.walk(i, [&](std::int32_t leaf, double part) {
            double* cell = out + std::size_t(leaf) * width;
            const double w = whole * part;
            if (label != nullptr) {
                cell[label[i]] += w;
            } else {
                cell[0] += w;
                cell[1] += w * value[i];
                cell[2] += w * value[i] * value[i];
            }
        });
    }
}

}  // namespace ceiba::tree
