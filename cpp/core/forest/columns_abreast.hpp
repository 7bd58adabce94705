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

// Where a row of a column stands.
inline std::size_t abreast(std::size_t row, std::size_t column) { return row * kAbreast + column; }

// Classes by Gini. The weights of all classes stand in one word, so that a class's weight on the
// left of a cut is a shift away and never goes through memory.
class ClassesAbreast {
  public:
    static constexpr std::size_t kMostRows = 1024;

    static bool judges(const GrowthRules& rules) {
        return rules.criterion == tree::Criterion::kGini && rules.classes >= 2 &&
               rules.classes <= 32;
    }
    // What the branches of two parted rows of a node come to, of which one has the lower code. They
    // are pure: the terms are their weights.
    static double terms_of_two(const TaggedBag& bag, const Number*, std::size_t lower,
                               std::size_t upper) {
        return double(bag.weight_of(lower) + bag.weight_of(upper));
    }

    explicit ClassesAbreast(const GrowthRules& rules)
        : classes_(std::size_t(rules.classes)), judges_(judges(rules)) {
        node_.bits = judges_ ? 64 / classes_ : 0;
        most_ = judges_ ? std::min<Number>((Number(1) << node_.bits) - 1, kMost) : 0;
    }

    // Take up the node of the next `n` rows; false where its weights are too large.
    bool begin(const TaggedBag&, const Growth& growth, std::size_t node, std::size_t,
               std::size_t n) {
        const Number total = growth.weight(node);
        if (!judges_ || total > most_) return false;
        const Number* cell = growth.cell(node);
        node_.known = node_.squares = 0;
        node_.total = std::uint64_t(total);
        for (std::size_t k = 0; k < classes_; ++k) {
            node_.known |= std::uint64_t(cell[k]) << k * node_.bits;
            node_.squares += std::uint64_t(cell[k] * cell[k]);
        }
        if (entries_.size() < n * kAbreast) entries_.resize(n * kAbreast);
        return true;
    }
    // The r-th row of a column is one with this code and tag.
    void put(std::size_t r, std::size_t column, std::uint32_t code, std::uint32_t tag) {
        entries_[abreast(r, column)] = std::uint64_t(code) << Tagged::kCodeShift | tag;
    }
    std::uint32_t code(std::size_t r, std::size_t column) const {
        return Tagged::code_of(entries_[abreast(r, column)]);
    }
    void find(std::size_t n, std::size_t m, const AbreastLeast& least, AbreastCuts& best) {
        node_.entries = entries_.data();
        forest_kernels().gini(node_, n, m, least, best);
    }

  private:
    static constexpr Number kMost = (1 << 15) - 1;

    std::size_t classes_;
    bool judges_;
    Number most_ = 0;
    AbreastClasses node_{};
    std::vector<std::uint64_t> entries_;
};

// Numbers by squared error, relative to the whole part of the node's mean as tree/criterion.hpp
// takes them. Tags are places in the node.
class NumbersAbreast {
  public:
    static constexpr std::size_t kMostRows = 1024;

    static bool judges(const GrowthRules& rules) {
        return rules.criterion == tree::Criterion::kSquared && !rules.fractional();
    }
    static double terms_of_two(const NumberBag& bag, const Number* cell, std::size_t lower,
                               std::size_t) {
        const Number whole = cell[1] / cell[0], weight = bag.weight_of(lower);
        const Number own = *bag.number(lower) - weight * whole;
        const double left = double(own), right = double(cell[1] - cell[0] * whole - own);
        return left / double(weight) * left + right / double(cell[0] - weight) * right;
    }

    explicit NumbersAbreast(const GrowthRules& rules) : judges_(judges(rules)) {}

    bool begin(const NumberBag& bag, const Growth& growth, std::size_t node, std::size_t first,
               std::size_t n) {
        const Number* cell = growth.cell(node);
        if (!judges_ || cell[0] > kMost) return false;
        if (own_.size() < n) {
            own_.resize(n);
            rows_.resize(2 * n * kAbreast);
        }
        own_weight_ = bag.weight(first);
        const Number* number = bag.number(first);
        const Number whole = cell[1] / cell[0];
        for (std::size_t i = 0; i < n; ++i) own_[i] = number[i] - own_weight_[i] * whole;
        sum_ = cell[1] - cell[0] * whole;
        total_ = cell[0];
        return true;
    }
    void put(std::size_t r, std::size_t column, std::uint32_t code, std::uint32_t tag) {
        std::uint64_t* row = rows_.data() + abreast(2 * r, column);
        row[0] = std::uint64_t(code) << 32 | std::uint64_t(own_weight_[tag]);
        row[kAbreast] = std::uint64_t(own_[tag]);
    }
    std::uint32_t code(std::size_t r, std::size_t column) const {
        return std::uint32_t(rows_[abreast(2 * r, column)] >> 32);
    }
    void find(std::size_t n, std::size_t m, const AbreastLeast& least, AbreastCuts& best) const {
        const AbreastNumbers node{rows_.data(), sum_, total_};
        forest_kernels().squared(node, n, m, least, best);
    }

  private:
    static constexpr Number kMost = (Number(1) << 32) - 1;

    bool judges_;
    Number sum_ = 0, total_ = 0;
    const Number* own_weight_ = nullptr;
    std::vector<Number> own_;
    std::vector<std::uint64_t> rows_;
};

// Rows with weights of their own are looked at column by column.
class NoneAbreast {
  public:
    static constexpr std::size_t kMostRows = 0;

    static bool judges(const GrowthRules&) { return false; }
    static double terms_of_two(const WeightedBag&, const Number*, std::size_t, std::size_t) {
        return 0;
    }

    explicit NoneAbreast(const GrowthRules&) {}

    bool begin(const WeightedBag&, const Growth&, std::size_t, std::size_t, std::size_t) {
        return false;
    }
    void put(std::size_t, std::size_t, std::uint32_t, std::uint32_t) {}
    std::uint32_t code(std::size_t, std::size_t) const { return 0; }
    void find(std::size_t, std::size_t, const AbreastLeast&, AbreastCuts&) const {}
};

template <typename Bag>
using Abreast = std::conditional_t<
    std::is_same_v<Bag, TaggedBag>, ClassesAbreast,
    std::conditional_t<std::is_same_v<Bag, NumberBag>, NumbersAbreast, NoneAbreast>>;

}  // namespace ceiba::forest
