// Candidate splits, and the rules under which they are compared.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "tree/cells.hpp"

namespace ceiba::tree {

enum class Criterion : std::uint8_t { kGini, kEntropy, kGainRatio, kError, kSquared, kAbsolute };
enum class GapRule : std::uint8_t { kLearned, kBranch, kMajority };
enum class Shape : std::uint8_t { kLeaf, kThreshold, kKnown, kTable };
enum class Method : std::uint8_t {
    kNone,
    kThreshold,
    kOrdered,
    kExhaustive,
    kPrincipal,
    kMedian,
    kMultiway
};

// Gaps go to the heavier branch: decided when the branches are there.
constexpr std::int32_t kHeavier = -1;

// How a node may be split, as far as one (node, column) is concerned.
struct SplitRules {
    GapRule gaps = GapRule::kLearned;
    bool multiway = false;
    bool ratio = false;
    Number least_rows = 1;
    Number least_weight = 0;
};

// The node whose splits are looked for.
struct NodeCell {
    const Number* cell = nullptr;
    double term = 0;
};

// The best split of one column, or of a node.
//   kThreshold  codes <= cut are branch 0, the others 1; `next` is the first code above the cut
//   kKnown      known values are branch 0, gaps 1
//   kTable      the branch of each level that the node has
struct Candidate {
    double score = -std::numeric_limits<double>::infinity();
    double terms = 0;
    std::uint32_t cut = 0;
    std::uint32_t next = 0;
    std::int32_t gap = kHeavier;
    std::int32_t branches = 2;
    std::uint32_t ties = 0;
    Shape shape = Shape::kLeaf;
    Method method = Method::kNone;
    bool seen = false;         // there was a candidate, allowed or not
    std::uint32_t levels = 0;  // that the column has
    std::vector<std::pair<std::uint32_t, std::int32_t>> table;

    bool found() const { return shape != Shape::kLeaf; }

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
