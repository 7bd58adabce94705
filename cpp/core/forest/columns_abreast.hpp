// Drawn columns of a small node, looked at side by side.
//
// What a split search costs before its first row is paid once for up to eight columns, and no
// branch depends on the rows. A tree of five classes on 100,000 rows has 20,000 splits, of which
// nine in ten part fewer than 128 rows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "forest/bag.hpp"
#include "simd/forest_kernels.hpp"

namespace ceiba::forest {

// Classes by Gini. The weights of all classes stand in one word, so that a class's weight on the
// left of a cut is a shift away and never goes through memory.
class ClassesAbreast {
  public:
    explicit ClassesAbreast(const GrowthRules& rules)
        : classes_(std::size_t(rules.classes)),
          judges_(rules.criterion == tree::Criterion::kGini && classes_ >= 2 && classes_ <= 32) {
        node_.bits = judges_ ? 64 / classes_ : 0;
        most_ = judges_ ? std::min<Number>((Number(1) << node_.bits) - 1, kMost) : 0;
    }

    // Take up a node; false where its weights are too large.
    bool begin(const TaggedBag&, const Growth& growth, std::size_t node, std::size_t, std::size_t) {
        const Number total = growth.weight(node);
        if (!judges_ || total > most_) return false;
        const Number* cell = growth.cell(node);
        node_.known = node_.squares = 0;
        node_.total = std::uint64_t(total);
        for (std::size_t k = 0; k < classes_; ++k) {
            node_.known |= std::uint64_t(cell[k]) << k * node_.bits;
            node_.squares += std::uint64_t(cell[k] * cell[k]);
        }
        return true;
    }
    void find(const std::uint64_t* entries, std::size_t n, std::size_t m, const AbreastLeast& least,
              AbreastCuts& best) const {
        forest_kernels().gini(entries, n, m, node_, least, best);
    }

  private:
    static constexpr Number kMost = (1 << 15) - 1;

    std::size_t classes_;
    bool judges_;
    Number most_ = 0;
    AbreastClasses node_{};
};

// Numbers by squared error, relative to the whole part of the node's mean as tree/criterion.hpp
// takes them.
class NumbersAbreast {
  public:
    explicit NumbersAbreast(const GrowthRules& rules)
        : judges_(rules.criterion == tree::Criterion::kSquared && !rules.fractional()) {}

    bool begin(const NumberBag& bag, const Growth& growth, std::size_t node, std::size_t first,
               std::size_t n) {
        const Number* cell = growth.cell(node);
        if (!judges_ || cell[0] > kMostExact) return false;
        if (target_.size() < n) {
            target_.resize(n);
            scratch_.resize(2 * kAbreast * n);
        }
        const Number whole = cell[1] / cell[0];
        for (std::size_t i = 0; i < n; ++i)
            target_[i] = bag.number(first)[i] - bag.weight(first)[i] * whole;
        node_ = {target_.data(), bag.weight(first), cell[1] - cell[0] * whole, cell[0],
                 scratch_.data()};
        return true;
    }
    void find(const std::uint64_t* entries, std::size_t n, std::size_t m, const AbreastLeast& least,
              AbreastCuts& best) const {
        forest_kernels().squared(entries, n, m, node_, least, best);
    }

  private:
    static constexpr Number kMostExact = (Number(1) << 52) - 1;

    bool judges_;
    AbreastNumbers node_{};
    std::vector<Number> target_, scratch_;
};

// Rows with weights of their own are looked at column by column.
class NoneAbreast {
  public:
    explicit NoneAbreast(const GrowthRules&) {}

    bool begin(const WeightedBag&, const Growth&, std::size_t, std::size_t, std::size_t) {
        return false;
    }
    void find(const std::uint64_t*, std::size_t, std::size_t, const AbreastLeast&,
              AbreastCuts&) const {}
};

template <typename Bag>
using Abreast = std::conditional_t<
    std::is_same_v<Bag, TaggedBag>, ClassesAbreast,
    std::conditional_t<std::is_same_v<Bag, NumberBag>, NumbersAbreast, NoneAbreast>>;

}  // namespace ceiba::forest
