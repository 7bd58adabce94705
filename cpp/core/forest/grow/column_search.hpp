// Search for the best splits of some columns of one node.
//
// In large nodes, columns of few codes are counted into histograms, and the others are summed in
// coarse bins or sorted; in small nodes several columns are searched together in lanes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/grow/coarse_search.hpp"
#include "forest/grow/entry_sort.hpp"
#include "forest/grow/histograms.hpp"
#include "forest/grow/lane_search.hpp"
#include "forest/grow/row_codes.hpp"
#include "forest/sample/in_bag_sample.hpp"
#include "tree/grow/node_search.hpp"

namespace ceiba::forest {

template <typename Code, typename Sample>
class ColumnSearch {
  public:
    using Rows = typename Sample::Rows;

    ColumnSearch(const RowCodes<Code>& codes, const TreeConfig& config)
        : codes_(codes),
          columns_(codes.by_column->columns),
          small_node_(codes, config),
          coarse_(config),
          histogram_(config) {}

    tree::ColumnCandidates found;

    void begin_tree(SplitFinder<Rows>& finder) { finder_ = &finder; }

    // Find the candidates of the columns from `first` on. In small nodes columns are searched one
    // by one until a split is perfect, which no other column can beat.
    void find(const TreeBuilder& builder, const Sample& sample, const NodeRows& node,
              std::size_t first) {
        const NodeCell cell = builder.node_cell(node.node);
        use_lanes_ = small_node_.begin(sample, builder, node.node, node.begin, node.end);
        if (use_lanes_ || node.size() > kMaxOneByOne)
            return search_columns(builder, sample, node, cell, first, found.best.size());
        for (std::size_t a = first; a < found.best.size(); ++a) {
            search_columns(builder, sample, node, cell, a, a + 1);
            if (!is_perfect(builder, node, found.best[a])) continue;
            found.best.resize(a + 1);
            found.columns.resize(a + 1);
        }
    }

  private:
    // Rows between two checks for an interrupt; smaller nodes are not worth one.
    static constexpr std::size_t kCheckedRows = 1 << 14;

    bool stopped(const NodeRows& node, std::size_t row) {
        return node.size() >= kCheckedRows && row % kCheckedRows == 0 && finder_->stopped();
    }

    // Maximum rows of a node whose columns are searched one by one, where lanes do not apply.
    static constexpr std::size_t kMaxOneByOne = 64;

    // Entries of a column of one node, and their extreme codes.
    struct ColumnEntries {
        LargeEntry* entries;
        std::uint32_t min_code, max_code;
    };

    // Both branches are pure, so that their Gini terms equal their weights. Two separated rows are
    // pure by any criterion.
    static bool is_perfect(const TreeBuilder& builder, const NodeRows& node,
                           const Candidate& candidate) {
        if (!candidate.found()) return false;
        if (node.size() == 2) return true;
        return builder.config.criterion == tree::Criterion::kGini && candidate.chance_gain == 0 &&
               candidate.terms == double(builder.weight(node.node));
    }

    void search_columns(const TreeBuilder& builder, const Sample& sample, const NodeRows& node,
                        const NodeCell& cell, std::size_t first, std::size_t last) {
        sorted_.clear();
        counted_.clear();
        for (std::size_t a = first; a < last; ++a) {
            const bool use_histogram =
                counting_pays(columns_[std::size_t(found.columns[a])], node.size());
            (use_histogram ? counted_ : sorted_).push_back(a);
        }
        if (!counted_.empty() && !count_columns(builder, sample, node, cell)) return;
        if (use_lanes_) search_lanes();
        if (sorted_.empty()) return;
        if (!gather(sample, node)) return;
        const bool use_bins = !use_lanes_ && coarse_.begin(sample, builder, node);
        for (std::size_t s = 0; s < sorted_.size(); ++s) {
            if (stopped(node, 0)) return;
            const std::size_t a = sorted_[s];
            const Column& column = columns_[std::size_t(found.columns[a])];
            const ColumnEntries& column_entries = column_entries_[s];
            if (column_entries.min_code == column_entries.max_code)
                continue;  // constant, observed or missing
            if (use_bins && !column.nominal && column_entries.max_code < column.missing_code()) {
                coarse_.add({column_entries.entries, node.size()}, column_entries.min_code,
                            column_entries.max_code, found.best[a]);
                continue;
            }
            const LargeEntry* sorted = sort_(column_entries.entries, node.size(),
                                             column_entries.min_code, column_entries.max_code);
            sample.find(*finder_, cell, column, node.begin, {sorted, node.size()}, found.best[a]);
        }
        if (use_bins) coarse_.find();
    }

    // Search the numeric columns to sort in groups of lanes. Columns with missing values stay in
    // sorted_ for the general search.
    void search_lanes() {
        to_sort_.swap(sorted_);
        sorted_.clear();
        lane_columns_.clear();
        for (const std::size_t a : to_sort_) {
            if (columns_[std::size_t(found.columns[a])].nominal)
                sorted_.push_back(a);
            else
                lane_columns_.push_back(a);
            if (lane_columns_.size() == kColumnLanes) search_lane_group();
        }
        if (!lane_columns_.empty()) search_lane_group();
    }

