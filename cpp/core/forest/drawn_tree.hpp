// A tree whose nodes look at a few drawn columns each, grown to its end by one thread.
//
// Codes lie row after row: the drawn columns of a row are then in one or two cache lines, and a
// node costs what its rows and drawn columns cost, whatever columns there are besides. Columns of
// few codes are counted in large nodes, all others are sorted.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "forest/bag.hpp"
#include "forest/columns_abreast.hpp"
#include "forest/entry_sort.hpp"
#include "forest/few_rows.hpp"
#include "parallel.hpp"
#include "tree/column_draw.hpp"
#include "tree/columns.hpp"

namespace ceiba::forest {

// Codes of all rows, row after row, and column after column as well.
template <typename Code>
struct RowCodes {
    const Code* codes = nullptr;
    const tree::Columns<Code>* by_column = nullptr;

    const Code* row(std::size_t i) const { return codes + i * by_column->count(); }
    const Code* column(std::size_t j) const { return by_column->column(j); }
    // Rows of a large node are not far from each other, and read best from their column.
    bool dense(std::size_t rows) const { return rows >= by_column->rows / 16; }
};

template <typename Code, typename Bag>
class DrawnTree {
  public:
    using Rows = typename Bag::Rows;

    DrawnTree(const RowCodes<Code>& codes, const GrowthRules& rules)
        : codes_(codes),
          columns_(codes.by_column->columns),
          few_(rules),
          abreast_(rules),
          counters_(rules) {
        every_ = rules.split.cuts == tree::CutRule::kEvery;
        for (const Column& column : columns_) ranks_ = ranks_ && column.gap() < kMostRanked;
    }

    // Grow a tree from its root: `growth` is empty, and tells by `used` what it may not test.
    void grow(Growth& growth, Bag& bag, Finder<Rows>& finder, Interrupt& interrupt, int thread) {
        begin(growth, bag, finder);
        finder.listen(&interrupt, thread);
        growth.add(0, 1);
        measure(growth, bag, 0, 0, bag.size());
        growth.rules.root_weight = double(growth.weight(0));
        open_.assign(1, {0, 0, bag.size()});
        while (!open_.empty() && !interrupt.stopped(thread)) {
            const Open node = open_.back();
            open_.pop_back();
            if (growth.nodes[node.node].reason == tree::Reason::kOpen) split(growth, bag, node);
        }
        finder.listen(nullptr);
    }

  private:
    // Rows of a node whose columns are looked at one by one, or side by side.
    static constexpr std::size_t kFew = 64, kSmall = 512;
    static constexpr std::uint32_t kMostRanked = 1u << (31 - kRankBits);

    struct Open {
        std::size_t node, begin, end;

        std::size_t size() const { return end - begin; }
    };
    // Entries of a column of one node, and their extreme codes.
    struct Gathered {
        LargeEntry* entries;
        std::uint32_t least, most;
    };

    // What a tree has of its own.
    void begin(const Growth& growth, const Bag& bag, Finder<Rows>& finder) {
        finder_ = &finder;
        allowed_ = allowed(growth);
        const tree::SplitRules& rules = growth.rules.split;
        few_.least_weight = rules.least_weight;
        least_ = {std::size_t(rules.least_rows), rules.least_weight};
    }

    static std::vector<std::int32_t> allowed(const Growth& growth) {
        std::vector<std::int32_t> found;
        for (std::size_t j = 0; j < growth.columns; ++j)
            if (!std::binary_search(growth.used.begin(), growth.used.end(), std::int32_t(j)))
                found.push_back(std::int32_t(j));
        return found;
    }

    void measure(Growth& growth, const Bag& bag, std::size_t node, std::size_t begin,
                 std::size_t end) {
        bag.measure(growth.cell(node), growth.nodes[node], begin, end);
        close_if_done(growth, node);
    }

    void close_if_done(Growth& growth, std::size_t node) {
        if (growth.count(node) > 0) growth.nodes[node].term = finder_->term(growth.cell(node));
        growth.close_if_done(node);
    }

