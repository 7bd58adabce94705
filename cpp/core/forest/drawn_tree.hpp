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
#include "forest/entry_sort.hpp"
#include "forest/few_rows.hpp"
#include "parallel.hpp"
#include "tree/column_draw.hpp"

namespace ceiba::forest {

// Codes of all rows, row after row.
template <typename Code>
struct RowCodes {
    const Code* codes = nullptr;
    std::size_t width = 0;

    const Code* row(std::size_t i) const { return codes + i * width; }
};

template <typename Code, typename Bag>
class DrawnTree {
  public:
    using Rows = typename Bag::Rows;

    DrawnTree(const RowCodes<Code>& codes, const std::vector<Column>& columns,
              const GrowthRules& rules, Finder<Rows>& finder)
        : codes_(codes), columns_(columns), few_(rules), finder_(finder) {}

    // Grow the tree from its root: `growth` is empty, and tells by `used` what it may not test.
    void grow(Growth& growth, Bag& bag, Interrupt& interrupt, int thread) {
        allowed_ = allowed(growth);
        right_.resize(bag.size());
        finder_.listen(&interrupt, thread);
        growth.add(0, 1);
        measure(growth, bag, 0, 0, bag.size());
        growth.rules.root_weight = double(growth.weight(0));
        open_.assign(1, {0, 0, bag.size()});
        while (!open_.empty() && !interrupt.stopped(thread)) {
            const Open node = open_.back();
            open_.pop_back();
            if (growth.nodes[node.node].reason == tree::Reason::kOpen) split(growth, bag, node);
        }
        finder_.listen(nullptr);
    }

  private:
    static constexpr std::size_t kFew =
        64;  // rows of a node whose columns are looked at one by one

    struct Open {
        std::size_t node, begin, end;

        std::size_t size() const { return end - begin; }
    };
    // Entries of a column of one node, and their extreme codes.
    struct Gathered {
        LargeEntry* entries;
        std::uint32_t least, most;
    };

    static std::vector<std::int32_t> allowed(const Growth& growth) {
        std::vector<std::int32_t> found;
        for (std::size_t j = 0; j < growth.columns; ++j)
            if (!std::binary_search(growth.used.begin(), growth.used.end(), std::int32_t(j)))
                found.push_back(std::int32_t(j));
        return found;
    }

