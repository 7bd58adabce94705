// What leaves say: a number, or shares of the classes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "forest/forest.hpp"

namespace ceiba::forest {

// Rows of a block come to the same leaves again and again: what mixed ones say is kept for a while,
// each at the place that its number has.
class LeafShares {
  public:
    explicit LeafShares(const ForestView& forest)
        : forest_(forest),
          classes_(std::max<std::size_t>(1, forest.classes)),
          kept_(std::bit_floor(std::clamp<std::size_t>(kShares / classes_, 1, kMostKept))),
          shares_(new Share[kept_.size() * classes_]) {}

    // Go to a tree; `added`, every time the same, is added to each class in all its leaves.
    void enter(std::size_t tree, double added = 0) {
        tree_ = tree;
        added_ = added;
        nodes_ = forest_.nodes + forest_.first[tree];
    }
    // Add what a leaf says to `sum`.
    void add(std::int32_t leaf, double* sum) {
        const PackedNode& node = nodes_[leaf];
        if (leaf_kind(node) == Leaf::kPure && added_ == 0) {
            sum[node.child] += 1;
        } else if (leaf_kind(node) == Leaf::kNumber) {
            *sum += number(leaf);
        } else {
            const Kept& kept = found(leaf);
            const Share* share = shares_of(kept);
            for (std::size_t i = 0; i < kept.count; ++i) sum[share[i].place] += share[i].share;
        }
    }
    double number(std::int32_t leaf) const { return std::bit_cast<double>(nodes_[leaf].cut); }
    // The likeliest class, the first of equals.
    std::size_t likeliest(std::int32_t leaf) {
        const PackedNode& node = nodes_[leaf];
        return leaf_kind(node) == Leaf::kListed ? found(leaf).likeliest : std::size_t(node.child);
    }

  private:
    // A quarter of a megabyte, or a leaf.
    static constexpr std::size_t kShares = 16384, kMostKept = 1024;

    struct Share {
        std::size_t place;
        double share;
    };
    struct Kept {
        const PackedNode* node = nullptr;
        std::uint32_t count = 0, likeliest = 0;
    };

    Share* shares_of(const Kept& kept) const {
        return shares_.get() + std::size_t(&kept - kept_.data()) * classes_;
    }
    const Kept& found(std::int32_t leaf) {
        Kept& kept = kept_[std::size_t(leaf) & (kept_.size() - 1)];
        if (kept.node != nodes_ + leaf) read(nodes_ + leaf, kept);
        return kept;
    }
    void read(const PackedNode* node, Kept& kept) const {
        Share* share = shares_of(kept);
        kept = {node, 0, 0};
        double total = added_ * double(classes_), most = 0;
        const auto add = [&](std::size_t k, double weight) {
            share[kept.count++] = {k, weight + added_};
        };
        forest_.for_classes(tree_, *node, [&](std::size_t k, Number own) {
            const auto weight = double(own);
            while (added_ != 0 && kept.count < k) add(kept.count, 0);
            add(k, weight);
            total += weight;
            if (weight > most) kept.likeliest = std::uint32_t(k);
            most = std::max(most, weight);
        });
        while (added_ != 0 && kept.count < classes_) add(kept.count, 0);
        for (std::size_t i = 0; i < kept.count; ++i) share[i].share /= total;
    }

    const ForestView& forest_;
    std::size_t classes_;
    std::vector<Kept> kept_;
    std::unique_ptr<Share[]> shares_;
    const PackedNode* nodes_ = nullptr;
    std::size_t tree_ = 0;
    double added_ = 0;
};

}  // namespace ceiba::forest
