// Interaction constraints: the columns that a node may test, given those tested above it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tree/config.hpp"

namespace ceiba::tree {

// A node may test the columns of every set that contains all columns tested above it. Paths that
// leave the same sets share a state, a small number that a node stores; state 0 is that of the
// root.
class InteractionSets {
  public:
    // All sets, or some of them for a tree that continues below tested columns.
    explicit InteractionSets(ColumnSets sets);
    InteractionSets(ColumnSets sets, const std::vector<std::size_t>& kept);

    // The state below a node that tests a column.
    std::int32_t below(std::int32_t state, std::int32_t column);
    // The columns that a node may test, ascending.
    const std::vector<std::int32_t>& columns(std::int32_t state) const {
        return states_[std::size_t(state)].columns;
    }
    bool is_allowed(std::int32_t state, std::int32_t column) const;
    // The same sets with this state as that of the root.
    InteractionSets from(std::int32_t state) const {
        return {sets_, states_[std::size_t(state)].sets};
    }

  private:
    struct State {
        std::vector<std::size_t> sets;  // that contain all tested columns
        std::vector<std::int32_t> columns;
    };

    std::int32_t state_of(const std::vector<std::size_t>& sets);

    ColumnSets sets_;
    std::vector<State> states_;
    std::map<std::vector<std::size_t>, std::int32_t> index_;              // of the states
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> next_;  // of (state, column)
};

}  // namespace ceiba::tree
