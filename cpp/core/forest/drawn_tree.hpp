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
#include "forest/counters.hpp"
#include "forest/entry_sort.hpp"
#include "forest/few_rows.hpp"
#include "forest/forest.hpp"
#include "forest/parting.hpp"
#include "forest/small_node.hpp"
#include "forest/two_rows.hpp"
#include "parallel.hpp"
#include "tree/column_draw.hpp"

namespace ceiba::forest {

template <typename Code, typename Bag>
class DrawnTree {
  public:
    using Rows = typename Bag::Rows;

    DrawnTree(const RowCodes<Code>& codes, const GrowthRules& rules)
        : codes_(codes),
          columns_(codes.by_column->columns),
          every_(rules.split.cuts == tree::CutRule::kEvery),
          few_(rules),
          two_(codes, rules),
          small_(codes, rules),
          counters_(rules),
          parting_(codes) {}

    // Grow a tree from its root: `growth` is empty, and tells by `used` what it may not test. It
    // only ever holds the open nodes, those that are done are packed.
    void grow(Growth& growth, Bag& bag, Finder<Rows>& finder, TreePacker& packer,
              Interrupt& interrupt, int thread) {
        begin(growth, finder);
        finder.listen(&interrupt, thread);
        growth.add(0, 1);
        measure(growth, bag, 0, 0, bag.size());
        growth.rules.root_weight = double(growth.weight(0));
        open_.assign(1, {0, 0, bag.size(), packer.add(1)});
        if (growth.nodes[0].reason != tree::Reason::kOpen) close(growth, bag, packer);
        while (!open_.empty() && !interrupt.stopped(thread)) {
            const Open node = open_.back();
            if (node.size() == 2 && split_two(growth, bag, packer, node)) continue;
            look(growth, bag, node);
            growth.decide(node.node, looked_at_, best_);
            if (growth.nodes[node.node].reason == tree::Reason::kSplit)
                split(growth, bag, packer, node);
            else
                close(growth, bag, packer);
        }
        finder.listen(nullptr);
    }

  private:
    // Rows of a node whose columns are looked at one by one, where they are not side by side.
    static constexpr std::size_t kFew = 64;

    // The i-th of these is the i-th node of the growth.
    struct Open {
        std::size_t node, begin, end;
        std::int32_t number;

        std::size_t size() const { return end - begin; }
    };
    // Entries of a column of one node, and their extreme codes.
    struct Gathered {
        LargeEntry* entries;
        std::uint32_t least, most;
    };

    // What a tree has of its own.
    void begin(const Growth& growth, Finder<Rows>& finder) {
        finder_ = &finder;
        allowed_ = allowed(growth);
        few_.least_weight = growth.rules.split.least_weight;
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
        bag.measure(growth.cell(node), begin, end);
        close_if_done(growth, bag, node, begin, end);
    }

    void close_if_done(Growth& growth, const Bag& bag, std::size_t node, std::size_t begin,
                       std::size_t end) {
        tree::Node& n = growth.nodes[node];
        if (begin < end) n.term = finder_->term(growth.cell(node));
        if constexpr (!Bag::kClasses)
            if (begin < end && !bag.varies(begin, end)) bag.find_range(n, begin, begin + 1);
        growth.close_if_done(node);
    }

    // A leaf's own mean must not leave the range of its targets.
    void pack_leaf(Growth& growth, const Bag& bag, TreePacker& packer, const Open& leaf) {
        tree::Node& n = growth.nodes[leaf.node];
        if constexpr (!Bag::kClasses)
            if (n.reason != tree::Reason::kPure) bag.find_range(n, leaf.begin, leaf.end);
        packer.leaf(leaf.node, leaf.number);
    }

    // The last open node is a leaf.
    void close(Growth& growth, const Bag& bag, TreePacker& packer) {
        pack_leaf(growth, bag, packer, open_.back());
        open_.pop_back();
        growth.drop_to(open_.size());
    }

