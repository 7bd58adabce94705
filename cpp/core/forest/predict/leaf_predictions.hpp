// Predictions of leaves: a value or class probabilities.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "forest/predict/packed_forest.hpp"

namespace ceiba::forest {

// Decodes leaves and caches mixed ones, because the rows of a block reach the same leaves
// repeatedly; the cache is indexed by the low bits of the leaf number.
class LeafPredictions {
  public:
    explicit LeafPredictions(const ForestView& forest)
        : forest_(forest),
          classes_(std::max<std::size_t>(1, forest.n_classes)),
          cache_(
              std::bit_floor(std::clamp<std::size_t>(kMaxProbabilities / classes_, 1, kMaxCached))),
          probabilities_(new ClassProbability[cache_.size() * classes_]) {}

    // Select a tree. `smoothing`, the same in every call for a tree, is added to each class weight
    // of its leaves.
    void set_tree(std::size_t tree, double smoothing = 0) {
        tree_ = tree;
        smoothing_ = smoothing;
        nodes_ = forest_.nodes + forest_.first[tree];
    }
    // Add the prediction of a leaf to `sum`.
    void add(std::int32_t leaf, double* sum) {
        const PackedNode& node = nodes_[leaf];
        if (leaf_kind(node) == Leaf::kPure && smoothing_ == 0) {
            sum[node.child] += 1;
        } else if (leaf_kind(node) == Leaf::kNumber) {
            *sum += value(leaf);
        } else {
            const CacheEntry& cached = lookup(leaf);
            const ClassProbability* entry = entries_of(cached);
            for (std::size_t i = 0; i < cached.count; ++i)
                sum[entry[i].class_index] += entry[i].probability;
        }
    }
    double value(std::int32_t leaf) const { return std::bit_cast<double>(nodes_[leaf].bits); }
    // The most probable class; ties go to the first.
    std::size_t majority(std::int32_t leaf) {
        const PackedNode& node = nodes_[leaf];
        return leaf_kind(node) == Leaf::kMixedLong ? lookup(leaf).majority
                                                   : std::size_t(node.child);
    }

  private:
    // A quarter of a megabyte, or one leaf.
    static constexpr std::size_t kMaxProbabilities = 16384, kMaxCached = 1024;

    struct ClassProbability {
        std::size_t class_index;
        double probability;
    };
    struct CacheEntry {
        const PackedNode* node = nullptr;
        std::uint32_t count = 0, majority = 0;
    };

    ClassProbability* entries_of(const CacheEntry& cached) const {
        return probabilities_.get() + std::size_t(&cached - cache_.data()) * classes_;
    }
    const CacheEntry& lookup(std::int32_t leaf) {
        CacheEntry& cached = cache_[std::size_t(leaf) & (cache_.size() - 1)];
        if (cached.node != nodes_ + leaf) decode(nodes_ + leaf, cached);
        return cached;
    }
    void decode(const PackedNode* node, CacheEntry& cached) const {
        ClassProbability* entry = entries_of(cached);
        cached = {node, 0, 0};
        double total = smoothing_ * double(classes_), max = 0;
        const auto add = [&](std::size_t k, double weight) {
            entry[cached.count++] = {k, weight + smoothing_};
        };
        forest_.for_classes(tree_, *node, [&](std::size_t k, Number integer_weight) {
            const auto weight = double(integer_weight);
            while (smoothing_ != 0 && cached.count < k) add(cached.count, 0);
            add(k, weight);
            total += weight;
            if (weight > max) cached.majority = std::uint32_t(k);
            max = std::max(max, weight);
        });
        while (smoothing_ != 0 && cached.count < classes_) add(cached.count, 0);
        for (std::size_t i = 0; i < cached.count; ++i) entry[i].probability /= total;
    }

    const ForestView& forest_;
    std::size_t classes_;
    std::vector<CacheEntry> cache_;
    std::unique_ptr<ClassProbability[]> probabilities_;
    const PackedNode* nodes_ = nullptr;
    std::size_t tree_ = 0;
    double smoothing_ = 0;
};

}  // namespace ceiba::forest
