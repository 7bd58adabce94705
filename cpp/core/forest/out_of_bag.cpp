#include "forest/out_of_bag.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "forest/leaf_shares.hpp"
#include "parallel.hpp"
#include "random.hpp"

namespace ceiba::forest {
namespace {

constexpr std::uint64_t kPermuted = 0x7065726D;
constexpr std::size_t kTogether = 32;  // trees whose bags are held at once

// Rows out of the bags of some trees, ascending, and where those of a block of rows begin.
class Outsiders {
  public:
    void gather(const Grown& grown, std::size_t first, std::size_t last, int threads) {
        rows_.resize(last - first);
        const double work = 10.0 * double(rows_.size()) * double(grown.sampling.draws);
        for_segments({rows_.size(), rows_.size()}, threads_for(work, threads),
                     [&](std::size_t t, int thread, Interrupt& interrupt) {
                         rows_[t] = grown.outside(first + t, interrupt, thread);
                     });
    }
    std::span<const std::uint32_t> of(std::size_t t) const { return rows_[t]; }
    std::span<const std::uint32_t> of(std::size_t t, std::size_t begin, std::size_t end) const {
        const auto low = std::lower_bound(rows_[t].begin(), rows_[t].end(), begin);
        const auto high = std::lower_bound(low, rows_[t].end(), end);
        return {low, high};
    }

  private:
    std::vector<std::vector<std::uint32_t>> rows_;
};

// Sums of one block of rows, tree by tree.
struct Curve {
    explicit Curve(std::size_t trees) : rows(trees, 0), loss(trees, 0), squares(trees, 0) {}

    std::vector<std::int64_t> rows;
    std::vector<double> loss, squares;
};

double squared(double x) { return x * x; }

class BlockSums {
  public:
    BlockSums(const Grown& grown, const OutOfBag& out, std::size_t begin, std::size_t end)
        : grown_(grown),
          width_(std::max<std::size_t>(1, grown.forest.classes)),
          begin_(begin),
          out_(out),
          loss_(end - begin, 0) {}

    // Add what a tree says of some rows of the block.
    void add(LeafShares& shares, std::span<const std::uint32_t> rows, const std::int32_t* leaf) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const std::uint32_t row = rows[i];
            double* sum = out_.sum + row * width_;
            shares.add(leaf[i], sum);
            known_ += out_.count[row]++ == 0;
            double& own = loss_[row - begin_];
            total_ -= own;
            squares_ -= own * own;
            own = loss(row, sum);
            total_ += own;
            squares_ += own * own;
        }
    }
    void note(std::size_t tree, Curve& curve) const {
        curve.rows[tree] += known_;
        curve.loss[tree] += total_;
        curve.squares[tree] += squares_;
    }

  private:
    double loss(std::uint32_t row, const double* sum) const {
        if (grown_.forest.classes == 0)
            return squared((*sum / double(out_.count[row]) - grown_.target[row]) / grown_.scale);
        return std::max_element(sum, sum + width_) - sum != grown_.label[row];
    }

    const Grown& grown_;
    std::size_t width_, begin_;
    const OutOfBag& out_;
    std::vector<double> loss_;
    std::int64_t known_ = 0;
    double total_ = 0, squares_ = 0;
};

}  // namespace

std::vector<std::uint32_t> Grown::outside(std::size_t tree, Interrupt& interrupt,
                                          int thread) const {
    std::vector<Number> count(sampling.rows);
    sampling.counts(seeds[tree], count.data(), &interrupt, thread);
    std::vector<std::uint32_t> rows;
    for (std::size_t i = 0; i < count.size(); ++i)
        if (count[i] == 0) rows.push_back(std::uint32_t(i));
    return rows;
}

void out_of_bag(const Grown& grown, const double* added, const OutOfBag& out, int threads) {
    const std::size_t trees = grown.forest.trees, n = grown.table.rows;
    const Segments parts = segments(n, 4096);
    std::vector<Curve> curves(parts.count, Curve(trees));
    std::vector<BlockSums> sums;
    for (std::size_t s = 0; s < parts.count; ++s)
        sums.emplace_back(grown, out, parts.begin(s), parts.end(s));
    Outsiders outsiders;
    for (std::size_t first = 0; first < trees; first += kTogether) {
        const std::size_t last = std::min(trees, first + kTogether);
        outsiders.gather(grown, first, last, threads);
        const double work = 20.0 * double(n) * double(last - first);
        for_segments(parts, threads_for(work, threads),
                     [&](std::size_t s, int thread, Interrupt& interrupt) {
                         std::vector<std::int32_t> leaf(parts.end(s) - parts.begin(s));
                         LeafShares shares(grown.forest);
                         for (std::size_t t = first; t < last; ++t) {
                             if (interrupt.stopped(thread)) return;
                             const auto rows =
                                 outsiders.of(t - first, parts.begin(s), parts.end(s));
                             route_rows(grown.forest, grown.table, t, rows, leaf.data());
                             shares.enter(t, added[t]);
                             sums[s].add(shares, rows, leaf.data());
                             sums[s].note(t, curves[s]);
                         }
                     });
    }
    for (std::size_t t = 0; t < trees; ++t) {
        for (const Curve& curve : curves) {
            out.rows[t] += curve.rows[t];
            out.loss[t] += curve.loss[t];
            out.squares[t] += curve.squares[t];
        }
    }
}