    void split(Growth& growth, Bag& bag, TreePacker& packer, const Open& node) {
        growth.add_branches(node.node);
        const std::vector<std::size_t>& starts = part(growth, bag, node);
        growth.settle_gaps(node.node);
        const tree::Node n = growth.nodes[node.node];
        const auto branches = std::size_t(n.branches);
        const std::int32_t number = packer.add(branches);
        packer.split(node.node, node.number, number);
        growth.tables.clear();
        open_.pop_back();
        // Open branches take the place of the node, the first one behind the others.
        for (std::size_t b = branches; b-- > 0;) {
            const std::size_t branch = std::size_t(n.child) + b;
            const Open its{branch, starts[b], starts[b + 1], number + std::int32_t(b)};
            if (growth.nodes[branch].reason == tree::Reason::kOpen) {
                growth.name(branch, n.path, b);
                open_.push_back(its);
            } else {
                pack_leaf(growth, bag, packer, its);
            }
        }
        move_down(growth, node.node);
    }

    // Put open nodes where they belong, from the one that takes the place of `first` on.
    void move_down(Growth& growth, std::size_t first) {
        // One or two of them do not meet on the way.
        for (std::size_t at = first; open_.size() > first + 2 && at < open_.size(); ++at)
            open_[at].node = growth.add_copy(open_[at].node);
        for (std::size_t at = first; at < open_.size(); ++at) {
            growth.copy(open_[at].node, at);
            open_[at].node = at;
        }
        growth.drop_to(open_.size());
    }

    bool split_two(Growth& growth, const Bag& bag, TreePacker& packer, const Open& node) {
        if (!two_.splits()) return false;
        begin_draw(growth, growth.nodes[node.node]);
        if (!two_.split(growth, bag, draw_, packer, node.node, node.begin, node.number))
            return false;
        open_.pop_back();
        growth.drop_to(open_.size());
        return true;
    }

    void begin_draw(const Growth& growth, const tree::Node& node) {
        draw_.begin(allowed_, growth.rules.seed ^ node.path, tree::kNodeColumns);
    }

