// Implementation of fractional and surrogate routing (missing_routing.hpp).
#include "tree/predict/missing_routing.hpp"

#include <algorithm>

#include "common/parallel.hpp"

namespace ceiba::tree {

std::int32_t surrogate_branch(const TreeView& tree, const SurrogateView& surrogates,
                              std::size_t node, const std::vector<AnyColumn>& columns,
                              std::size_t row, std::int32_t default_branch) {
    for (std::int64_t s = surrogates.first[node]; s < surrogates.first[node + 1]; ++s) {
        const PackedNode& split = surrogates.splits[s];
        const AnyColumn& column = columns[split.column()];
        if (is_missing(column, row)) continue;
        const std::int32_t branch = branch_of(tree, split, column, row);
        if (branch >= 0) return branch ^ split.child;
    }
    return default_branch;
}

namespace {

// Call visit(leaf, fraction) for every leaf that a row reaches.
class Walker {
  public:
    Walker(const TreeView& tree, const BranchFractions& fractions,
           const std::vector<AnyColumn>& columns)
        : tree_(tree), fractions_(fractions), columns_(columns) {}

    template <typename Visit>
    void walk(std::size_t row, const Visit& visit) {
        stack_.assign(1, {0, 1.0});
        while (!stack_.empty()) {
            auto [at, fraction] = stack_.back();
            stack_.pop_back();
            const PackedNode* node = &tree_.nodes[at];
            while (node->kind() != Test::kLeaf) {
                const AnyColumn& column = columns_[node->column()];
                if (lacks_branch(tree_, *node, column, row)) break;
                at = node->child + branch_of(tree_, *node, column, row);
                node = &tree_.nodes[at];
            }
            if (node->kind() == Test::kLeaf)
                visit(at, fraction);
            else
                visit_branches(at, fraction);
        }
    }

  private:
    // Push all branches of a node, the first on top.
    void visit_branches(std::int32_t node, double fraction) {
        const std::int32_t first = tree_.nodes[node].child;
        for (std::int32_t v = first + fractions_.n_branches[node] - 1; v >= first; --v)
            if (fractions_.fraction[v] > 0)
                stack_.push_back({v, fraction * fractions_.fraction[v]});
    }

    struct Visit {
        std::int32_t node;
        double fraction;
    };

    const TreeView& tree_;
    const BranchFractions& fractions_;
    const std::vector<AnyColumn>& columns_;
    std::vector<Visit> stack_;
};

}  // namespace

bool lacks_branch(const TreeView& tree, const PackedNode& node, const AnyColumn& column,
                  std::size_t row) {
    if (is_missing(column, row)) return true;
    if (node.kind() != Test::kWords && node.kind() != Test::kTable) return false;
    const auto category = std::size_t(
        static_cast<const std::int32_t*>(column.data)[std::ptrdiff_t(row) * column.stride]);
    if (node.kind() == Test::kTable)
        return !tree.tables[node.bits + 1 + column.n_categories + category];
    const std::size_t width = (std::size_t(column.n_categories) + 63) / 64;
    return !(tree.words[node.bits + width + category / 64] >> category % 64 & 1);
}

const char* presence_defect(const TreeView& tree, const std::vector<std::uint32_t>& n_categories) {
    for (std::size_t v = 0; v < tree.count; ++v) {
        const PackedNode& node = tree.nodes[v];
        const bool words = node.kind() == Test::kWords, table = node.kind() == Test::kTable;
        if (!words && !table) continue;
        const std::size_t n = n_categories[node.column()];
        const std::size_t need = words ? 2 * ((n + 63) / 64) : 2 * n + 1;
        const std::size_t available = words ? tree.n_words : tree.n_tables;
        if (need > available || node.bits > available - need)
            return "the training categories of a node must lie within the arrays of the tree.";
    }
    return nullptr;
}

const char* surrogate_defect(const TreeView& tree, const SurrogateView& surrogates,
                             std::size_t count, const std::vector<Type>& types,
                             const std::vector<std::uint32_t>& n_categories) {
    if (surrogates.first[0] != 0 || surrogates.first[tree.count] != std::int64_t(count))
        return "the offsets of surrogates must ascend from 0 to their number.";
    for (std::size_t v = 0; v < tree.count; ++v)
        if (surrogates.first[v] > surrogates.first[v + 1])
            return "the offsets of surrogates must ascend from 0 to their number.";
    for (std::size_t s = 0; s < count; ++s) {
        const PackedNode& split = surrogates.splits[s];
        if (split.column() >= types.size())
            return "the column of a surrogate must be less than the number of columns.";
        const Type type = types[split.column()];
        const bool table = split.kind() == Test::kTable;
        if (split.child < 0 || split.child > 1 || (table != (type == Type::kNominal)) ||
            (!table && !test_fits_type(split, type)) || split.kind() == Test::kIntervals)
            return "the test of a surrogate must match the type of its column.";
        if (!table) continue;
        const std::size_t n_entries = std::size_t(n_categories[split.column()]) + 1;
        if (n_entries > tree.n_tables || split.bits > tree.n_tables - n_entries)
            return "the categories of a surrogate must lie within the arrays of the tree.";
        const std::int32_t* first = tree.tables + split.bits;
        if (std::any_of(first, first + n_entries, [](std::int32_t b) { return b < -1 || b > 1; }))
            return "a surrogate must have two branches.";
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

void mean_over_leaves(const TreeView& tree, const BranchFractions& fractions,
                      const std::vector<AnyColumn>& columns, std::size_t n,
                      const LeafValues& values, double* out, int threads) {
    const Segments parts = segments(n, 256);
    for_segments(parts, threads_for(100.0 * double(n), threads),
                 [&](std::size_t s, int thread, Interrupt& interrupt) {
                     Walker walker(tree, fractions, columns);
                     for (std::size_t i = parts.begin(s); i < parts.end(s); ++i) {
                         if ((i - parts.begin(s)) % 256 == 0 && interrupt.stopped(thread)) return;
                         double* mean = out + i * values.width;
                         std::fill_n(mean, values.width, 0.0);
                         double total = 0;
                         walker.walk(i, [&](std::int32_t leaf, double fraction) {
                             const double* leaf_values =
                                 values.values + std::size_t(values.row[leaf]) * values.width;
                             for (std::size_t k = 0; k < values.width; ++k)
                                 mean[k] += fraction * leaf_values[k];
                             total += fraction;
                         });
                         if (total == 1) continue;
                         for (std::size_t k = 0; k < values.width; ++k) mean[k] /= total;
                     }
                 });
}

void add_leaf_weights(const TreeView& tree, const BranchFractions& fractions,
                      const std::vector<AnyColumn>& columns, std::size_t n, const double* weight,
                      const std::int32_t* label, const double* value, std::size_t width,
                      double* out) {
    Walker walker(tree, fractions, columns);
    Interrupt interrupt;
    for (std::size_t i = 0; i < n; ++i) {
        if (i % 1024 == 0 && interrupt.stopped(0) && interrupt.by_user()) throw Interrupted();
        const double total = weight == nullptr ? 1 : weight[i];
        walker.walk(i, [&](std::int32_t leaf, double fraction) {
            double* cell = out + std::size_t(leaf) * width;
            const double w = total * fraction;
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
