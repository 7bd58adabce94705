// Histograms of a large node of a forest, in the narrowest layout that holds its weight.
#pragma once

#include <cstddef>
#include <type_traits>

#include "forest/sample/in_bag_sample.hpp"
#include "tree/grow/histogram_store.hpp"

namespace ceiba::forest {

// Layouts of the samples, for nodes up to the weight Narrow::kMaxWeight and above.
template <typename Sample>
struct HistogramLayouts {
    using Narrow = tree::PlainCells;
    using Wide = tree::PlainCells;
};
template <>
struct HistogramLayouts<CountedClassSample> {
    using Narrow = tree::ClassCounters<std::uint32_t>;
    using Wide = tree::ClassCounters<std::uint64_t>;
};
template <>
struct HistogramLayouts<RegressionSample> {
    using Narrow = tree::PackedMoments;
    using Wide = tree::PlainCells;
};

template <typename Sample>
class NodeHistogram {
  public:
    explicit NodeHistogram(const TreeConfig& config) : narrow_(config), wide_(config) {}

    // Start with empty sums of this many codes for a node of this weight.
    void begin(std::size_t n_codes, Number weight) {
        is_wide_ = weight > Narrow::kMaxWeight;
        is_wide_ ? wide_.begin(n_codes) : narrow_.begin(n_codes);
    }
    // Add the rows [begin, begin + n) of a sample to the column whose codes begin at `first`.
    template <typename CodeOf>
    void add(const Sample& sample, std::size_t begin, std::size_t n, std::size_t first,
             const CodeOf& code) {
        is_wide_ ? wide_.add(sample.view(begin), n, first, code)
                 : narrow_.add(sample.view(begin), n, first, code);
    }
    const Number* cells() { return is_wide_ ? wide_.cells() : narrow_.cells(); }

  private:
    using Narrow = typename HistogramLayouts<Sample>::Narrow;
    using Wide = typename HistogramLayouts<Sample>::Wide;

    bool is_wide_ = false;
    tree::Histogram<Narrow> narrow_;
    tree::Histogram<Wide> wide_;
};

}  // namespace ceiba::forest
