// Which rows a tree is grown from: draws keyed by (seed of the tree, number of the draw).
//
// No draw depends on another or on who makes it, so parts of a table can each keep the draws that
// fall into their rows. Breiman (1996), "Bagging predictors", Machine Learning 24.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "parallel.hpp"
#include "tree/cells.hpp"

namespace ceiba::forest {

using tree::Number;

struct Sampling {
    std::size_t rows = 0;
    std::uint64_t draws = 0;
    bool replace = true;
    bool every = false;               // all rows, nothing is drawn
    const Number* weight = nullptr;   // whole weights of the rows; null: 1 each
    const Number* running = nullptr;  // ... their running totals; null with them

    Number total() const { return running ? running[rows - 1] : Number(rows); }
    // How often each row is in the bag of the tree with this seed.
    // Whoever listens may stop it: what was counted then is worth nothing.
    void counts(std::uint64_t seed, Number* out, Interrupt* interrupt = nullptr,
                int thread = 0) const;
    // The rows in the order in which they were drawn; without replacement, ascending.
    std::vector<std::uint32_t> drawn(std::uint64_t seed, Interrupt* interrupt = nullptr) const;

  private:
    std::uint32_t row_of(std::uint64_t point) const;
    template <typename Body>
    void each_draw(std::uint64_t seed, const Body& body, Interrupt* interrupt, int thread) const;
    std::vector<std::uint32_t> chosen(std::uint64_t seed) const;
};

// The seed of a forest's tree.
std::uint64_t seed_of_tree(std::uint64_t forest_seed, std::uint64_t tree);

}  // namespace ceiba::forest
