// Bootstrap and subsample of the training rows of a tree, keyed by (seed of the tree, draw number).
//
// No draw depends on another, so each partition of a table can keep the draws that fall into its
// own rows. Breiman (1996), "Bagging predictors", Machine Learning 24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/parallel.hpp"
#include "tree/split/cells.hpp"

namespace ceiba::forest {

using tree::Number;

struct Sampling {
    std::size_t rows = 0;
    std::uint64_t draws = 0;
    bool replace = true;
    bool all_rows = false;               // use every row, draw nothing
    const Number* weight = nullptr;      // integer weights of the rows; null: 1 each
    const Number* cumulative = nullptr;  // cumulative sums of the weights; null without weights

    Number total() const { return cumulative ? cumulative[rows - 1] : Number(rows); }
    // How often each row is in the sample of the tree with this seed. An interrupt stops the draws;
    // the counts are then invalid.
    void counts(std::uint64_t seed, Number* out, Interrupt* interrupt = nullptr,
                int thread = 0) const;
    // Rows in the order in which they are drawn; without replacement, ascending.
    std::vector<std::uint32_t> draw_rows(std::uint64_t seed, Interrupt* interrupt = nullptr) const;

  private:
    std::uint32_t row_of(std::uint64_t point) const;
    template <typename Body>
    void for_each_draw(std::uint64_t seed, const Body& body, Interrupt* interrupt,
                       int thread) const;
    std::vector<std::uint32_t> draw_without_replacement(std::uint64_t seed) const;
};

// The seed of one tree of a forest.
std::uint64_t tree_seed(std::uint64_t forest_seed, std::uint64_t tree);

}  // namespace ceiba::forest
