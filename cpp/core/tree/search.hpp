// The best split of one column at one node, from the cells of its runs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "simd/tree_kernels.hpp"
#include "tree/candidate.hpp"
#include "tree/columns.hpp"
#include "tree/criterion.hpp"
#include "tree/principal.hpp"
#include "tree/source.hpp"

namespace ceiba::tree {

// Groupings are searched one by one up to this many levels: 511 of them.
constexpr std::size_t kExhaustive = 10;

// Levels (and the gap, where it is one) with their cells.
struct Items {
    std::vector<std::uint32_t> codes;
    std::vector<Number> cells;

    std::size_t count() const { return codes.size(); }
};

template <typename Cells, typename Rule>
class Search {
  public:
    Search(const Cells& cells, const Rule& rule, const Xlog2x& xlog2x, const SplitRules& rules)
        : cells_(cells),
          rule_(rule),
          xlog2x_(xlog2x),
          rules_(rules),
          size_(std::size_t(cells.size())),
          buffer_(5 * size_) {}

    double term(const Number* cell) const { return rule_.term(cells_, cell, cells_.weight(cell)); }

    template <typename Source>
    void find(const NodeCell& node, const Column& column, Source source, Candidate& best) {
        node_ = node;
        gap_ = zeroed(0);
        source.add_gap(gap_);
        gaps_ = cells_.occupied(gap_);
        if (!source.more()) return;
        if (!column.nominal) {
            if constexpr (by_blocks<Source>())
                if (!gaps_ && cells_.weight(node_.cell) <= kMostSquared)
                    return in_blocks(source, best);
            return ordered(source, best);
        }
        collect(source);
        if (rules_.multiway)
            multiway(column, best);
        else
            grouped(column, best);
    }

  private:
    Number* zeroed(std::size_t place) {
        Number* cell = buffer_.data() + place * size_;
        std::fill_n(cell, size_, Number(0));
        return cell;
    }

    bool allowed(Number rows, Number weight) const {
        return rows >= rules_.least_rows && weight >= rules_.least_weight;
    }

    // Terms of a branch; false where the branch is too small.
    bool branch(const Number* cell, double& terms, double& weights) const {
        const Number weight = cells_.weight(cell);
        if (!allowed(cells_.count(cell), weight)) return false;
        terms += rule_.term(cells_, cell, weight);
        if (rules_.ratio) weights += xlog2x_(weight);
        return true;
    }

    // The number by which candidates are compared. Gain ratio: both gain and split information
    // carry the same factor 1 / weight of the node.
    double score(double terms, double weights) const {
        if (!rules_.ratio) return terms;
        const double information = xlog2x_(cells_.weight(node_.cell)) - weights;
        return information > 0 ? std::max(terms - node_.term, 0.0) / information : 0.0;
    }

    // A candidate of two branches, or three; true where it is the best so far.
    bool offer(Candidate& best, const Number* a, const Number* b, const Number* c = nullptr) const {
        best.seen = true;
        double terms = 0, weights = 0;
        if (!branch(a, terms, weights) || !branch(b, terms, weights)) return false;
        if (c != nullptr && !branch(c, terms, weights)) return false;
        if (!best.offer(score(terms, weights))) return false;
        best.terms = terms;
        best.branches = c == nullptr ? 2 : 3;
        return true;
    }

