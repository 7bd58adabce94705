// The best splits of some columns of one node, whatever its size.
//
// Columns of few codes are counted in large nodes, all others are sorted; in small nodes some are
// looked at side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "forest/bag.hpp"
#include "forest/counters.hpp"
#include "forest/entry_sort.hpp"
#include "forest/few_rows.hpp"
#include "forest/row_codes.hpp"
#include "forest/small_node.hpp"

namespace ceiba::forest {

template <typename Code, typename Bag>
class ColumnSearch {
  public:
    using Rows = typename Bag::Rows;

    ColumnSearch(const RowCodes<Code>& codes, const GrowthRules& rules)
        : codes_(codes),
          columns_(codes.by_column->columns),
          few_(rules),
          small_(codes, rules),
          counters_(rules) {}

    // Columns in the order in which they are looked at, and the best split of each.
    std::vector<std::int32_t> looked_at;
    std::vector<Candidate> best;

    void begin_tree(const Growth& growth, Finder<Rows>& finder) {
        finder_ = &finder;
        few_.least_weight = growth.rules.split.least_weight;
    }

    // Candidates of the columns from the `first` one looked at on. In small nodes they are looked
    // at one by one until a split is perfect, which no other column can beat.
    void find(const Growth& growth, const Bag& bag, const NodeRows& node, std::size_t first) {
        const tree::Node& n = growth.nodes[node.node];
        const NodeCell cell{growth.cell(node.node), n.term, n.path};
        side_by_side_ = small_.begin(bag, growth, node.node, node.begin, node.end);
        if (side_by_side_ || node.size() > kFew)
            return find_among(growth, bag, node, cell, first, best.size());
        for (std::size_t a = first; a < best.size(); ++a) {
            find_among(growth, bag, node, cell, a, a + 1);
            if (!perfect(growth, node, best[a])) continue;
            best.resize(a + 1);
            looked_at.resize(a + 1);
        }
    }

  private:
    // Rows of a node whose columns are looked at one by one, where they are not side by side.
    static constexpr std::size_t kFew = 64;

    // Entries of a column of one node, and their extreme codes.
    struct Gathered {
        LargeEntry* entries;
        std::uint32_t least, most;
    };

    // Both branches are pure: their Gini terms are then their weights. Two rows that are parted are
    // pure by any criterion.
    static bool perfect(const Growth& growth, const NodeRows& node, const Candidate& own) {
        if (!own.found()) return false;
        if (node.size() == 2) return true;
        return growth.rules.criterion == tree::Criterion::kGini &&
               own.terms == double(growth.weight(node.node));
    }

    void find_among(const Growth& growth, const Bag& bag, const NodeRows& node,
                    const NodeCell& cell, std::size_t first, std::size_t last) {
        sorted_.clear();
        counted_.clear();
        for (std::size_t a = first; a < last; ++a) {
            best[a].clear();
            const bool few = few_codes(columns_[std::size_t(looked_at[a])], node.size());
            (few ? counted_ : sorted_).push_back(a);
        }
        if (!counted_.empty()) count(growth, bag, node, cell);
        if (side_by_side_) find_abreast();
        if (sorted_.empty()) return;
        gather(bag, node);
        for (std::size_t s = 0; s < sorted_.size(); ++s) {
            const std::size_t a = sorted_[s];
            const Column& column = columns_[std::size_t(looked_at[a])];
            const Gathered& own = gathered_[s];
            if (own.least == own.most) continue;  // nothing to split, known or gap
            const LargeEntry* sorted = sort_(own.entries, node.size(), own.least, own.most);
            search(bag, node, cell, column, own.most, sorted, best[a]);
        }
    }

    // ... of the numeric columns to sort, some at a time. Those with gaps are left to be looked at.
    void find_abreast() {
        to_sort_.swap(sorted_);
        sorted_.clear();
        lanes_.clear();
        for (const std::size_t a : to_sort_) {
            if (columns_[std::size_t(looked_at[a])].nominal)
                sorted_.push_back(a);
            else
                lanes_.push_back(a);
            if (lanes_.size() == kAbreast) find_lanes();
        }
        if (!lanes_.empty()) find_lanes();
    }

