// Histograms of a large node: target sums per code, for columns of few codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "forest/sample/in_bag_sample.hpp"

namespace ceiba::forest {

// Sums per code of some columns, added row by row.
template <typename Sample>
class CellHistogram {
  public:
    explicit CellHistogram(const TreeConfig& config) : size_(std::size_t(config.cell_size())) {}

    void begin(std::size_t codes, Number) { cells_.assign(codes * size_, 0); }
    template <typename CodeOf>
    void add(const Sample& sample, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        Number* cells = cells_.data() + first * size_;
        for (std::size_t i = 0; i < k; ++i)
            sample.add(cells + std::size_t(code(i)) * size_, begin + i);
    }
    const Number* cells() const { return cells_.data(); }

  private:
    std::size_t size_;
    std::vector<Number> cells_;
};

// Draws and rows of a class in one counter, so that there is one addition per row and the counters
// of a column stay in the first-level cache. Each takes half of the bits, so nodes of more than
// 2^16 - 1 draws use wide counters.
class ClassHistogram {
  public:
    explicit ClassHistogram(const TreeConfig& config) : classes_(std::size_t(config.n_classes)) {}

    void begin(std::size_t codes, Number draws) {
        codes_ = codes;
        wide_ = draws > 0xFFFF;
        (wide_ ? wide_counters_.assign(codes * classes_, 0)
               : counters_.assign(codes * classes_, 0));
    }
    template <typename CodeOf>
    void add(const CountedClassSample& sample, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        if (wide_)
            add_to(wide_counters_.data() + first * classes_, sample.items(begin), k, code);
        else
            add_to(counters_.data() + first * classes_, sample.items(begin), k, code);
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
            counters[std::size_t(code(i)) * classes + TaggedSource::label_of(items[i])] +=
                T(TaggedSource::count_of(items[i])) << kHalf<T> | 1;
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

// Target sums and, in the halves of one word, weights and rows, added together. Weights of more
// than 32 bits use plain cells.
class MomentHistogram {
  public:
    explicit MomentHistogram(const TreeConfig& config) : plain_(config) {}

    void begin(std::size_t codes, Number weight) {
        codes_ = codes;
        packs_ = weight <= kMax;
        packs_ ? sums_.assign(codes, Sums{0, 0}) : plain_.begin(codes, weight);
    }
    template <typename CodeOf>
    void add(const RegressionSample& sample, std::size_t begin, std::size_t k, std::size_t first,
             const CodeOf& code) {
        if (!packs_) return plain_.add(sample, begin, k, first, code);
        const Number* target = sample.weighted_target(begin);
        const Number* weight = sample.weight(begin);
        Sums* sums = sums_.data() + first;
        for (std::size_t i = 0; i < k; ++i)
            sums[std::size_t(code(i))] += Sums{target[i], weight[i] << 32 | 1};
    }
    const Number* cells() {
        if (!packs_) return plain_.cells();
        cells_.resize(codes_ * 3);
        Number* cell = cells_.data();
        for (const Sums& sums : sums_) {
            *cell++ = Number(std::uint64_t(sums[1]) >> 32);
            *cell++ = sums[0];
            *cell++ = sums[1] & kMax;
        }
        return cells_.data();
    }

  private:
    typedef Number Sums __attribute__((vector_size(2 * sizeof(Number))));
    static constexpr Number kMax = 0xFFFFFFFF;

    CellHistogram<RegressionSample> plain_;
    bool packs_ = false;
    std::size_t codes_ = 0;
    std::vector<Sums> sums_;
    std::vector<Number> cells_;
};

template <typename Sample>
using Histogram = std::conditional_t<std::is_same_v<Sample, CountedClassSample>, ClassHistogram,
                                     std::conditional_t<std::is_same_v<Sample, RegressionSample>,
                                                        MomentHistogram, CellHistogram<Sample>>>;

}  // namespace ceiba::forest
