// The best threshold of a few sorted rows of a bag, by Gini, in one loop.
//
// Most nodes of a forest have a few rows, and there the cost is what a search costs before its
// first row: the general search asks who judges, what gaps there are and which kernel to call. A
// column of eleven rows took 340 ns by it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tree/candidate.hpp"
#include "tree/columns.hpp"
#include "tree/finder.hpp"
#include "tree/growth.hpp"
#include "tree/source.hpp"

namespace ceiba::forest {

class FewRows {
  public:
    static constexpr std::size_t kMost = 256;

    explicit FewRows(const tree::GrowthRules& rules)
        : least_weight(rules.split.least_weight),
          suits_(rules.criterion == tree::Criterion::kGini &&
                 rules.split.cuts == tree::CutRule::kEvery),
          least_rows_(std::size_t(rules.split.least_rows)),
          left_(std::size_t(rules.classes)) {}

    tree::Number least_weight;  // of the branches of a cut

    // Whether rows of this column, with codes up to `most`, are searched as the general way would.
    bool suits(const tree::Column& column, std::size_t rows, std::uint32_t most) const {
        return suits_ && rows <= kMost && !column.nominal && most < column.gap();
    }

    // `known` are the class weights of the node.
    void find(const tree::Number* known, std::span<const tree::LargeEntry> sorted,
              tree::Candidate& best) {
        using tree::Number;
        using tree::Tagged;
        Number total = 0, squares = 0;
        for (std::size_t k = 0; k < left_.size(); ++k) {
            left_[k] = 0;
            total += known[k];
            squares += known[k] * known[k];
        }
        Number* left = left_.data();
        Number weight = 0, sum = 0, products = 0;
        const std::size_t n = sorted.size();
        for (std::size_t i = 0; i + 1 < n; ++i) {
            const std::size_t label = Tagged::label_of(sorted[i]);
            const Number w = Tagged::count_of(sorted[i]);
            sum += w * (2 * left[label] + w);
            products += w * known[label];
            left[label] += w;
            weight += w;
            const std::uint32_t code = Tagged::code_of(sorted[i]);
            const std::uint32_t next = Tagged::code_of(sorted[i + 1]);
            if (code == next) continue;
            best.seen = true;
            if (i + 1 < least_rows_ || n - i - 1 < least_rows_ ||
                std::min(weight, total - weight) < least_weight)
                continue;
            ++best.allowed;
            const double right = double(squares - 2 * products + sum);
            const double here = double(weight), there = double(total) - here;
            if (!best.offer(double(sum) / here + right / there)) continue;
            best.cut = code;
            best.next = next;
            best.shape = tree::Shape::kThreshold;
        }
        best.method = tree::Method::kThreshold;
        best.terms = best.score;
    }

  private:
    bool suits_;
    std::size_t least_rows_;
    std::vector<tree::Number> left_;
};

}  // namespace ceiba::forest