    void search_lane_group() {
        std::int32_t columns[kColumnLanes];
        for (std::size_t c = 0; c < lane_columns_.size(); ++c)
            columns[c] = found.columns[lane_columns_[c]];
        LaneThresholds thresholds{};
        small_node_.find({columns, lane_columns_.size()}, thresholds);
        for (std::size_t c = 0; c < lane_columns_.size(); ++c) {
            if (small_node_.max_code(c) == columns_[std::size_t(columns[c])].missing_code())
                sorted_.push_back(lane_columns_[c]);
            else
                record_threshold(thresholds, c, found.best[lane_columns_[c]]);
        }
        lane_columns_.clear();
    }

    void record_threshold(const LaneThresholds& thresholds, std::size_t c,
                          Candidate& candidate) const {
        candidate.has_candidates = small_node_.min_code(c) != small_node_.max_code(c);
        if (thresholds.score[c] == candidate.score) return;
        candidate.split_between(std::uint32_t(thresholds.threshold[c]),
                                std::uint32_t(thresholds.next[c]), thresholds.score[c]);
    }

    // Clearing and scanning histograms pays off where there are many more rows than codes.
    static bool counting_pays(const Column& column, std::size_t rows) {
        return rows >= 3 * (std::size_t(column.n_codes) + 1);
    }

    // Count the bins of columns and search them; false if it was interrupted.
    bool count_columns(const TreeBuilder& builder, const Sample& sample, const NodeRows& node,
                       const NodeCell& cell) {
        std::size_t codes = 0;
        for (const std::size_t a : counted_)
            codes += columns_[std::size_t(found.columns[a])].missing_code() + 1;
        histogram_.begin(codes, builder.weight(node.node));
        const bool complete = codes_.for_rows(
            sample, node.begin, node.end, [&](const auto& codes, std::size_t begin, std::size_t k) {
                if (stopped(node, begin - node.begin)) return false;
                std::size_t first = 0;
                for (const std::size_t a : counted_) {
                    const auto j = std::size_t(found.columns[a]);
                    histogram_.add(sample, begin, k, first, codes(j));
                    first += std::size_t(columns_[j].missing_code()) + 1;
                }
                return true;
            });
        if (!complete) return false;
        const Number* cells = histogram_.cells();
        for (const std::size_t a : counted_) {
            const Column& column = columns_[std::size_t(found.columns[a])];
            finder_->search_bins(cell, column, cells, found.best[a]);
            cells += (std::size_t(column.missing_code()) + 1) * builder.size;
        }
        return true;
    }

    // Gather the entries of the columns to sort; false if it was interrupted.
    bool gather(const Sample& sample, const NodeRows& node) {
        const std::size_t n = node.size(), m = sorted_.size();
        if (entries_.size() < n * m) entries_.resize(n * m);
        column_entries_.resize(m);
        for (std::size_t s = 0; s < m; ++s) column_entries_[s] = {entries_.data() + s * n, ~0u, 0};
        return codes_.for_rows(sample, node.begin, node.end,
                               [&](const auto& codes, std::size_t begin, std::size_t k) {
                                   if (stopped(node, begin - node.begin)) return false;
                                   for (std::size_t s = 0; s < m; ++s)
                                       gather_column(sample, node, begin, k,
                                                     codes(std::size_t(found.columns[sorted_[s]])),
                                                     column_entries_[s]);
                                   return true;
                               });
    }

    template <typename CodeOf>
    static void gather_column(const Sample& sample, const NodeRows& node, std::size_t begin,
                              std::size_t k, const CodeOf& code_of, ColumnEntries& column_entries) {
        std::uint32_t min_code = column_entries.min_code, max_code = column_entries.max_code;
        LargeEntry* out = column_entries.entries + (begin - node.begin);
        for (std::size_t i = 0; i < k; ++i) {
            const std::uint32_t code = code_of(i);
            out[i] = LargeEntry(code) << tree::kLargeBits | sample.tag(node.begin, begin + i);
            min_code = std::min(min_code, code);
            max_code = std::max(max_code, code);
        }
        column_entries.min_code = min_code;
        column_entries.max_code = max_code;
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    SplitFinder<Rows>* finder_ = nullptr;
    SmallNodeSearch<Code, Sample> small_node_;
    bool use_lanes_ = false;
    CoarseSearch<Sample> coarse_;
    EntrySorter sort_;
    std::vector<std::size_t> sorted_, counted_, to_sort_, lane_columns_;
    std::vector<ColumnEntries> column_entries_;
    std::vector<LargeEntry> entries_;
    NodeHistogram<Sample> histogram_;
};

}  // namespace ceiba::forest