    void find_lanes() {
        std::int32_t columns[kAbreast];
        for (std::size_t c = 0; c < lanes_.size(); ++c) columns[c] = looked_at[lanes_[c]];
        AbreastCuts cuts{};
        small_.find({columns, lanes_.size()}, cuts);
        for (std::size_t c = 0; c < lanes_.size(); ++c) {
            if (small_.most(c) == columns_[std::size_t(columns[c])].gap())
                sorted_.push_back(lanes_[c]);
            else
                note(cuts, c, best[lanes_[c]]);
        }
        lanes_.clear();
    }

    void note(const AbreastCuts& cuts, std::size_t c, Candidate& own) const {
        own.seen = small_.least(c) != small_.most(c);
        if (cuts.score[c] == own.score) return;
        own.split_between(std::uint32_t(cuts.cut[c]), std::uint32_t(cuts.next[c]), cuts.score[c]);
    }

    void search(const Bag& bag, const NodeRows& node, const NodeCell& cell, const Column& column,
                std::uint32_t most, const LargeEntry* sorted, Candidate& own) {
        const std::span<const LargeEntry> entries(sorted, node.size());
        if constexpr (std::is_same_v<Bag, TaggedBag>)
            if (few_.suits(column, node.size(), most)) return few_.find(cell.cell, entries, own);
        bag.find(*finder_, cell, column, node.begin, entries, own);
    }

    // Clearing and scanning counters pays where there are many more rows than codes.
    static bool few_codes(const Column& column, std::size_t rows) {
        return rows >= 3 * (std::size_t(column.n_codes) + 1);
    }

    void count(const Growth& growth, const Bag& bag, const NodeRows& node, const NodeCell& cell) {
        std::size_t codes = 0;
        for (const std::size_t a : counted_) codes += columns_[std::size_t(looked_at[a])].gap() + 1;
        counters_.begin(codes, growth.weight(node.node));
        codes_.for_rows(bag, node.begin, node.end,
                        [&](const auto& codes, std::size_t begin, std::size_t k) {
                            std::size_t first = 0;
                            for (const std::size_t a : counted_) {
                                const auto j = std::size_t(looked_at[a]);
                                counters_.add(bag, begin, k, first, codes(j));
                                first += std::size_t(columns_[j].gap()) + 1;
                            }
                        });
        const Number* own = counters_.cells();
        for (const std::size_t a : counted_) {
            const Column& column = columns_[std::size_t(looked_at[a])];
            finder_->bins(cell, column, own, best[a]);
            own += (std::size_t(column.gap()) + 1) * growth.size;
        }
    }

    // Entries of the columns to sort.
    void gather(const Bag& bag, const NodeRows& node) {
        const std::size_t n = node.size(), m = sorted_.size();
        if (entries_.size() < n * m) entries_.resize(n * m);
        gathered_.resize(m);
        for (std::size_t s = 0; s < m; ++s) gathered_[s] = {entries_.data() + s * n, ~0u, 0};
        codes_.for_rows(
            bag, node.begin, node.end, [&](const auto& codes, std::size_t begin, std::size_t k) {
                for (std::size_t s = 0; s < m; ++s)
                    gather_column(bag, node, begin, k, codes(std::size_t(looked_at[sorted_[s]])),
                                  gathered_[s]);
            });
    }

    template <typename CodeOf>
    static void gather_column(const Bag& bag, const NodeRows& node, std::size_t begin,
                              std::size_t k, const CodeOf& code_of, Gathered& own) {
        std::uint32_t least = own.least, most = own.most;
        LargeEntry* out = own.entries + (begin - node.begin);
        for (std::size_t i = 0; i < k; ++i) {
            const std::uint32_t code = code_of(i);
            out[i] = LargeEntry(code) << tree::kLargeBits | bag.tag(node.begin, begin + i);
            least = std::min(least, code);
            most = std::max(most, code);
        }
        own.least = least;
        own.most = most;
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    Finder<Rows>* finder_ = nullptr;
    FewRows few_;
    SmallNode<Code, Bag> small_;
    bool side_by_side_ = false;
    EntrySort sort_;
    std::vector<std::size_t> sorted_, counted_, to_sort_, lanes_;
    std::vector<Gathered> gathered_;
    std::vector<LargeEntry> entries_;
    Counters<Bag> counters_;
};

}  // namespace ceiba::forest
