// Implementation of the debiased feature importance.
#include "forest/oob/debiased_importance.hpp"

#include <algorithm>
#include <span>
#include <vector>

#include "common/parallel.hpp"

namespace ceiba::forest {
namespace {

// Weight and target sums of some rows in every node of a tree; for classes, the weight per class.
class NodeSums {
  public:
    NodeSums(const TrainedForest& trained, std::size_t tree)
        : trained_(trained),
          view_(trained.forest.tree(tree)),
          tree_(tree),
          width_(std::max<std::size_t>(1, trained.forest.n_classes)),
          parent_(view_.count, 0) {
        find_parents();
    }

    // Add the rows with their weights to their leaves and all ancestors.
    void add(std::span<const std::uint32_t> rows, std::span<const double> weight) {
        weight_.assign(view_.count, 0);
        sum_.assign(view_.count * width_, 0);
        leaf_.resize(rows.size());
        route_rows(trained_.forest, trained_.table, tree_, rows, leaf_.data());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto leaf = std::size_t(leaf_[i]);
            weight_[leaf] += weight[i];
            sum_[leaf * width_ + class_index(rows[i])] += weight[i] * target(rows[i]);
        }
        // Children are stored after their parent, so going backwards every child precedes it.
        for (std::size_t i = view_.count; i-- > 1;) {
            weight_[parent_[i]] += weight_[i];
            for (std::size_t k = 0; k < width_; ++k)
                sum_[parent_[i] * width_ + k] += sum_[i * width_ + k];
        }
    }

    std::size_t width() const { return width_; }
    std::size_t parent(std::size_t node) const { return parent_[node]; }
    double weight(std::size_t node) const { return weight_[node]; }
    double sum(std::size_t node, std::size_t k) const { return sum_[node * width_ + k]; }
    std::span<const std::int32_t> leaves() const { return leaf_; }
    // Column of the sums that the target of a row belongs to, and its contribution.
    std::size_t class_index(std::uint32_t row) const {
        return width_ > 1 ? trained_.label[row] : 0;
    }
    double target(std::uint32_t row) const {
        return trained_.forest.n_classes ? 1.0 : trained_.target[row];
    }

  private:
    void find_parents() {
        std::vector<std::size_t> inner;
        for (std::size_t i = 0; i < view_.count; ++i)
            if (view_.nodes[i].kind() != tree::Test::kLeaf) inner.push_back(i);
        std::sort(inner.begin(), inner.end(), [&](std::size_t a, std::size_t b) {
            return view_.nodes[a].child < view_.nodes[b].child;
        });
        for (std::size_t r = 0; r < inner.size(); ++r) {
            const auto begin = std::size_t(view_.nodes[inner[r]].child);
            const std::size_t end =
                r + 1 < inner.size() ? std::size_t(view_.nodes[inner[r + 1]].child) : view_.count;
            std::fill(parent_.begin() + std::ptrdiff_t(begin),
                      parent_.begin() + std::ptrdiff_t(end), inner[r]);
        }
    }

    const TrainedForest& trained_;
    tree::TreeView view_;
    std::size_t tree_, width_;
    std::vector<std::size_t> parent_;
    std::vector<double> weight_, sum_;
    std::vector<std::int32_t> leaf_;
};

// In-bag rows of a tree with their weights, and its out-of-bag rows.
struct TreeRows {
    std::vector<std::uint32_t> in_bag, oob_rows;
    std::vector<double> weight;

    TreeRows(const TrainedForest& trained, std::size_t tree, Interrupt& interrupt, int thread) {
        std::vector<Number> count(trained.sampling.rows);
        trained.sampling.counts(trained.seeds[tree], count.data(), &interrupt, thread);
        for (std::size_t i = 0; i < count.size(); ++i) {
            if (count[i] == 0) {
                oob_rows.push_back(std::uint32_t(i));
                continue;
            }
            in_bag.push_back(std::uint32_t(i));
            weight.push_back(double(count[i]) * (trained.weight ? trained.weight[i] : 1.0));
        }
        if (trained.balanced) balance(trained);
    }

  private:
    // Every class gets the same weight; a common factor would not change any mean.
    void balance(const TrainedForest& trained) {
        std::vector<double> total(trained.forest.n_classes, 0);
        for (std::size_t i = 0; i < in_bag.size(); ++i)
            total[trained.label[in_bag[i]]] += weight[i];
        for (std::size_t i = 0; i < in_bag.size(); ++i)
            weight[i] /= total[trained.label[in_bag[i]]];
    }
};

// Per (node, class): the in-bag mean minus that of the parent node.
std::vector<double> mean_changes(const NodeSums& sums, std::size_t nodes) {
    std::vector<double> step(nodes * sums.width(), 0);
    for (std::size_t i = 1; i < nodes; ++i) {
        const std::size_t parent_node = sums.parent(i);
        for (std::size_t k = 0; k < sums.width(); ++k)
            step[i * sums.width() + k] = sums.sum(i, k) / sums.weight(i) -
                                         sums.sum(parent_node, k) / sums.weight(parent_node);
    }
    return step;
}

void add_tree_importance(const TrainedForest& trained, std::size_t tree, double* importance,
                         Interrupt& interrupt, int thread) {
    const TreeRows rows(trained, tree, interrupt, thread);
    if (rows.oob_rows.empty() || interrupt.raised()) return;
    const tree::TreeView view = trained.forest.tree(tree);
    NodeSums sums(trained, tree);
    sums.add(rows.in_bag, rows.weight);
    const std::vector<double> step = mean_changes(sums, view.count);
    sums.add(rows.oob_rows, std::vector<double>(rows.oob_rows.size(), 1.0));
    const std::size_t width = sums.width();
    for (std::size_t i = 0; i < rows.oob_rows.size(); ++i) {
        const std::uint32_t row = rows.oob_rows[i];
        const double y = sums.target(row);
        for (auto at = std::size_t(sums.leaves()[i]); at > 0; at = sums.parent(at)) {
            const std::size_t parent_node = sums.parent(at);
            const double n = sums.weight(parent_node);
            if (n < 2) continue;  // no other rows to compare with
            double sum = 0;
            for (std::size_t k = 0; k < width; ++k) {
                const double indicator = k == sums.class_index(row) ? y : 0.0;
                sum += step[at * width + k] * (n * indicator - sums.sum(parent_node, k)) / (n - 1);
            }
            importance[view.nodes[parent_node].column()] += sum;
        }
    }
    for (std::size_t j = 0; j < trained.table.width; ++j)
        importance[j] /= double(rows.oob_rows.size());
}

}  // namespace

void debiased_importance(const TrainedForest& trained, double* out, int threads) {
    const std::size_t trees = trained.forest.n_trees, p = trained.table.width;
    const double work = 40.0 * double(trees) * double(trained.table.rows);
    for_segments({trees, trees}, threads_for(work, threads),
                 [&](std::size_t t, int thread, Interrupt& interrupt) {
                     add_tree_importance(trained, t, out + t * p, interrupt, thread);
                 });
}

}  // namespace ceiba::forest