    void split(Growth& growth, Bag& bag, const Open& node) {
        look(growth, bag, node);
        growth.decide(node.node, looked_at_, best_);
        if (growth.nodes[node.node].reason != tree::Reason::kSplit) return;
        growth.branch_out(node.node);
        part(growth, bag, node);
        growth.settle_gaps(node.node);
    }

    // The columns drawn first, and then others one by one as long as none can be split: as
    // tree/look.hpp, with the codes of the first ones gathered at once.
    void look(const Growth& growth, const Bag& bag, const Open& node) {
        const tree::Node& n = growth.nodes[node.node];
        const NodeCell cell{growth.cell(node.node), n.term, n.path};
        const auto asked = std::size_t(growth.rules.columns_a_node);
        const bool all = asked == 0;
        const auto begin_draw = [&] {
            draw_.begin(allowed_, growth.rules.seed ^ n.path, tree::kNodeColumns);
        };
        if (!all && node.size() == 2 && every_) {
            begin_draw();
            if (draw_for_two(bag, node)) return find(growth, bag, node, cell, 0);
        }
        looked_at_ = allowed_;
        if (!all) {
            begin_draw();
            looked_at_.resize(std::min(asked, allowed_.size()));
            for (std::int32_t& column : looked_at_) column = draw_.next();
        }
        best_.resize(looked_at_.size());
        find(growth, bag, node, cell, 0);
        const auto found = [&] { return best_.back().found(); };
        if (all || std::any_of(best_.begin(), best_.end(), [](auto& b) { return b.found(); }))
            return;
        while (draw_.more()) {
            looked_at_.push_back(draw_.next());
            best_.emplace_back();
            find(growth, bag, node, cell, looked_at_.size() - 1);
            if (found()) return;
        }
    }

    // Two rows can be parted in one way: the first drawn column that does has the best score, and
    // needs no other beside it. A third of the nodes of a tree of numbers have two rows. False
    // where a column must be asked how it parts them.
    bool draw_for_two(const Bag& bag, const Open& node) {
        const Code* first = codes_.row(bag.row(node.begin));
        const Code* second = codes_.row(bag.row(node.begin + 1));
        looked_at_.clear();
        while (looked_at_.empty() && draw_.more()) {
            const std::int32_t j = draw_.next();
            const std::uint32_t a = first[j], b = second[j];
            const Column& column = columns_[std::size_t(j)];
            if (a == b) continue;
            if (column.nominal || std::max(a, b) == column.gap()) return false;
            looked_at_.push_back(j);
        }
        best_.resize(looked_at_.size());
        return true;
    }

    // Candidates of the columns from the `first` one looked at on. In small nodes they are looked
    // at one by one until a split is perfect, which no other column can beat.
    void find(const Growth& growth, const Bag& bag, const Open& node, const NodeCell& cell,
              std::size_t first) {
        side_by_side_ = every_ && node.size() <= kSmall &&
                        abreast_.begin(bag, growth, node.node, node.begin, node.size());
        if (side_by_side_ || node.size() > kFew)
            return find_among(growth, bag, node, cell, first, best_.size());
        for (std::size_t a = first; a < best_.size(); ++a) {
            find_among(growth, bag, node, cell, a, a + 1);
            if (!perfect(growth, node, best_[a])) continue;
            best_.resize(a + 1);
            looked_at_.resize(a + 1);
        }
    }

    // Both branches are pure: their Gini terms are then their weights. Two rows that are parted are
    // pure by any criterion.
    static bool perfect(const Growth& growth, const Open& node, const Candidate& best) {
        if (!best.found()) return false;
        if (node.size() == 2) return true;
        return growth.rules.criterion == tree::Criterion::kGini &&
               best.terms == double(growth.weight(node.node));
    }