    Number* sum(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size_; ++s) out[s] = a[s] + b[s];
        return out;
    }
    Number* difference(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size_; ++s) out[s] = a[s] - b[s];
        return out;
    }

    // One cut of the known rows under the rule for gaps, where there are some: `take` notes it.
    template <typename Take>
    void cut(Candidate& best, const Number* left, const Number* right, Take take) {
        Number* with_gap = buffer_.data() + 4 * size_;
        if (rules_.gaps == GapRule::kBranch) {
            if (offer(best, left, right, gap_)) take(2);
        } else if (rules_.gaps == GapRule::kMajority) {
            const bool right_is_heavier = cells_.weight(right) > cells_.weight(left);
            const bool better = right_is_heavier ? offer(best, left, sum(with_gap, right, gap_))
                                                 : offer(best, sum(with_gap, left, gap_), right);
            if (better) take(right_is_heavier);
        } else {
            if (offer(best, sum(with_gap, left, gap_), right)) take(0);
            if (offer(best, left, sum(with_gap, right, gap_))) take(1);
        }
    }

    // Rows of weight 1, sorted, under a criterion whose scores are computed many at a time: Gini
    // and squared error.
    template <typename Source>
    static constexpr bool by_blocks() {
        constexpr bool sorted = requires(const Source& source) { source.known_rows(); } &&
                                (std::is_same_v<Rule, Gini> || !std::is_same_v<Source, Labels>);
        return sorted && !Cells::kWeighted &&
               (std::is_same_v<Rule, Gini> || std::is_same_v<Rule, SquaredError>);
    }

    // Sums of squared counts are exact in a double up to here, and so the same however added.
    static constexpr Number kMostSquared = 90'000'000;

    // The scan of `ordered` without gaps, in two steps a block: collect the cuts, then score them.
    // A cut then costs a fraction of the two divisions that it waits for one by one, and nothing
    // for each class.
    template <typename Source>
    void in_blocks(const Source& source, Candidate& best) {
        const auto n = std::uint32_t(source.known_rows());
        best.seen = source.code_at(0) != source.code_at(n - 1);
        if (!best.seen) return;
        const auto least = std::uint32_t(
            std::clamp<Number>(std::max(rules_.least_rows, rules_.least_weight), 1, n));
        begin_sums();
        std::uint32_t chosen = 0;
        for (std::uint32_t begin = 0; begin + 1 < n;) {
            const std::uint32_t end = std::min<std::uint32_t>(n - 1, begin + kBlock);
            const std::size_t cuts = collect_cuts(source, begin, end, least);
            begin = end;
            if (cuts > 0 && score_cuts(cuts, double(n), best)) chosen = cuts_.place[best_cut_];
        }
        if (chosen == 0) return;
        best.shape = Shape::kThreshold;
        best.method = Method::kThreshold;
        best.cut = source.code_at(chosen - 1);
        best.next = source.code_at(chosen);
        best.gap = kHeavier;
        best.terms = best.score;
        best.branches = 2;
    }

    // Nothing is on the left as yet.
    void begin_sums() {
        sums_[0] = 0;
        if constexpr (requires { cells_.classes(); }) {
            sums_[1] = 0;
            std::copy_n(node_.cell, size_, zeroed(2));
            zeroed(1);
            for (std::size_t k = 0; k < size_; ++k) sums_[1] += node_.cell[k] * node_.cell[k];
        } else {
            sums_[1] = node_.cell[1];
        }
    }

    // One more row on the left: a class that counts c there then adds 2 c + 1 to the squares.
    template <typename Source>
    void move_left(const Source& source, std::uint32_t i) {
        if constexpr (requires { cells_.classes(); }) {
            std::size_t label;
            if constexpr (requires { source.label_at(i); })
                label = source.label_at(i);
            else
                label = source.rows().label[source.row_at(i)];
            Number& left = buffer_[size_ + label];
            Number& right = buffer_[2 * size_ + label];
            sums_[0] += 2 * left++ + 1;
            sums_[1] -= 2 * right-- - 1;
        } else {
            const Number target = source.rows().target[source.row_at(i)];
            sums_[0] += target;
            sums_[1] -= target;
        }
    }

    // Cuts behind rows [begin, end) that leave enough rows on both sides. Each is written, and kept
    // by moving on: no branch to mispredict.
    template <typename Source>
    std::size_t collect_cuts(const Source& source, std::uint32_t begin, std::uint32_t end,
                             std::uint32_t least) {
        const auto n = std::uint32_t(source.known_rows());
        std::size_t m = 0;
        std::uint32_t code = source.code_at(begin);
        for (std::uint32_t i = begin; i < end; ++i) {
            move_left(source, i);
            const std::uint32_t next = source.code_at(i + 1), rows = i + 1;
            cuts_.place[m] = rows;
            cuts_.rows[m] = double(std::int32_t(rows));
            cuts_.left[m] = double(sums_[0]);
            cuts_.right[m] = double(sums_[1]);
            m += std::size_t((next != code) & (rows >= least) & (n - rows >= least));
            code = next;
        }
        return m;
    }

    // True where the best so far is among these cuts: `best_cut_`, the first of its score.
    bool score_cuts(std::size_t m, double n, Candidate& best) {
        const TreeKernels& kernels = tree_kernels();
        const auto score = std::is_same_v<Rule, Gini> ? kernels.gini : kernels.squared;
        score(cuts_.rows, cuts_.left, cuts_.right, n, m, scores_);
        const double largest = kernels.largest(scores_, m);
        if (largest < best.score) return false;
        bool better = false;
        for (std::size_t i = 0; i < m; ++i) {
            if (scores_[i] != largest || !best.offer(largest)) continue;
            better = true;
            best_cut_ = i;
        }
        return better;
    }

    // Numeric and ordinal columns: between every two neighbouring codes, from below.
    template <typename Source>
    void ordered(Source& source, Candidate& best) {
        Number* left = zeroed(1);
        Number* right = zeroed(2);
        Number* known = difference(zeroed(3), node_.cell, gap_);
        std::uint32_t code = source.code();
        const auto take = [&](std::int32_t gap, std::uint32_t next) {
            best.shape = Shape::kThreshold;
            best.method = Method::kThreshold;
            best.cut = code;
            best.next = next;
            best.gap = gap;
        };
        for (source.take(left); source.more(); source.take(left)) {
            const std::uint32_t next = source.code();
            difference(right, known, left);
            if (gaps_)
                cut(best, left, right, [&](std::int32_t gap) { take(gap, next); });
            else if (offer(best, left, right))
                take(kHeavier, next);
            code = next;
        }
        if (gaps_ && rules_.gaps != GapRule::kMajority && offer(best, known, gap_)) {
            take(1, code);
            best.shape = Shape::kKnown;
        }
    }

    template <typename Source>
    void collect(Source& source) {
        items_.codes.clear();
        items_.cells.clear();
        while (source.more()) {
            items_.codes.push_back(source.code());
            items_.cells.resize(items_.codes.size() * size_, 0);
            source.take(items_.cells.data() + items_.cells.size() - size_);
        }
    }

    const Number* item(std::size_t i) const { return items_.cells.data() + i * size_; }

    void grouped(const Column& column, Candidate& best) {
        const bool gap_is_item = gaps_ && rules_.gaps == GapRule::kLearned;
        if (gap_is_item) {
            items_.codes.push_back(column.gap());
            items_.cells.insert(items_.cells.end(), gap_, gap_ + size_);
        }
        const bool gap_apart = gaps_ && !gap_is_item;
        if (items_.count() >= 2) {
            if (exact_by_order())
                prefixes(column, Method::kOrdered, gap_apart, best);
            else if (items_.count() <= kExhaustive)
                subsets(column, gap_apart, best);
            else
                prefixes(column, Method::kPrincipal, gap_apart, best);
        }
        if (gap_apart && rules_.gaps == GapRule::kBranch) known_or_gap(column, best);
    }

    // Two classes or a mean to predict: some prefix of the levels in the order of the mean is best
    // among all groupings, for a concave impurity. The gain ratio divides that away.
    bool exact_by_order() const {
        if constexpr (requires { cells_.classes(); })
            return cells_.classes() <= 2 && !rules_.ratio;
        else
            return true;
    }

    void known_or_gap(const Column& column, Candidate& best) {
        Number* known = difference(zeroed(3), node_.cell, gap_);
        if (!offer(best, known, gap_)) return;
        note(column, Method::kOrdered, [](std::size_t) { return 0; }, 1, best);
    }

    template <typename Branch>
    void note(const Column& column, Method method, Branch branch, std::int32_t gap,
              Candidate& best) const {
        best.shape = Shape::kTable;
        best.method = method;
        best.gap = gap;
        best.table.assign(column.n_codes, -1);
        for (std::size_t i = 0; i < items_.count(); ++i) {
            if (items_.codes[i] == column.gap())
                best.gap = branch(i);
            else
                best.table[items_.codes[i]] = branch(i);
        }
    }

    void consider(const Number* left, const Number* right, bool gap_apart, Candidate& best,
                  const auto& take) {
        if (gap_apart)
            cut(best, left, right, take);
        else if (offer(best, left, right))
            take(kHeavier);
    }

    void prefixes(const Column& column, Method method, bool gap_apart, Candidate& best) {
        const std::vector<std::size_t> order = by_middle();
        Number* left = zeroed(1);
        Number* right = zeroed(2);
        for (std::size_t i = 0; i < items_.count(); ++i) sum(right, right, item(i));
        std::size_t most = 0;
        std::int32_t gap = kHeavier;
        for (std::size_t i = 0; i + 1 < order.size(); ++i) {
            sum(left, left, item(order[i]));
            difference(right, right, item(order[i]));
            consider(left, right, gap_apart, best, [&](std::int32_t its_gap) {
                most = i + 1;
                gap = its_gap;
            });
        }
        if (most == 0) return;
        std::vector<std::int32_t> side(items_.count(), 1);
        for (std::size_t i = 0; i < most; ++i) side[order[i]] = 0;
        note(column, method, [&](std::size_t i) { return side[i]; }, gap, best);
    }

    // Levels from the lowest to the highest share of the second class or mean; for more classes
    // along the first principal component of their class shares (Coppersmith, Hong & Hosking 1999).
    std::vector<std::size_t> by_middle() const {
        std::vector<double> middle;
        if constexpr (requires { cells_.classes(); }) {
            middle = principal_scores(items_.cells, size_, std::size_t(cells_.classes()));
        } else {
            for (std::size_t i = 0; i < items_.count(); ++i)
                middle.push_back(double(item(i)[1]) / double(item(i)[0]));
        }
        std::vector<std::size_t> order(items_.count());
        std::iota(order.begin(), order.end(), std::size_t(0));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return middle[a] < middle[b]; });
        return order;
    }

    void subsets(const Column& column, bool gap_apart, Candidate& best) {
        const std::size_t last = items_.count() - 1;
        std::uint32_t chosen = 0;
        std::int32_t gap = kHeavier;
        for (std::uint32_t subset = 1; subset < 1u << last; ++subset) {
            Number* left = zeroed(1);
            Number* right = zeroed(2);
            for (std::size_t i = 0; i <= last; ++i) {
                Number* side = subset >> i & 1 ? left : right;
                sum(side, side, item(i));
            }
            consider(left, right, gap_apart, best, [&](std::int32_t its_gap) {
                chosen = subset;
                gap = its_gap;
            });
        }
        if (chosen == 0) return;
        const auto side = [&](std::size_t i) { return chosen >> i & 1 ? 0 : 1; };
        note(column, Method::kExhaustive, side, gap, best);
    }

    // A branch for every level that the node has.
    void multiway(const Column& column, Candidate& best) {
        const std::size_t levels = items_.count();
        const bool own = gaps_ && (rules_.gaps == GapRule::kBranch ||
                                   (rules_.gaps == GapRule::kLearned && levels == 1));
        if (levels + own < 2) return;
        std::vector<std::size_t> hosts;  // branches that the gaps may join
        if (gaps_ && !own && rules_.gaps == GapRule::kLearned)
            for (std::size_t i = 0; i < levels; ++i) hosts.push_back(i);
        else if (gaps_ && !own)
            hosts.push_back(heaviest());
        if (hosts.empty()) hosts.push_back(levels);  // nobody's
        for (const std::size_t host : hosts) {
            if (!offer_branches(best, host, own)) continue;
            best.branches = std::int32_t(levels + own);
            const std::int32_t gap = own     ? std::int32_t(levels)
                                     : gaps_ ? std::int32_t(host)
                                             : kHeavier;
            note(
                column, Method::kMultiway, [](std::size_t i) { return std::int32_t(i); }, gap,
                best);
        }
    }

    bool offer_branches(Candidate& best, std::size_t host, bool own) {
        best.seen = true;
        double terms = 0, weights = 0;
        for (std::size_t i = 0; i < items_.count(); ++i) {
            const Number* cell = i == host ? sum(zeroed(1), item(i), gap_) : item(i);
            if (!branch(cell, terms, weights)) return false;
        }
        if (own && !branch(gap_, terms, weights)) return false;
        if (!best.offer(score(terms, weights))) return false;
        best.terms = terms;
        return true;
    }

    std::size_t heaviest() const {
        std::size_t best = 0;
        for (std::size_t i = 1; i < items_.count(); ++i)
            if (cells_.weight(item(i)) > cells_.weight(item(best))) best = i;
        return best;
    }

    Cells cells_;
    Rule rule_;
    Xlog2x xlog2x_;
    SplitRules rules_;
    NodeCell node_;
    std::size_t size_;
    std::vector<Number> buffer_;  // gap, left, right, known, one side with the gap
    Number* gap_ = nullptr;
    bool gaps_ = false;
    Items items_;
    static constexpr std::size_t kBlock = 512;
    Cuts<kBlock> cuts_;
    double scores_[kBlock];
    Number sums_[2] = {0, 0};  // left and right
    std::size_t best_cut_ = 0;
};

}  // namespace ceiba::tree
