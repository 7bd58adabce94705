// A candidate split of a column: its score, its shape and its thresholds.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tree/config.hpp"
#include "tree/split/cells.hpp"
#include "tree/split/monotonic.hpp"

namespace ceiba::tree {

enum class SplitShape : std::uint8_t { kNone, kThreshold, kKnown, kTable, kIntervals };
// How a split was found. Nominal columns: a prefix in the order of the mean (kOrdered), of the
// first principal component (kPrincipal) or of the medians (kMedian), all groupings (kExhaustive),
// or a branch per category (kMultiway).
enum class SearchMethod : std::uint8_t {
    kNone,
    kThreshold,
    kOrdered,
    kExhaustive,
    kPrincipal,
    kMedian,
    kMultiway,
    kIntervals
};

// Missing values go to the heavier branch, which is known once the branches have rows.
constexpr std::int32_t kHeavierBranch = -1;

// Smaller gains, in bits, are rounding errors.
constexpr double kGainRounding = 1e-9;

// The node whose splits are searched.
struct NodeCell {
    const Number* cell = nullptr;
    double term = 0;         // of the criterion
    std::uint64_t path = 1;  // the branches from the root, by which random draws are keyed
    double max_gain = 0;     // gain of pure branches, in terms; only for the category correction
    Bounds bounds = {};      // of the values of branches; only for monotonic constraints
};

// Gain, in terms, that a nominal column without information reaches: of n rows in C random groups
// the sum of squares between the groups is, on average, (C - 1) / (n - 1) of the total, and other
// impurities behave alike. One less is subtracted, because a threshold, or a column of two
// categories, gains as much by chance and is not corrected.
inline double chance_gain(double max_gain, std::size_t n_categories, std::size_t n_rows) {
    if (n_categories <= 2) return 0;
    return max_gain * double(n_categories - 2) / double(n_rows - 1);
}

// The best split of one column, or of a node.
//   kThreshold  codes <= threshold_code go to branch 0, others to 1; next_code is the next code
//   kKnown      known values go to branch 0, missing values to 1
//   kTable      the branch of each category in the node
//   kIntervals  codes <= thresholds[b].first go to branch b, others to the last
struct CandidateNumbers {
    double score = -std::numeric_limits<double>::infinity();
    double terms = 0;
    double correction = 0;   // subtracted from the terms when the gain is computed
    double chance_gain = 0;  // subtracted as well when columns are compared, but not from the gain
    double branch_xlog2x = 0;  // sum of x log2 x over the weights of the branches
    // Of integers its distance from the value below; NaN: the midpoint of the values on both sides.
    double threshold = std::numeric_limits<double>::quiet_NaN();
    std::uint32_t n_allowed = 0;  // candidates whose branches are large enough
    std::uint32_t threshold_code = 0;
    std::uint32_t next_code = 0;
    std::int32_t missing_branch = kHeavierBranch;
    std::int32_t n_branches = 2;
    std::uint32_t ties = 0;  // candidates with the same score as the best
    SplitShape shape = SplitShape::kNone;
    SearchMethod method = SearchMethod::kNone;
    bool has_candidates = false;      // there was a candidate, allowed or not
    bool column_varies = false;       // even if the grid has no threshold in its range
    bool no_gain = false;             // a candidate gained nothing after its correction
    bool breaks_constraints = false;  // the branches of a candidate broke monotonic constraints
    std::uint32_t n_categories = 0;   // of the column
};

struct Candidate : CandidateNumbers {
    std::vector<std::pair<std::uint32_t, std::int32_t>> table;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> thresholds;

    bool found() const { return shape != SplitShape::kNone; }

    // Reset, but keep the memory.
    void clear() {
        static_cast<CandidateNumbers&>(*this) = CandidateNumbers{};
        table.clear();
        thresholds.clear();
    }

    // Set a split between two neighboring codes; the score is the sum of the branches' terms.
    void split_between(std::uint32_t code, std::uint32_t code_above, double sum_of_terms) {
        score = terms = sum_of_terms;
        threshold_code = code;
        next_code = code_above;
        shape = SplitShape::kThreshold;
        method = SearchMethod::kThreshold;
    }

    // Compare with the score of another candidate; true if that is the best so far.
    bool update(double candidate_score) {
        if (candidate_score > score) {
            score = candidate_score;
            ties = 0;
            return true;
        }
        if (candidate_score == score) ++ties;
        return false;
    }
};

}  // namespace ceiba::tree