    void find_among(const Growth& growth, const Bag& bag, const Open& node, const NodeCell& cell,
                    std::size_t first, std::size_t last) {
        sorted_.clear();
        counted_.clear();
        for (std::size_t a = first; a < last; ++a) {
            best_[a].clear();
            const bool few = few_codes(columns_[std::size_t(looked_at_[a])], node.size());
            (few ? counted_ : sorted_).push_back(a);
        }
        if (!counted_.empty()) count(growth, bag, node, cell);
        if (side_by_side_) find_abreast(bag, node);
        if (sorted_.empty()) return;
        gather(bag, node, sorted_);
        for (std::size_t s = 0; s < sorted_.size(); ++s) {
            const std::size_t a = sorted_[s];
            const Column& column = columns_[std::size_t(looked_at_[a])];
            const Gathered& own = gathered_[s];
            if (own.least == own.most) continue;  // nothing to split, known or gap
            const LargeEntry* sorted = sort_(own.entries, node.size(), own.least, own.most);
            search(bag, node, cell, column, own.most, sorted, best_[a]);
        }
    }

    // ... of the numeric columns to sort, some at a time. Those with gaps are left to be looked at.
    void find_abreast(const Bag& bag, const Open& node) {
        left_.clear();
        lanes_.clear();
        for (const std::size_t a : sorted_) {
            const bool nominal = columns_[std::size_t(looked_at_[a])].nominal;
            (nominal ? left_ : lanes_).push_back(a);
        }
        std::swap(sorted_, left_);
        abreast_entries_.resize(std::max(abreast_entries_.size(), node.size() * kAbreast));
        for (std::size_t first = 0; first < lanes_.size(); first += kAbreast)
            find_lanes(bag, node,
                       {lanes_.data() + first, std::min(kAbreast, lanes_.size() - first)});
    }

    void find_lanes(const Bag& bag, const Open& node, std::span<const std::size_t> lanes) {
        if (ranks_ && node.size() <= kRanked)
            sort_by_rank(bag, node, lanes);
        else
            sort_in_buckets(bag, node, lanes);
        AbreastCuts cuts;
        const std::uint64_t* entries = abreast_entries_.data();
        abreast_.find(entries, node.size(), lanes.size(), least_, cuts);
        const std::uint64_t* last = entries + (node.size() - 1) * kAbreast;
        for (std::size_t c = 0; c < lanes.size(); ++c) {
            const std::size_t a = lanes[c];
            if (Tagged::code_of(last[c]) == columns_[std::size_t(looked_at_[a])].gap()) {
                sorted_.push_back(a);
                continue;
            }
            best_[a].seen = Tagged::code_of(entries[c]) != Tagged::code_of(last[c]);
            if (cuts.score[c] == Candidate{}.score) continue;
            best_[a].score = best_[a].terms = cuts.score[c];
            best_[a].cut = std::uint32_t(cuts.cut[c]);
            best_[a].next = std::uint32_t(cuts.next[c]);
            best_[a].shape = tree::Shape::kThreshold;
            best_[a].method = tree::Method::kThreshold;
        }
    }

    void sort_by_rank(const Bag& bag, const Open& node, std::span<const std::size_t> lanes) {
        alignas(64) std::int32_t keys[kAbreast * kRanked];
        std::uint32_t tag[kRanked];
        const Code* row[kRanked];
        const std::size_t n = node.size();
        for (std::size_t i = 0; i < n; ++i) {
            row[i] = codes_.row(bag.row(node.begin + i));
            tag[i] = bag.tag(node.begin, node.begin + i);
        }
        for (std::size_t c = 0; c < lanes.size(); ++c) {
            const auto j = std::size_t(looked_at_[lanes[c]]);
            for (std::size_t i = 0; i < n; ++i)
                keys[c * kRanked + i] = std::int32_t(row[i][j]) << kRankBits | std::int32_t(i);
        }
        forest_kernels().sort(keys, tag, n, lanes.size(), abreast_entries_.data());
    }

    void sort_in_buckets(const Bag& bag, const Open& node, std::span<const std::size_t> lanes) {
        gather(bag, node, lanes);
        for (std::size_t c = 0; c < lanes.size(); ++c) {
            const Gathered& own = gathered_[c];
            const LargeEntry* sorted = sort_(own.entries, node.size(), own.least, own.most);
            for (std::size_t i = 0; i < node.size(); ++i)
                abreast_entries_[i * kAbreast + c] = sorted[i];
        }
    }