namespace {

// What a row loses by the leaf that it came to.
double loss_of(const Grown& grown, std::uint32_t row, LeafShares& shares, std::int32_t leaf) {
    if (grown.forest.classes == 0)
        return squared((shares.number(leaf) - grown.target[row]) / grown.scale);
    return shares.likeliest(leaf) != grown.label[row];
}

// The rows in random order, keyed by (tree, column, repeat).
void shuffle(std::uint64_t seed, std::size_t column, std::size_t repeat,
             std::span<const std::uint32_t> rows, std::vector<std::uint32_t>& order) {
    order.assign(rows.begin(), rows.end());
    const std::uint64_t stream =
        kPermuted ^ std::uint64_t(column) << 32 ^ std::uint64_t(repeat) << 56;
    for (std::size_t i = rows.size(); i-- > 1;) {
        const std::uint64_t bits = even_half(philox(seed, stream, i));
        std::swap(order[i], order[scaled(bits, i + 1)]);
    }
}

bool tests(const ForestView& forest, std::size_t tree, std::size_t column) {
    const tree::TreeView view = forest.tree(tree);
    return std::any_of(view.nodes, view.nodes + view.count, [&](const PackedNode& node) {
        return node.kind() != tree::Test::kLeaf && node.column() == column;
    });
}

}  // namespace

void permuted(const Grown& grown, std::size_t repeats, double* sum, std::int32_t* count,
              int threads) {
    const ForestView& forest = grown.forest;
    const std::size_t p = grown.table.width;
    Outsiders outsiders;
    std::vector<std::vector<double>> before(kTogether);
    for (std::size_t first = 0; first < forest.trees; first += kTogether) {
        const std::size_t last = std::min(forest.trees, first + kTogether);
        outsiders.gather(grown, first, last, threads);
        const double work = 20.0 * double(last - first) * double(grown.table.rows);
        for_segments({last - first, last - first}, threads_for(work, threads),
                     [&](std::size_t t, int, Interrupt&) {
                         const auto rows = outsiders.of(t);
                         std::vector<std::int32_t> leaf(rows.size());
                         route_rows(forest, grown.table, first + t, rows, leaf.data());
                         LeafShares shares(forest);
                         shares.enter(first + t);
                         before[t].resize(rows.size());
                         for (std::size_t i = 0; i < rows.size(); ++i)
                             before[t][i] = loss_of(grown, rows[i], shares, leaf[i]);
                     });
        for (std::size_t t = 0; t < last - first; ++t)
            for (const std::uint32_t row : outsiders.of(t)) ++count[row];
        // Columns side by side: every sum is then taken in the order of the trees.
        for_segments({p, p}, threads_for(work * double(p), threads),
                     [&](std::size_t j, int thread, Interrupt& interrupt) {
                         std::vector<std::uint32_t> from;
                         std::vector<std::int32_t> leaf;
                         LeafShares shares(forest);
                         for (std::size_t t = first; t < last; ++t) {
                             if (interrupt.stopped(thread)) return;
                             if (!tests(forest, t, j)) continue;
                             const auto rows = outsiders.of(t - first);
                             leaf.resize(rows.size());
                             shares.enter(t);
                             for (std::size_t r = 0; r < repeats; ++r) {
                                 if (interrupt.stopped(thread)) return;
                                 shuffle(grown.seeds[t], j, r, rows, from);
                                 route_changed(forest, grown.table, t, rows, j, from, leaf.data());
                                 for (std::size_t i = 0; i < rows.size(); ++i)
                                     sum[rows[i] * p + j] +=
                                         loss_of(grown, rows[i], shares, leaf[i]) -
                                         before[t - first][i];
                             }
                         }
                     });
    }
}

namespace {

// Weight and sums of targets of some rows in every node of a tree: of classes the weight of each.
class NodeSums {
  public:
    NodeSums(const Grown& grown, std::size_t tree)
        : grown_(grown),
          view_(grown.forest.tree(tree)),
          tree_(tree),
          width_(std::max<std::size_t>(1, grown.forest.classes)),
          parent_(view_.count, 0) {
        find_parents();
    }

