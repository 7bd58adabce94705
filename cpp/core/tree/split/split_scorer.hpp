// Scoring of the candidate splits of a node, which keeps the best.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tree/split/candidate.hpp"
#include "tree/split/criterion.hpp"

namespace ceiba::tree {

template <typename Cells, typename CriterionTerm>
class SplitScorer {
  public:
    SplitScorer(const Cells& cells, const CriterionTerm& criterion, const Xlog2x& xlog2x,
                const SplitConfig& config)
        : cells(cells),
          config(config),
          size(std::size_t(cells.size())),
          criterion_(criterion),
          xlog2x_(xlog2x),
          missing_cell_(size),
          known_buffer_(size),
          with_missing_(size) {}

    const Cells cells;
    const SplitConfig config;
    const std::size_t size;  // of a cell

    // The term of a node by itself.
    double term(const Number* cell) const {
        CriterionTerm criterion = criterion_;
        criterion.begin(cells, cell);
        return criterion.term(cells, cell, cells.weight(cell));
    }

    // Start with a node and a column; the source provides the cell of missing values.
    template <typename Source>
    void begin(const NodeCell& node, const Column& column, const Source& source) {
        node_ = node;
        criterion_.begin(cells, node.cell);
        if constexpr (kConstrained) {
            criterion_.bounds = node.bounds;
            criterion_.sign = config.monotonic[column.index];
        }
        if (cells.occupied(missing_cell_.data()))
            std::fill(missing_cell_.begin(), missing_cell_.end(), Number(0));
        source.add_missing(missing_cell_.data());
        has_missing_ = cells.occupied(missing_cell_.data());
        known_correction_ = 0;
        known_cell_ = node.cell;
        if (!has_missing_) return;
        known_cell_ = difference(known_buffer_.data(), node.cell, missing_cell_.data());
        if (!config.ignores_missing()) return;
        has_missing_ = false;
        const Number weight = cells.weight(known());
        known_correction_ = (weight > 0 ? criterion_.term(cells, known(), weight) : 0) - node.term;
    }

    // Whether missing values take part in a split.
    bool has_missing() const { return has_missing_; }
    const Number* missing_cell() const { return missing_cell_.data(); }
    const Number* known() const { return known_cell_; }
    const Number* node() const { return node_.cell; }
    std::uint64_t path() const { return node_.path; }
    double max_gain() const { return node_.max_gain; }
    Number n_rows() const { return cells.count(node_.cell); }
    const CriterionTerm& criterion() const { return criterion_; }

    double weight_without_costs(const Number* cell) const {
        return config.weight_without_costs(cell, cells.weight(cell));
    }

    bool is_allowed(Number rows, Number weight) const {
        return rows >= config.min_rows && weight >= config.min_weight;
    }

    // Min weight on each side of a threshold (Quinlan: a tenth of the mean class weight, at most
    // 25).
    Number min_side_weight() const {
        if constexpr (kHasClasses) {
            if (config.min_side_fraction == 0) return 0;
            const double fraction = config.min_side_fraction * double(cells.weight(known())) /
                                    double(cells.n_classes());
            return std::min(config.max_min_side_weight, Number(std::ceil(fraction)));
        }
        return 0;
    }

    // Add the terms of a branch; false if the branch is too small.
    bool add_branch(const Number* cell, double& terms, double& branch_xlog2x) const {
        const Number weight = cells.weight(cell);
        if (!is_allowed(cells.count(cell), weight) || !is_defined(cell)) return false;
        add_terms(cell, weight, terms, branch_xlog2x);
        return true;
    }

    void add_terms(const Number* cell, Number weight, double& terms, double& branch_xlog2x) const {
        terms += criterion_.term(cells, cell, weight);
        if (config.gain_ratio) branch_xlog2x += xlog2x_(weight);
    }

    // The score by which candidates of one column are compared. With the average-gain guard a
    // column is represented by its largest gain, as in C4.5.
    double score(double terms, double branch_xlog2x) const {
        return config.gain_ratio && !config.above_average_gain ? gain_ratio(terms, branch_xlog2x)
                                                               : terms;
    }

