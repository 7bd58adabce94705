// Split search in large nodes: bounds from coarse bins avoid the sorting of most rows.
//
// The rows of each column are summed in coarse bins, ranges of codes. The sums at both ends of a
// bin bound the score of every threshold inside, and only bins whose bound reaches the best score
// found between two bins are sorted. A column that cannot reach the best of the others is not
// sorted at all: its candidate may then be missing or be worse than its best, but the best split of
// the node is the one that sorting all rows finds.
// Bounds of bins in this way: Alsabti, Ranka & Singh (1998), "CLOUDS: a decision tree classifier
// for large datasets", KDD.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "forest/grow/coarse_sums.hpp"
#include "forest/grow/entry_sort.hpp"
#include "forest/grow/lane_search.hpp"
#include "forest/sample/in_bag_sample.hpp"

namespace ceiba::forest {

// Searches the numeric columns of a node together.
template <typename Sample>
class CoarseSearch {
  public:
    explicit CoarseSearch(const TreeConfig& config) : sums_(config), supported_(supports(config)) {}

    static bool supports(const TreeConfig& config) {
        return LaneSearch<Sample>::supports(config) &&
               config.split.threshold_grid == tree::ThresholdGrid::kEvery;
    }

    // Prepare a node; returns false if coarse bins do not apply.
    bool begin(const Sample& sample, const TreeBuilder& builder, const NodeRows& node) {
        n_columns_ = 0;
        best_score_ = -std::numeric_limits<double>::infinity();
        max_bins_ = std::min(sums_.max_bins(), std::bit_floor(node.size() / kRowsPerBin));
        if (!supported_ || max_bins_ < kMinBins) return false;
        const auto& split = builder.config.split;
        return sums_.begin(
            sample, builder, node,
            {Number(node.size()), builder.weight(node.node), split.min_rows, split.min_weight});
    }

    // Sum the entries of a column without missing values, in the order of the rows of the node.
    void add(std::span<const LargeEntry> entries, std::uint32_t min_code, std::uint32_t max_code,
             Candidate& best) {
        if (n_columns_ == columns_.size()) columns_.emplace_back();
        CoarseColumn& column = columns_[n_columns_++];
        column.entries = entries;
        column.bins = CoarseBins::of(min_code, max_code, max_bins_);
        column.best = &best;
        best.has_candidates = true;
        sums_.sum(entries, column.bins, column.sums);
        column.bound.resize(column.bins.count);
        for (std::size_t b = 0; b < column.bins.count; ++b) {
            const CoarseScores scores = sums_.scores(b, column.sums);
            column.bound[b] = scores.bound;
            best_score_ = std::max(best_score_, scores.at_end);
        }
    }

    // Find the best thresholds of the columns that can reach the best score.
    void find() {
        for (std::size_t c = 0; c < n_columns_; ++c) {
            CoarseColumn& column = columns_[c];
            if (!reserve_bins(column)) continue;
            collect_entries(column);
            for (std::size_t b = 0; b < column.bins.count; ++b)
                if (is_open(column, b)) search_bin(column, b);
            best_score_ = std::max(best_score_, column.best->score);
        }
    }

  private:
    static constexpr std::size_t kRowsPerBin = 8, kMinBins = 64;
    // Bounds are rounded differently from scores.
    static constexpr double kRounding = 1 + 1e-9;

    struct CoarseColumn {
        std::span<const LargeEntry> entries;
        CoarseBins bins;
        Candidate* best;
        typename CoarseSums<Sample>::Sums sums;
        std::vector<double> bound;
    };
    // Entries [begin, end) of a bin to sort.
    struct BinEntries {
        std::uint32_t begin, end;
        bool is_taken;
    };

    bool is_open(const CoarseColumn& column, std::size_t b) const {
        // A bin without an allowed threshold has no bound, a node without one no best score.
        return column.bound[b] > -std::numeric_limits<double>::infinity() &&
               column.bound[b] * kRounding >= best_score_;
    }

    // Reserve space for the entries of the open bins, and of the bins that follow them, for the
    // code above their last threshold. Returns false if there are none.
    bool reserve_bins(const CoarseColumn& column) {
        bins_.assign(column.bins.count, {0, 0, false});
        std::uint32_t begin = 0;
        bool follows = false;
        std::size_t before = 0;
        for (std::size_t b = 0; b < column.bins.count; ++b) {
            const std::size_t after = sums_.rows_before(b + 1, column.sums), rows = after - before;
            before = after;
            if (rows == 0) continue;
            const bool open = is_open(column, b);
            if (open || follows) {
                bins_[b] = {begin, begin, true};
                begin += std::uint32_t(rows);
            }
            follows = open;
        }
        if (collected_.size() < begin) collected_.resize(begin);
        return begin > 0;
    }

    void collect_entries(const CoarseColumn& column) {
        const CoarseBins bins = column.bins;
        for (const LargeEntry entry : column.entries) {
            BinEntries& own = bins_[bins.bin(entry)];
            if (own.is_taken) collected_[own.end++] = entry;
        }
    }

    void search_bin(CoarseColumn& column, std::size_t b) {
        const BinEntries& own = bins_[b];
        const std::size_t n = own.end - own.begin;
        const std::uint32_t first_code = column.bins.first_code(b);
        const std::uint32_t last_code = first_code + ((1u << column.bins.shift) - 1);
        const LargeEntry* sorted = sort_(collected_.data() + own.begin, n, first_code, last_code);
        sums_.begin_bin(b, column.sums);
        for (std::size_t i = 0; i < n; ++i) {
            sums_.move_left(sorted[i]);
            const std::uint32_t code = TaggedSource::code_of(sorted[i]);
            const std::uint32_t next =
                i + 1 < n ? TaggedSource::code_of(sorted[i + 1]) : code_behind(b, code);
            if (code == next || !sums_.is_allowed()) continue;
            const double score = sums_.score();
            if (score > column.best->score) column.best->split_between(code, next, score);
        }
    }

    // The smallest code behind a bin, or `code` if it is the last one.
    std::uint32_t code_behind(std::size_t b, std::uint32_t code) const {
        for (++b; b < bins_.size(); ++b) {
            const BinEntries& own = bins_[b];
            if (!own.is_taken) continue;
            const auto first = collected_.begin() + own.begin;
            return TaggedSource::code_of(*std::min_element(first, first + (own.end - own.begin)));
        }
        return code;
    }

    CoarseSums<Sample> sums_;
    bool supported_;
    EntrySorter sort_;
    std::size_t max_bins_ = 0, n_columns_ = 0;
    double best_score_ = 0;
    std::vector<CoarseColumn> columns_;
    std::vector<BinEntries> bins_;
    std::vector<LargeEntry> collected_;
};

}  // namespace ceiba::forest