    void search(const Bag& bag, const Open& node, const NodeCell& cell, const Column& column,
                std::uint32_t most, const LargeEntry* sorted, Candidate& best) {
        const std::span<const LargeEntry> entries(sorted, node.size());
        if constexpr (std::is_same_v<Bag, TaggedBag>)
            if (few_.suits(column, node.size(), most)) return few_.find(cell.cell, entries, best);
        bag.find(*finder_, cell, column, node.begin, entries, best);
    }

    // Clearing and scanning counters pays where there are many more rows than codes.
    static bool few_codes(const Column& column, std::size_t rows) {
        return rows >= 3 * (std::size_t(column.n_codes) + 1);
    }

    // body(codes, first place, how many) for some rows at a time, where codes(j)(i) is the code of
    // the i-th of them in column j: what is read of them comes into the first cache together, and
    // stays there while one column after the other is read.
    template <typename Body>
    void for_rows(const Bag& bag, const Open& node, const Body& body) const {
        constexpr std::size_t kTogether = 128;
        const bool dense = codes_.dense(node.size());
        std::uint32_t number[kTogether];
        const Code* row[kTogether];
        for (std::size_t begin = node.begin; begin < node.end; begin += kTogether) {
            const std::size_t k = std::min(kTogether, node.end - begin);
            if (dense) {
                for (std::size_t i = 0; i < k; ++i) number[i] = bag.row(begin + i);
                const auto codes = [&](std::size_t j) {
                    return
                        [own = codes_.column(j), &number](std::size_t i) { return own[number[i]]; };
                };
                body(codes, begin, k);
                continue;
            }
            for (std::size_t i = 0; i < k; ++i) {
                row[i] = codes_.row(bag.row(begin + i));
                __builtin_prefetch(row[i]);
            }
            body([&](std::size_t j) { return [j, &row](std::size_t i) { return row[i][j]; }; },
                 begin, k);
        }
    }

    void count(const Growth& growth, const Bag& bag, const Open& node, const NodeCell& cell) {
        std::size_t codes = 0;
        for (const std::size_t a : counted_)
            codes += columns_[std::size_t(looked_at_[a])].gap() + 1;
        counters_.begin(codes, growth.weight(node.node));
        for_rows(bag, node, [&](const auto& codes, std::size_t begin, std::size_t k) {
            std::size_t first = 0;
            for (const std::size_t a : counted_) {
                const auto j = std::size_t(looked_at_[a]);
                counters_.add(bag, begin, k, first, codes(j));
                first += std::size_t(columns_[j].gap()) + 1;
            }
        });
        const Number* own = counters_.cells();
        for (const std::size_t a : counted_) {
            const Column& column = columns_[std::size_t(looked_at_[a])];
            finder_->bins(cell, column, own, best_[a]);
            own += (std::size_t(column.gap()) + 1) * growth.size;
        }
    }

    // Entries of the columns to sort.
    void gather(const Bag& bag, const Open& node, std::span<const std::size_t> columns) {
        const std::size_t n = node.size(), m = columns.size();
        if (entries_.size() < n * m) entries_.resize(n * m);
        gathered_.resize(m);
        for (std::size_t s = 0; s < m; ++s) gathered_[s] = {entries_.data() + s * n, ~0u, 0};
        for_rows(bag, node, [&](const auto& codes, std::size_t begin, std::size_t k) {
            for (std::size_t s = 0; s < m; ++s)
                gather_column(bag, node, begin, k, codes(std::size_t(looked_at_[columns[s]])),
                              gathered_[s]);
        });
    }