    // Add rows up: each counts with its own weight, in its leaf and all nodes above.
    void add(std::span<const std::uint32_t> rows, std::span<const double> weight) {
        weight_.assign(view_.count, 0);
        sum_.assign(view_.count * width_, 0);
        leaf_.resize(rows.size());
        route_rows(grown_.forest, grown_.table, tree_, rows, leaf_.data());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto leaf = std::size_t(leaf_[i]);
            weight_[leaf] += weight[i];
            sum_[leaf * width_ + place(rows[i])] += weight[i] * target(rows[i]);
        }
        // Branches stand behind their node, so from the back every branch comes before it.
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
    // Where a row's target is counted, and what it adds there.
    std::size_t place(std::uint32_t row) const { return width_ > 1 ? grown_.label[row] : 0; }
    double target(std::uint32_t row) const {
        return grown_.forest.classes ? 1.0 : grown_.target[row];
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

    const Grown& grown_;
    tree::TreeView view_;
    std::size_t tree_, width_;
    std::vector<std::size_t> parent_;
    std::vector<double> weight_, sum_;
    std::vector<std::int32_t> leaf_;
};

// The rows in a tree's bag with their weights, and those outside.
struct Parted {
    std::vector<std::uint32_t> inside, outside;
    std::vector<double> weight;

    Parted(const Grown& grown, std::size_t tree, Interrupt& interrupt, int thread) {
        std::vector<Number> count(grown.sampling.rows);
        grown.sampling.counts(grown.seeds[tree], count.data(), &interrupt, thread);
        for (std::size_t i = 0; i < count.size(); ++i) {
            if (count[i] == 0) {
                outside.push_back(std::uint32_t(i));
                continue;
            }
            inside.push_back(std::uint32_t(i));
            weight.push_back(double(count[i]) * (grown.weight ? grown.weight[i] : 1.0));
        }
        if (grown.balanced) balance(grown);
    }

  private:
    // Every class gets the same weight; a common factor would not change any mean.
    void balance(const Grown& grown) {
        std::vector<double> total(grown.forest.classes, 0);
        for (std::size_t i = 0; i < inside.size(); ++i) total[grown.label[inside[i]]] += weight[i];
        for (std::size_t i = 0; i < inside.size(); ++i) weight[i] /= total[grown.label[inside[i]]];
    }
};

// Of every (node, class): mean in the bag, less that of the node above.
std::vector<double> steps_of(const NodeSums& sums, std::size_t nodes) {
    std::vector<double> step(nodes * sums.width(), 0);
    for (std::size_t i = 1; i < nodes; ++i) {
        const std::size_t above = sums.parent(i);
        for (std::size_t k = 0; k < sums.width(); ++k)
            step[i * sums.width() + k] =
                sums.sum(i, k) / sums.weight(i) - sums.sum(above, k) / sums.weight(above);
    }
    return step;
}

void correct_tree(const Grown& grown, std::size_t tree, double* own, Interrupt& interrupt,
                  int thread) {
    const Parted rows(grown, tree, interrupt, thread);
    if (rows.outside.empty() || interrupt.raised()) return;
    const tree::TreeView view = grown.forest.tree(tree);
    NodeSums sums(grown, tree);
    sums.add(rows.inside, rows.weight);
    const std::vector<double> step = steps_of(sums, view.count);
    sums.add(rows.outside, std::vector<double>(rows.outside.size(), 1.0));
    const std::size_t width = sums.width();
    for (std::size_t i = 0; i < rows.outside.size(); ++i) {
        const std::uint32_t row = rows.outside[i];
        const double y = sums.target(row);
        for (auto at = std::size_t(sums.leaves()[i]); at > 0; at = sums.parent(at)) {
            const std::size_t above = sums.parent(at);
            const double n = sums.weight(above);
            if (n < 2) continue;  // there are no others to compare with
            double sum = 0;
            for (std::size_t k = 0; k < width; ++k) {
                const double mine = k == sums.place(row) ? y : 0.0;
                sum += step[at * width + k] * (n * mine - sums.sum(above, k)) / (n - 1);
            }
            own[view.nodes[above].column()] += sum;
        }
    }
    for (std::size_t j = 0; j < grown.table.width; ++j) own[j] /= double(rows.outside.size());
}

}  // namespace

void corrected(const Grown& grown, double* out, int threads) {
    const std::size_t trees = grown.forest.trees, p = grown.table.width;
    const double work = 40.0 * double(trees) * double(grown.table.rows);
    for_segments({trees, trees}, threads_for(work, threads),
                 [&](std::size_t t, int thread, Interrupt& interrupt) {
                     correct_tree(grown, t, out + t * p, interrupt, thread);
                 });
}

}  // namespace ceiba::forest
