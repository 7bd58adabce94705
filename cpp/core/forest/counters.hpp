// Histograms of a large node: what rows of every code add up to, in columns of few codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "forest/bag.hpp"

namespace ceiba::forest {

// Cells of the codes of some columns, added up row by row.
template <typename Bag>
class CellCounters {
  public:
    explicit CellCounters(const GrowthRules& rules) : size_(std::size_t(rules.cell_size())) {}

    void begin(std::size_t codes, Number) { cells_.assign(codes * size_, 0); }
    template <typename CodeOf>
    void add(const Bag& bag, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        Number* cells = cells_.data() + first * size_;
        for (std::size_t i = 0; i < k; ++i)
            bag.add(cells + std::size_t(code(i)) * size_, begin + i);
    }
    const Number* cells() const { return cells_.data(); }

  private:
    std::size_t size_;
    std::vector<Number> cells_;
};

// Draws and rows of every class in one counter: one addition a row, and counters of a column that
// stay in the first cache. They take half of the bits each, so that nodes of more draws than 16
// bits count need wide ones.
class DrawCounters {
  public:
    explicit DrawCounters(const GrowthRules& rules) : classes_(std::size_t(rules.classes)) {}

    void begin(std::size_t codes, Number draws) {
        codes_ = codes;
        wide_ = draws > 0xFFFF;
        (wide_ ? wide_counters_.assign(codes * classes_, 0)
               : counters_.assign(codes * classes_, 0));
    }
    template <typename CodeOf>
    void add(const TaggedBag& bag, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        if (wide_)
            add_to(wide_counters_.data() + first * classes_, bag.items(begin), k, code);
        else
            add_to(counters_.data() + first * classes_, bag.items(begin), k, code);
    }
    const Number* cells() {
        cells_.resize(codes_ * (classes_ + 1));
        wide_ ? unpack(wide_counters_.data()) : unpack(counters_.data());
        return cells_.data();
    }

  private:
    template <typename T>
    static constexpr int kHalf = 4 * sizeof(T);

    template <typename T, typename CodeOf>
    void add_to(T* counters, const std::uint64_t* items, std::size_t k, const CodeOf& code) const {
        const std::size_t classes = classes_;
        for (std::size_t i = 0; i < k; ++i)
            counters[std::size_t(code(i)) * classes + Tagged::label_of(items[i])] +=
                T(Tagged::count_of(items[i])) << kHalf<T> | 1;
    }
    template <typename T>
    void unpack(const T* counter) {
        Number* cell = cells_.data();
        for (std::size_t code = 0; code < codes_; ++code) {
            Number rows = 0;
            for (std::size_t k = 0; k < classes_; ++k, ++counter) {
                *cell++ = Number(*counter >> kHalf<T>);
                rows += Number(*counter & ((T(1) << kHalf<T>)-1));
            }
            *cell++ = rows;
        }
    }

    std::size_t classes_, codes_ = 0;
    bool wide_ = false;
    std::vector<std::uint32_t> counters_;
    std::vector<std::uint64_t> wide_counters_;
    std::vector<Number> cells_;
};

// Sums of numbers and, in the halves of one word, of weights and rows: both are added at once.
// Weights of more than 32 bits are left to plain cells.
class MomentCounters {
  public:
    explicit MomentCounters(const GrowthRules& rules) : plain_(rules) {}

    void begin(std::size_t codes, Number weight) {
        codes_ = codes;
        packs_ = weight <= kMost;
        packs_ ? sums_.assign(codes, Sums{0, 0}) : plain_.begin(codes, weight);
    }
    template <typename CodeOf>
    void add(const NumberBag& bag, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        if (!packs_) return plain_.add(bag, begin, k, first, code);
        const Number* number = bag.number(begin);
        const Number* weight = bag.weight(begin);
        Sums* sums = sums_.data() + first;
        for (std::size_t i = 0; i < k; ++i)
            sums[std::size_t(code(i))] += Sums{number[i], weight[i] << 32 | 1};
    }
    const Number* cells() {
        if (!packs_) return plain_.cells();
        cells_.resize(codes_ * 3);
        Number* cell = cells_.data();
        for (const Sums& own : sums_) {
            *cell++ = Number(std::uint64_t(own[1]) >> 32);
            *cell++ = own[0];
            *cell++ = own[1] & kMost;
        }
        return cells_.data();
    }

  private:
    typedef Number Sums __attribute__((vector_size(2 * sizeof(Number))));
    static constexpr Number kMost = 0xFFFFFFFF;

    CellCounters<NumberBag> plain_;
    bool packs_ = false;
    std::size_t codes_ = 0;
    std::vector<Sums> sums_;
    std::vector<Number> cells_;
};

template <typename Bag>
using Counters = std::conditional_t<
    std::is_same_v<Bag, TaggedBag>, DrawCounters,
    std::conditional_t<std::is_same_v<Bag, NumberBag>, MomentCounters, CellCounters<Bag>>>;

}  // namespace ceiba::forest
