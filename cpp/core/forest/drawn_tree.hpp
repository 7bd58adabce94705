// A tree whose nodes look at a few drawn columns each, grown to its end by one thread.
//
// Codes lie row after row: the drawn columns of a row are then in one or two cache lines, and a
// node costs what its rows and drawn columns cost, whatever columns there are besides.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forest/bag.hpp"
#include "forest/column_search.hpp"
#include "forest/forest.hpp"
#include "forest/parting.hpp"
#include "forest/two_rows.hpp"
#include "parallel.hpp"
#include "tree/column_draw.hpp"

namespace ceiba::forest {

template <typename Code, typename Bag>
class DrawnTree {
  public:
    using Rows = typename Bag::Rows;

    DrawnTree(const RowCodes<Code>& codes, const GrowthRules& rules)
        : every_(rules.split.cuts == tree::CutRule::kEvery),
          two_(codes, rules),
          search_(codes, rules),
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
        open_.assign(1, {{0, 0, bag.size()}, packer.add(1)});
        if (growth.nodes[0].reason != tree::Reason::kOpen) close(growth, bag, packer);
        while (!open_.empty() && !interrupt.stopped(thread)) {
            const Open node = open_.back();
            if (node.size() == 2 && split_two(growth, bag, packer, node)) continue;
            look(growth, bag, node);
            growth.decide(node.node, search_.looked_at, search_.best);
            if (growth.nodes[node.node].reason == tree::Reason::kSplit)
                split(growth, bag, packer, node);
            else
                close(growth, bag, packer);
        }
        finder.listen(nullptr);
    }

  private:
    // The i-th of these is the i-th node of the growth.
    struct Open : NodeRows {
        std::int32_t number;
    };

    // What a tree has of its own.
    void begin(const Growth& growth, Finder<Rows>& finder) {
        finder_ = &finder;
        allowed_ = allowed(growth);
        search_.begin_tree(growth, finder);
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
            const Open its{{branch, starts[b], starts[b + 1]}, number + std::int32_t(b)};
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
        const auto asked = std::size_t(growth.rules.columns_a_node);
        const bool all = asked == 0;
        if (!all && node.size() == 2 && every_) {
            begin_draw(growth, n);
            const std::int32_t column = two_.part(bag, node.begin, draw_);
            if (column == two_.kNone) return find(growth, bag, node, {});
            if (column != two_.kAsk) return find(growth, bag, node, {&column, 1});
        }
        if (all) return find(growth, bag, node, allowed_);
        begin_draw(growth, n);
        drawn_.resize(std::min(asked, allowed_.size()));
        for (std::int32_t& column : drawn_) column = draw_.next();
        find(growth, bag, node, drawn_);
        const auto& best = search_.best;
        if (std::any_of(best.begin(), best.end(), [](auto& b) { return b.found(); })) return;
        while (draw_.more()) {
            search_.looked_at.push_back(draw_.next());
            search_.best.emplace_back();
            search_.find(growth, bag, node, best.size() - 1);
            if (best.back().found()) return;
        }
    }

    void find(const Growth& growth, const Bag& bag, const Open& node,
              std::span<const std::int32_t> columns) {
        search_.looked_at.assign(columns.begin(), columns.end());
        search_.best.resize(columns.size());
        search_.find(growth, bag, node, 0);
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

    bool every_;
    TwoRows<Code, Bag> two_;
    ColumnSearch<Code, Bag> search_;
    Finder<Rows>* finder_ = nullptr;
    tree::ColumnDraw draw_;
    std::vector<std::int32_t> allowed_, drawn_;
    std::vector<Open> open_;
    Parting<Code> parting_;
};

}  // namespace ceiba::forest