    // The columns drawn first, and then others one by one as long as none can be split: as
    // tree/look.hpp, with the codes of the first ones gathered at once.
    void look(const Growth& growth, const Bag& bag, const Open& node) {
        const tree::Node& n = growth.nodes[node.node];
        const NodeCell cell{growth.cell(node.node), n.term, n.path};
        const auto asked = std::size_t(growth.rules.columns_a_node);
        const bool all = asked == 0;
        if (!all && node.size() == 2 && every_) {
            begin_draw(growth, n);
            const std::int32_t column = two_.part(bag, node.begin, draw_);
            if (column != two_.kAsk) {
                looked_at_.assign(column != two_.kNone, column);
                best_.resize(looked_at_.size());
                return find(growth, bag, node, cell, 0);
            }
        }
        looked_at_ = allowed_;
        if (!all) {
            begin_draw(growth, n);
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

    // Candidates of the columns from the `first` one looked at on. In small nodes they are looked
    // at one by one until a split is perfect, which no other column can beat.
    void find(const Growth& growth, const Bag& bag, const Open& node, const NodeCell& cell,
              std::size_t first) {
        side_by_side_ = small_.begin(bag, growth, node.node, node.begin, node.end);
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
        if (side_by_side_) find_abreast();
        if (sorted_.empty()) return;
        gather(bag, node);
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
    void find_abreast() {
        to_sort_.swap(sorted_);
        sorted_.clear();
        lanes_.clear();
        for (const std::size_t a : to_sort_) {
            if (columns_[std::size_t(looked_at_[a])].nominal)
                sorted_.push_back(a);
            else
                lanes_.push_back(a);
            if (lanes_.size() == kAbreast) find_lanes();
        }
        if (!lanes_.empty()) find_lanes();
    }

    void find_lanes() {
        std::int32_t columns[kAbreast];
        for (std::size_t c = 0; c < lanes_.size(); ++c) columns[c] = looked_at_[lanes_[c]];
        AbreastCuts cuts{};
        small_.find({columns, lanes_.size()}, cuts);
        for (std::size_t c = 0; c < lanes_.size(); ++c) {
            if (small_.most(c) == columns_[std::size_t(columns[c])].gap())
                sorted_.push_back(lanes_[c]);
            else
                note(cuts, c, best_[lanes_[c]]);
        }
        lanes_.clear();
    }

    void note(const AbreastCuts& cuts, std::size_t c, Candidate& best) const {
        best.seen = small_.least(c) != small_.most(c);
        if (cuts.score[c] == best.score) return;
        best.score = best.terms = cuts.score[c];
        best.cut = std::uint32_t(cuts.cut[c]);
        best.next = std::uint32_t(cuts.next[c]);
        best.shape = tree::Shape::kThreshold;
        best.method = tree::Method::kThreshold;
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

    void count(const Growth& growth, const Bag& bag, const Open& node, const NodeCell& cell) {
        std::size_t codes = 0;
        for (const std::size_t a : counted_)
            codes += columns_[std::size_t(looked_at_[a])].gap() + 1;
        counters_.begin(codes, growth.weight(node.node));
        codes_.for_rows(bag, node.begin, node.end,
                        [&](const auto& codes, std::size_t begin, std::size_t k) {
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
    void gather(const Bag& bag, const Open& node) {
        const std::size_t n = node.size(), m = sorted_.size();
        if (entries_.size() < n * m) entries_.resize(n * m);
        gathered_.resize(m);
        for (std::size_t s = 0; s < m; ++s) gathered_[s] = {entries_.data() + s * n, ~0u, 0};
        codes_.for_rows(
            bag, node.begin, node.end, [&](const auto& codes, std::size_t begin, std::size_t k) {
                for (std::size_t s = 0; s < m; ++s)
                    gather_column(bag, node, begin, k, codes(std::size_t(looked_at_[sorted_[s]])),
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
    const std::vector<std::size_t>& part(Growth& growth, Bag& bag, const Open& node) {
        const tree::Node n = growth.nodes[node.node];
        const std::vector<std::size_t>& starts =
            parting_.part(growth, bag, n, node.begin, node.end);
        const auto child = std::size_t(n.child), branches = std::size_t(n.branches);
        if (branches == 2)
            measure_two(growth, bag, node, child, starts[1]);
        else
            for (std::size_t b = 0; b < branches; ++b)
                measure(growth, bag, child + b, starts[b], starts[b + 1]);
        return starts;
    }

    // Sums of the larger branch are what the smaller one leaves.
    void measure_two(Growth& growth, const Bag& bag, const Open& node, std::size_t child,
                     std::size_t middle) {
        const bool left = middle - node.begin < node.end - middle;
        const std::size_t small = child + !left, large = child + left;
        measure(growth, bag, small, left ? node.begin : middle, left ? middle : node.end);
        for (std::size_t s = 0; s < growth.size; ++s)
            growth.cell(large)[s] = growth.cell(node.node)[s] - growth.cell(small)[s];
        close_if_done(growth, bag, large, left ? middle : node.begin, left ? node.end : middle);
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    bool every_, side_by_side_ = false;
    FewRows few_;
    TwoRows<Code, Bag> two_;
    SmallNode<Code, Bag> small_;
    Finder<Rows>* finder_ = nullptr;
    EntrySort sort_;
    tree::ColumnDraw draw_;
    std::vector<std::int32_t> allowed_, looked_at_;
    std::vector<Candidate> best_;
    std::vector<Open> open_;
    std::vector<std::size_t> sorted_, counted_, to_sort_, lanes_;
    std::vector<Gathered> gathered_;
    std::vector<LargeEntry> entries_;
    Counters<Bag> counters_;
    Parting<Code> parting_;
};

}  // namespace ceiba::forest