    template <typename CodeOf>
    static void gather_column(const Bag& bag, const Open& node, std::size_t begin, std::size_t k,
                              const CodeOf& code_of, Gathered& own) {
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

    // Part the rows of a node that is split, and measure its branches.
    void part(Growth& growth, Bag& bag, const Open& node) {
        const tree::Node n = growth.nodes[node.node];
        if (n.branches == 2)
            part_in_two(growth, bag, node, n);
        else
            part_in_many(growth, bag, node, n);
        for (auto b = std::size_t(n.branches); b-- > 0;) {
            const auto child = std::size_t(n.child) + b;
            if (growth.nodes[child].reason == tree::Reason::kOpen)
                open_.push_back({child, node.begin + starts_[b], node.begin + starts_[b + 1]});
        }
    }

    void part_in_two(Growth& growth, Bag& bag, const Open& node, const tree::Node& n) {
        const auto j = std::size_t(n.column);
        std::size_t left;
        if (codes_.dense(node.size()))
            left = left_rows(growth, bag, node, n,
                             [own = codes_.column(j)](std::size_t row) { return own[row]; });
        else
            left = left_rows(growth, bag, node, n,
                             [this, j](std::size_t row) { return codes_.row(row)[j]; });
        starts_.assign({0, left, node.size()});
        measure_two(growth, bag, node, std::size_t(n.child));
    }

    // Part the rows of a node in two by their codes; tells how many go to the left.
    template <typename CodeOf>
    std::size_t left_rows(const Growth& growth, Bag& bag, const Open& node, const tree::Node& n,
                          const CodeOf& code_of) const {
        const std::uint32_t gap = columns_[std::size_t(n.column)].gap(), cut = n.cut;
        const auto part = [&](const auto& right) {
            return bag.part(node.begin, node.end,
                            [&](std::size_t row) { return right(std::uint32_t(code_of(row))); });
        };
        if (n.shape != tree::Shape::kThreshold)
            return part([&](std::uint32_t code) { return growth.branch(n, code, gap) != 0; });
        if (n.gap == 1) return part([cut](std::uint32_t code) { return code > cut; });
        return part([=](std::uint32_t code) { return (code > cut) & (code != gap); });
    }

    // Classes of the larger branch are what the smaller one leaves.
    void measure_two(Growth& growth, const Bag& bag, const Open& node, std::size_t child) {
        const std::size_t middle = node.begin + starts_[1];
        if constexpr (Bag::kClasses) {
            const bool left = middle - node.begin < node.end - middle;
            const std::size_t small = child + !left, large = child + left;
            measure(growth, bag, small, left ? node.begin : middle, left ? middle : node.end);
            for (std::size_t s = 0; s < growth.size; ++s)
                growth.cell(large)[s] = growth.cell(node.node)[s] - growth.cell(small)[s];
            close_if_done(growth, large);
        } else {
            measure(growth, bag, child, node.begin, middle);
            measure(growth, bag, child + 1, middle, node.end);
        }
    }

    void part_in_many(Growth& growth, Bag& bag, const Open& node, const tree::Node& n) {
        const auto branches = std::size_t(n.branches), j = std::size_t(n.column);
        const std::uint32_t gap = columns_[j].gap();
        starts_.assign(branches + 1, 0);
        to_.resize(node.size());
        for (std::size_t i = 0; i < node.size(); ++i) {
            const std::uint32_t code = codes_.row(bag.row(node.begin + i))[j];
            to_[i] = std::uint32_t(growth.branch(n, code, gap));
            ++starts_[to_[i] + 1];
        }
        for (std::size_t b = 1; b <= branches; ++b) starts_[b] += starts_[b - 1];
        next_ = starts_;
        for (std::uint32_t& to : to_) to = std::uint32_t(next_[to]++);
        bag.part(node.begin, to_);
        for (std::size_t b = 0; b < branches; ++b)
            measure(growth, bag, std::size_t(n.child) + b, node.begin + starts_[b],
                    node.begin + starts_[b + 1]);
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    FewRows few_;
    Abreast<Bag> abreast_;
    bool every_ = true, side_by_side_ = false, ranks_ = true;
    AbreastLeast least_{};
    std::vector<std::size_t> lanes_, left_;
    std::vector<std::uint64_t> abreast_entries_;
    Finder<Rows>* finder_ = nullptr;
    EntrySort sort_;
    tree::ColumnDraw draw_;
    std::vector<std::int32_t> allowed_, looked_at_;
    std::vector<Candidate> best_;
    std::vector<Open> open_;
    std::vector<std::size_t> sorted_, counted_;
    std::vector<Gathered> gathered_;
    std::vector<LargeEntry> entries_;
    typename Bag::Counters counters_;
    std::vector<std::size_t> starts_, next_;
    std::vector<std::uint32_t> to_;
};

}  // namespace ceiba::forest
