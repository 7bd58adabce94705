// Candidate splits, and the rules under which they are compared.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tree/cells.hpp"

namespace ceiba::tree {

enum class Criterion : std::uint8_t {
    kGini,
    kEntropy,
    kGainRatio,
    kError,
    kSquared,
    kAbsolute,
    kPoisson
};
// kFractional and kSurrogate judge a split by the rows that are known in its column.
enum class GapRule : std::uint8_t { kLearned, kBranch, kMajority, kFractional, kSurrogate };
enum class Shape : std::uint8_t { kLeaf, kThreshold, kKnown, kTable, kIntervals };
// Where a node cuts a numeric column: between any two neighbours, at numbers of its own, or at
// numbers that were given for the column.
enum class CutRule : std::uint8_t {
    kEvery,
    kQuantile,
    kEqualWidth,
    kMean,
    kMedian,
    kRandom,
    kGiven
};
enum class Method : std::uint8_t {
    kNone,
    kThreshold,
    kOrdered,
    kExhaustive,
    kPrincipal,
    kMedian,
    kMultiway,
    kIntervals
};

// Gaps go to the heavier branch: decided when the branches are there.
constexpr std::int32_t kHeavier = -1;

// Gains are bits: less than this is rounding.
constexpr double kNoGain = 1e-9;

// How a node may be split, as far as one (node, column) is concerned.
struct SplitRules {
    GapRule gaps = GapRule::kLearned;
    bool multiway = false;
    bool ratio = false;
    bool empty = false;  // multiway: levels that the node does not have get a branch, too
    bool two = false;    // multiway: two branches with enough rows are enough
    bool guard = false;  // gain ratio: columns are compared if they gain as much as the average
    bool mdl = false;    // a numeric cut pays for having been chosen among many
    Number least_rows = 1;
    Number least_weight = 0;
    Number most_least = 0;  // the weight that cut_share asks for is never more than this
    double cut_share = 0;   // of the known weight of a class, that each side of a cut needs
    double real_unit = 1;   // real weight of one
    CutRule cuts = CutRule::kEvery;
    std::int64_t n_cuts = 1;
    bool exact_values = false;   // codes stand for values, not for bins
    std::int64_t intervals = 0;  // of a numeric column; 0: two, 1: as many as MDL allows
    std::uint64_t seed = 0;

    // What each class's weight was multiplied by because of costs; empty: by nothing. Which branch
    // is the heavier is told without that.
    std::vector<double> factors;

    double heft(const Number* cell, Number weight) const {
        if (factors.empty()) return double(weight);
        double sum = 0;
        for (std::size_t k = 0; k < factors.size(); ++k) sum += double(cell[k]) / factors[k];
        return sum;
    }

    bool ignores_gaps() const { return gaps >= GapRule::kFractional; }
};

// The node whose splits are looked for.
struct NodeCell {
    const Number* cell = nullptr;
    double term = 0;
    std::uint64_t path = 1;
};

// The best split of one column, or of a node.
//   kThreshold  codes <= cut are branch 0, the others 1; `next` is the first code above the cut
//   kKnown      known values are branch 0, gaps 1
//   kTable      the branch of each level that the node has
//   kIntervals  codes <= cuts[b].first are branch b, the others the last; .second is the code above
struct CandidateNumbers {
    double score = -std::numeric_limits<double>::infinity();
    double terms = 0;
    double less = 0;     // what the terms count too much beside the node's own term
    double weights = 0;  // sum of x log2 x over the weights of the branches
    double at = std::numeric_limits<double>::quiet_NaN();  // the threshold, if it is no midpoint
    std::uint32_t allowed = 0;                             // candidates with branches large enough
    std::uint32_t cut = 0;
    std::uint32_t next = 0;
    std::int32_t gap = kHeavier;
    std::int32_t branches = 2;
    std::uint32_t ties = 0;
    Shape shape = Shape::kLeaf;
    Method method = Method::kNone;
    bool seen = false;         // there was a candidate, allowed or not
    bool varies = false;       // the column does, wherever it may be cut
    bool worthless = false;    // there was one that gains nothing once it has paid for its choice
    std::uint32_t levels = 0;  // that the column has
};

struct Candidate : CandidateNumbers {
    std::vector<std::pair<std::uint32_t, std::int32_t>> table;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> cuts;

    bool found() const { return shape != Shape::kLeaf; }

    // As new; memory that was had is kept.
    void clear() {
        static_cast<CandidateNumbers&>(*this) = CandidateNumbers{};
        table.clear();
        cuts.clear();
    }

    // Split between two neighbouring codes, into branches of these terms, which are the score.
    void split_between(std::uint32_t code, std::uint32_t above, double its_terms) {
        score = terms = its_terms;
        cut = code;
        next = above;
        shape = Shape::kThreshold;
        method = Method::kThreshold;
    }

    // Take note of a candidate; true where it is the best so far.
    bool offer(double its_score) {
        if (its_score > score) {
            score = its_score;
            ties = 0;
            return true;
        }
        if (its_score == score) ++ties;
        return false;
    }
};

}  // namespace ceiba::tree