    // Replace the score of the column's best candidate by one that is comparable between columns.
    void finalize(Candidate& best) const {
        if (!best.found()) return;
        best.correction += known_correction_;
        const double terms = best.terms - best.correction - best.chance_gain;
        const bool penalized = config.mdl_correction || best.chance_gain > 0;
        best.no_gain =
            penalized && terms - node_.term <= kGainRounding * double(cells.weight(node_.cell));
        if (best.no_gain) {
            best.shape = SplitShape::kNone;
            return;
        }
        if (config.gain_ratio && (config.above_average_gain || penalized))
            best.score = gain_ratio(terms + known_correction_, best.branch_xlog2x);
        else if (!config.gain_ratio && (config.ignores_missing() || penalized))
            best.score = terms;
    }

    // Try a split into two branches, or three; true if it is the best so far.
    bool try_split(Candidate& best, const Number* a, const Number* b,
                   const Number* c = nullptr) const {
        best.has_candidates = true;
        double terms = 0, branch_xlog2x = 0;
        if (!add_branch(a, terms, branch_xlog2x) || !add_branch(b, terms, branch_xlog2x))
            return false;
        if (c != nullptr && !add_branch(c, terms, branch_xlog2x)) return false;
        if constexpr (kConstrained) {
            if (!criterion_.allows(cells, a, b)) {
                best.breaks_constraints = true;
                return false;
            }
        }
        ++best.n_allowed;
        if (!best.update(score(terms, branch_xlog2x))) return false;
        best.terms = terms;
        best.branch_xlog2x = branch_xlog2x;
        best.n_branches = c == nullptr ? 2 : 3;
        return true;
    }

    Number* sum(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size; ++s) out[s] = a[s] + b[s];
        return out;
    }
    Number* difference(Number* out, const Number* a, const Number* b) const {
        for (std::size_t s = 0; s < size; ++s) out[s] = a[s] - b[s];
        return out;
    }

    // Try a split of the known rows under the missing-value policy; `take` records it.
    template <typename Take>
    void try_split_with_missing(Candidate& best, const Number* left, const Number* right,
                                Take take) {
        Number* with_missing = with_missing_.data();
        if (config.missing == MissingPolicy::kBranch) {
            if (try_split(best, left, right, missing_cell())) take(2);
        } else if (config.missing == MissingPolicy::kMajority) {
            const bool right_is_heavier = weight_without_costs(right) > weight_without_costs(left);
            const bool better =
                right_is_heavier ? try_split(best, left, sum(with_missing, right, missing_cell()))
                                 : try_split(best, sum(with_missing, left, missing_cell()), right);
            if (better) take(right_is_heavier);
        } else {
            if (try_split(best, sum(with_missing, left, missing_cell()), right)) take(0);
            if (try_split(best, left, sum(with_missing, right, missing_cell()))) take(1);
        }
    }

    static constexpr bool kHasClasses = requires(const Cells& cells) { cells.n_classes(); };
    static constexpr bool kConstrained = requires(const CriterionTerm& term) { term.bounds; };

  private:
    bool is_defined(const Number* cell) const {
        if constexpr (requires { criterion_.is_allowed(cells, cell); })
            return criterion_.is_allowed(cells, cell);
        return true;
    }

    // Gain over split information: both have the factor 1 / weight of the node. Fractional missing
    // values are one more branch (Quinlan 1993, section 3.2); rows routed by surrogates are not.
    double gain_ratio(double terms, double branch_xlog2x) const {
        const Number missing_weight = cells.weight(missing_cell_.data());
        double information = xlog2x_(cells.weight(node_.cell)) - branch_xlog2x;
        if (config.missing == MissingPolicy::kFractional && missing_weight > 0)
            information -= xlog2x_(missing_weight);
        double gain = std::max(terms - known_correction_ - node_.term, 0.0);
        if (config.missing == MissingPolicy::kSurrogate && missing_weight > 0) {
            const Number known_weight = cells.weight(known());
            information = xlog2x_(known_weight) - branch_xlog2x;
            gain *= double(known_weight) / double(cells.weight(node_.cell));
        }
        return information > 0 ? gain / information : 0.0;
    }

    CriterionTerm criterion_;
    Xlog2x xlog2x_;
    NodeCell node_;
    // Term of the known rows minus that of the node, if missing values are left out of scores.
    double known_correction_ = 0;
    std::vector<Number> missing_cell_, known_buffer_, with_missing_;
    // Cell of the known rows: the node's own if no value is missing.
    const Number* known_cell_ = nullptr;
    bool has_missing_ = false;
};

}  // namespace ceiba::tree
