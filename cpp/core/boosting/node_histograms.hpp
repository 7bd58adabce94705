// Histograms of the nodes of one boosted tree: sums of quantized gradients by column and code.
//
// The histogram of a branch is summed from its rows, or is that of its parent minus that of its
// sibling. Those of open nodes are kept (tree/grow/histogram_store.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "boosting/code_matrix.hpp"
#include "boosting/config.hpp"
#include "boosting/quantized.hpp"
#include "common/parallel.hpp"
#include "tree/grow/histogram_store.hpp"

namespace ceiba::boosting {

// Branches of at most this many (row, column, output) entries are summed by columns, each thread
// for columns of its own.
constexpr std::size_t kMaxEntriesByColumns = std::size_t(1) << 19;

template <typename Code, typename Layout>
class NodeHistograms {
    using Word = typename Layout::Word;
    using Histogram = tree::Histogram<Layout>;
    using Rows = std::span<const std::uint32_t>;

  public:
    // A node, its rows, and whether it may be split.
    struct Branch {
        std::size_t node;
        Rows rows;
        bool is_open;
    };

    // Histograms of two branches still to be summed: `smaller` from its rows; `larger` holds that
    // of the parent until `smaller` is subtracted. Null: nothing to sum.
    struct Unsummed {
        Rows rows;
        Word* smaller = nullptr;
        Word* larger = nullptr;
    };

    // `columns` are those that the tree may test, ascending; `values` and `store` are memory that
    // lives longer.
    NodeHistograms(const CodeMatrix<Code>& codes, std::size_t outputs,
                   std::span<const std::int32_t> columns, int threads, std::vector<Word>& values,
                   tree::HistogramStore<Layout>& store)
        : codes_(codes),
          outputs_(outputs),
          columns_(columns),
          threads_(threads),
          values_(values),
          store_(store) {
        store_.clear();
    }

    std::size_t n_cells() const { return codes_.n_cells() * outputs_; }
    bool contains(std::size_t node) const { return store_.contains(node); }
    void erase(std::size_t node) { store_.erase(node); }
    // Cells of a column, (code, output).
    const Word* cells(std::size_t node, std::size_t column) {
        return store_.at(node).words() + codes_.offset(column) * outputs_;
    }

    // Round the gradients of some rows, and return their sums.
    std::vector<GradientSum> quantize(const Gradients& gradients, const GradientScale& scale,
                                      Rows rows) {
        if (values_.size() < gradients.rows * outputs_) values_.resize(gradients.rows * outputs_);
        const Segments parts = segments(rows.size(), 16384);
        std::vector<GradientSum> sums(parts.count * outputs_);
        for_segments(
            parts, threads_for(4.0 * double(rows.size() * outputs_), threads_),
            [&](std::size_t s, int, Interrupt&) {
                GradientBlock block;
                Word words[GradientBlock::kRows];
                for_blocks(parts.begin(s), parts.end(s), [&](std::size_t i, std::size_t n) {
                    for (std::size_t k = 0; k < outputs_; ++k) {
                        block.load(gradients, rows.subspan(i, n), k);
                        block.round(scale.gradient_factor, scale.hessian_factor);
                        sums[s * outputs_ + k] += Layout::pack(block.quantized_gradient,
                                                               block.quantized_hessian, n, words);
                        for (std::size_t l = 0; l < n; ++l)
                            values_[rows[i + l] * outputs_ + k] = words[l];
                    }
                });
            });
        std::vector<GradientSum> totals(outputs_);
        for (std::size_t i = 0; i < sums.size(); ++i) totals[i % outputs_] += sums[i];
        return totals;
    }

    // Sum the rows of a node. The histogram of its sibling is not dropped for it.
    void add(std::size_t node, Rows rows, std::size_t sibling) {
        store_.put(node, sum(rows), sibling);
    }

    // Replace the histogram of a node by those of its branches. Large branches are summed here,
    // their rows distributed over the threads; small ones together with the search for splits,
    // in one parallel loop instead of two (100,000 rows, 63 leaves: 15 % of the time).
    Unsummed split(std::size_t node, const Branch& left, const Branch& right) {
        const bool is_first = left.rows.size() >= right.rows.size();
        const Branch& larger = is_first ? left : right;
        const Branch& smaller = is_first ? right : left;
        if (smaller.rows.size() * columns_.size() * outputs_ > kMaxEntriesByColumns ||
            !smaller.is_open || !contains(node)) {
            const auto branch = [&](std::size_t b) { return b == left.node ? left : right; };
            store_.split(
                node, left.node, right.node + 1, larger.node,
                [&](std::size_t b) { return branch(b).is_open; },
                [&](std::size_t b) { return sum(branch(b).rows); });
            return {};
        }
        Histogram histogram = store_.make(Layout(outputs_));
        histogram.resize(codes_.n_cells());
        store_.put(larger.node, store_.take(node));
        store_.put(smaller.node, std::move(histogram), larger.node);
        return {smaller.rows, store_.at(smaller.node).words(), store_.at(larger.node).words()};
    }

    // Sum the columns [first, last) of both branches.
    void sum_columns(const Unsummed& branches, std::size_t first, std::size_t last) const {
        const std::size_t begin = codes_.offset(first) * outputs_;
        const std::size_t end = codes_.offset(last) * outputs_;
        std::fill(branches.smaller + begin, branches.smaller + end, Word{});
        const auto position = [&](std::size_t column) {
            return std::lower_bound(columns_.begin(), columns_.end(), std::int32_t(column));
        };
        codes_.add(branches.rows, std::span(position(first), position(last)), values_.data(),
                   outputs_, branches.smaller);
        for (std::size_t i = begin; i < end; ++i) branches.larger[i] -= branches.smaller[i];
    }

    // Sums of the rows of a node with some codes, from the cells of their column.
    std::vector<GradientSum> sums_of(std::size_t node, std::int32_t column,
                                     const std::vector<std::uint32_t>& codes) {
        const Word* of_column = cells(node, std::size_t(column));
        std::vector<GradientSum> sums(outputs_);
        for (const std::uint32_t code : codes)
            for (std::size_t k = 0; k < outputs_; ++k)
                sums[k] += Layout::sum(of_column[code * outputs_ + k]);
        return sums;
    }

  private:
    // Sum rows that are distributed over the threads, each of which has a histogram of its own.
    Histogram sum(Rows rows) {
        Histogram total = store_.make(Layout(outputs_));
        total.begin(codes_.n_cells());
        const int threads =
            threads_for(2.0 * double(rows.size() * columns_.size() * outputs_), threads_);
        const Segments parts{rows.size(), std::size_t(threads)};
        std::vector<Histogram> others;
        for (int t = 1; t < threads; ++t) others.push_back(store_.make(Layout(outputs_)));
        for_segments(parts, threads, [&](std::size_t s, int, Interrupt&) {
            if (s > 0) others[s - 1].begin(codes_.n_cells());
            Histogram& part = s == 0 ? total : others[s - 1];
            codes_.add(rows.subspan(parts.begin(s), parts.end(s) - parts.begin(s)), columns_,
                       values_.data(), outputs_, part.words());
        });
        for (Histogram& other : others) {
            total.add(other);
            store_.recycle(std::move(other));
        }
        return total;
    }

    const CodeMatrix<Code>& codes_;
    std::size_t outputs_;
    std::span<const std::int32_t> columns_;
    int threads_;
    std::vector<Word>& values_;  // quantized gradients, (row, output)
    tree::HistogramStore<Layout>& store_;
};

}  // namespace ceiba::boosting
