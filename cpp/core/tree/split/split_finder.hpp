// Interface of the search for the best split of a column at a node.
//
// There is one implementation per criterion and kind of target. A finder has buffers, so every
// thread needs its own.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "common/parallel.hpp"
#include "tree/config.hpp"
#include "tree/encode/columns.hpp"
#include "tree/split/candidate.hpp"
#include "tree/split/criterion.hpp"

namespace ceiba::tree {

// Entry of a row in a small or a large node: code in the upper bits, position in the lower ones.
using SmallEntry = std::uint32_t;
using LargeEntry = std::uint64_t;
constexpr int kSmallBits = 16;
constexpr int kLargeBits = 32;

// Median of a node under absolute error.
struct MedianSummary {
    double median = 0;
    double deviation = 0;  // weighted sum of distances to it
};

template <typename Rows>
class SplitFinder {
  public:
    virtual ~SplitFinder() = default;

    // Set the interrupt that a long search checks.
    void set_interrupt(Interrupt* interrupt, int thread = 0) {
        interrupt_ = interrupt;
        thread_ = thread;
    }
    bool stopped() { return interrupt_ != nullptr && interrupt_->stopped(thread_); }

    // The node's term of the criterion; absolute error computes it from the rows instead.
    virtual double term(const Number* cell) const = 0;
    virtual bool needs_rows() const { return false; }
    virtual MedianSummary median_of(const Rows&, std::span<const std::uint32_t>) { return {}; }

    virtual void search_bins(const NodeCell&, const Column&, const Number* bins, Candidate&) = 0;
    virtual void search_labels(const NodeCell&, const Column&,
                               std::span<const std::uint32_t> sorted, int bits, Candidate&) = 0;
    // Entries of a bootstrap sample (TaggedSource); weighted classes only.
    virtual void search_tagged(const NodeCell&, const Column&, std::span<const LargeEntry> sorted,
                               Candidate&);
    virtual void search_small(const NodeCell&, const Column&, std::uint32_t missing_code,
                              const Rows&, std::span<const SmallEntry> sorted, Candidate&) = 0;
    virtual void search_large(const NodeCell&, const Column&, const Rows&,
                              std::span<const LargeEntry> sorted, Candidate&) = 0;

  private:
    Interrupt* interrupt_ = nullptr;
    int thread_ = 0;
};

template <typename Rows>
void SplitFinder<Rows>::search_tagged(const NodeCell&, const Column&, std::span<const LargeEntry>,
                                      Candidate&) {
    throw std::logic_error("tagged entries require weighted classes.");
}

// Arguments of make_split_finder.
struct SplitFinderSpec {
    Criterion criterion = Criterion::kGini;
    SplitConfig config;
    Xlog2x xlog2x;
    int n_classes = 0;
    bool has_fractional_weights = false;  // weights are not integers
    const double* values = nullptr;       // absolute error: target of each rank
    double target_center = 0;             // absolute error: center of all targets
    std::vector<double> target_factors;   // several outputs: see TreeConfig
};

inline SplitFinderSpec split_finder_spec(const TreeConfig& config) {
    SplitFinderSpec spec;
    spec.criterion = config.criterion;
    spec.config = config.split;
    spec.config.seed = config.seed;
    spec.n_classes = int(config.n_classes);
    spec.has_fractional_weights = config.has_fractional_weights();
    spec.target_center = config.target_center;
    spec.target_factors = config.target_factors;
    return spec;
}

// Table of x log2 x for every count that can occur; weights would need too large a table.
inline std::vector<double> xlog2x_table(const TreeConfig& config, std::size_t rows) {
    const bool logs = config.criterion == Criterion::kEntropy ||
                      config.criterion == Criterion::kGainRatio || config.split.n_intervals == 1;
    std::vector<double> table;
    if (!logs) return table;
    const std::size_t size = config.weighted ? std::min<std::size_t>(rows, 4096) : rows;
    table.resize(size + 1, 0.0);
    for (std::size_t x = 1; x <= size; ++x) table[x] = double(x) * std::log2(double(x));
    return table;
}

template <typename Rows>
std::unique_ptr<SplitFinder<Rows>> make_split_finder(const SplitFinderSpec& spec);

}  // namespace ceiba::tree