    void measure(Growth& growth, const Bag& bag, std::size_t node, std::size_t begin,
                 std::size_t end) {
        Number* cell = growth.cell(node);
        tree::Node& n = growth.nodes[node];
        for (std::size_t i = begin; i < end; ++i) {
            bag.add(cell, i);
            bag.widen(n, i);
        }
        if (begin < end) n.term = finder_.term(cell);
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
        looked_at_ = allowed_;
        if (!all) {
            draw_.begin(allowed_, growth.rules.seed ^ n.path, tree::kNodeColumns);
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
        if (node.size() > kFew) return find_among(growth, bag, node, cell, first, best_.size());
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
        if (!counted_.empty()) count(growth.size, bag, node, cell);
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

    void search(const Bag& bag, const Open& node, const NodeCell& cell, const Column& column,
                std::uint32_t most, const LargeEntry* sorted, Candidate& best) {
        const std::span<const LargeEntry> entries(sorted, node.size());
        if constexpr (std::is_same_v<Bag, TaggedBag>)
            if (few_.suits(column, node.size(), most)) return few_.find(cell.cell, entries, best);
        bag.find(finder_, cell, column, node.begin, entries, best);
    }

    // Clearing and scanning counters pays where there are many more rows than codes.
    static bool few_codes(const Column& column, std::size_t rows) {
        return rows >= 3 * (std::size_t(column.n_codes) + 1);
    }

    // body(row pointers, first place, how many) for some rows at a time: their codes come into the
    // first cache together, and stay there while one column after the other is read.
    template <typename Body>
    void for_rows(const Bag& bag, const Open& node, const Body& body) const {
        constexpr std::size_t kTogether = 128;
        const Code* row[kTogether];
        for (std::size_t begin = node.begin; begin < node.end; begin += kTogether) {
            const std::size_t k = std::min(kTogether, node.end - begin);
            for (std::size_t i = 0; i < k; ++i) {
                row[i] = codes_.row(bag.row(begin + i));
                __builtin_prefetch(row[i]);
            }
            body(row, begin, k);
        }
    }

    void count(std::size_t size, const Bag& bag, const Open& node, const NodeCell& cell) {
        std::size_t codes = 0;
        for (const std::size_t a : counted_)
            codes += columns_[std::size_t(looked_at_[a])].gap() + 1;
        bins_.assign(codes * size, 0);
        for_rows(bag, node, [&](const Code* const* row, std::size_t begin, std::size_t k) {
            Number* own = bins_.data();
            for (const std::size_t a : counted_) {
                const auto j = std::size_t(looked_at_[a]);
                for (std::size_t i = 0; i < k; ++i)
                    bag.add(own + std::size_t(row[i][j]) * size, begin + i);
                own += (std::size_t(columns_[j].gap()) + 1) * size;
            }
        });
        const Number* own = bins_.data();
        for (const std::size_t a : counted_) {
            const Column& column = columns_[std::size_t(looked_at_[a])];
            finder_.bins(cell, column, own, best_[a]);
            own += (std::size_t(column.gap()) + 1) * size;
        }
    }

    // Entries of the columns to sort.
    void gather(const Bag& bag, const Open& node) {
        const std::size_t n = node.size(), m = sorted_.size();
        if (entries_.size() < n * m) entries_.resize(n * m);
        gathered_.resize(m);
        for (std::size_t s = 0; s < m; ++s) gathered_[s] = {entries_.data() + s * n, ~0u, 0};
        for_rows(bag, node, [&](const Code* const* row, std::size_t begin, std::size_t k) {
            for (std::size_t s = 0; s < m; ++s)
                gather_column(bag, node, row, begin, k, std::size_t(looked_at_[sorted_[s]]),
                              gathered_[s]);
        });
    }

    static void gather_column(const Bag& bag, const Open& node, const Code* const* row,
                              std::size_t begin, std::size_t k, std::size_t column, Gathered& own) {
        std::uint32_t least = own.least, most = own.most;
        LargeEntry* out = own.entries + (begin - node.begin);
        for (std::size_t i = 0; i < k; ++i) {
            const std::uint32_t code = row[i][column];
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
        const auto branches = std::size_t(n.branches);
        if (branches == 2)
            part_in_two(growth, bag, node, n);
        else
            part_in_many(growth, bag, node, n);
        for (std::size_t b = branches; b-- > 0;) {
            const std::size_t begin = node.begin + starts_[b], end = node.begin + starts_[b + 1];
            const auto child = std::size_t(n.child) + b;
            measure(growth, bag, child, begin, end);
            if (growth.nodes[child].reason == tree::Reason::kOpen)
                open_.push_back({child, begin, end});
        }
    }

    void part_in_two(const Growth& growth, Bag& bag, const Open& node, const tree::Node& n) {
        const auto j = std::size_t(n.column);
        const std::uint32_t gap = columns_[j].gap();
        std::size_t right = 0;
        const auto tell = [&](const auto& branch) {
            for (std::size_t i = 0; i < node.size(); ++i) {
                const std::uint32_t code = codes_.row(bag.row(node.begin + i))[j];
                right_[i] = branch(code);
                right += right_[i];
            }
        };
        if (n.shape == tree::Shape::kThreshold && n.gap == 1)
            tell([&](std::uint32_t code) { return std::uint8_t(code > n.cut); });
        else if (n.shape == tree::Shape::kThreshold)
            tell([&](std::uint32_t code) { return std::uint8_t(code > n.cut && code != gap); });
        else
            tell([&](std::uint32_t code) { return std::uint8_t(growth.branch(n, code, gap)); });
        starts_.assign({0, std::uint32_t(node.size() - right), std::uint32_t(node.size())});
        bag.part(node.begin, PartInTwo{node.size(), right_.data()});
    }

    void part_in_many(const Growth& growth, Bag& bag, const Open& node, const tree::Node& n) {
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
        for (std::uint32_t& to : to_) to = next_[to]++;
        bag.part(node.begin, PartInMany{to_});
    }

    const RowCodes<Code> codes_;
    const std::vector<Column>& columns_;
    FewRows few_;
    Finder<Rows>& finder_;
    EntrySort sort_;
    tree::ColumnDraw draw_;
    std::vector<std::int32_t> allowed_, looked_at_;
    std::vector<Candidate> best_;
    std::vector<Open> open_;
    std::vector<std::size_t> sorted_, counted_;
    std::vector<Gathered> gathered_;
    std::vector<LargeEntry> entries_;
    std::vector<Number> bins_;
    std::vector<std::uint32_t> starts_, next_, to_;
    std::vector<std::uint8_t> right_;
};

}  // namespace ceiba::forest
