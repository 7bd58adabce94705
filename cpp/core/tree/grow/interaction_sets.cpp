// Implementation of interaction constraints.
#include "tree/grow/interaction_sets.hpp"

#include <algorithm>
#include <numeric>

namespace ceiba::tree {

InteractionSets::InteractionSets(ColumnSets sets) : sets_(std::move(sets)) {
    if (!sets_) return;
    std::vector<std::size_t> all(sets_->size());
    std::iota(all.begin(), all.end(), std::size_t(0));
    state_of(all);
}

InteractionSets::InteractionSets(ColumnSets sets, const std::vector<std::size_t>& kept)
    : sets_(std::move(sets)) {
    state_of(kept);
}

std::int32_t InteractionSets::below(std::int32_t state, std::int32_t column) {
    const auto [found, is_new] = next_.emplace(std::pair(state, column), 0);
    if (is_new) {
        std::vector<std::size_t> kept;
        for (const std::size_t s : states_[std::size_t(state)].sets)
            if (std::binary_search((*sets_)[s].begin(), (*sets_)[s].end(), column))
                kept.push_back(s);
        found->second = state_of(kept);
    }
    return found->second;
}

bool InteractionSets::is_allowed(std::int32_t state, std::int32_t column) const {
    const std::vector<std::int32_t>& allowed = columns(state);
    return std::binary_search(allowed.begin(), allowed.end(), column);
}

std::int32_t InteractionSets::state_of(const std::vector<std::size_t>& sets) {
    const auto [found, is_new] = index_.emplace(sets, std::int32_t(states_.size()));
    if (is_new) {
        std::vector<std::int32_t> columns;
        for (const std::size_t s : sets)
            columns.insert(columns.end(), (*sets_)[s].begin(), (*sets_)[s].end());
        std::sort(columns.begin(), columns.end());
        columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
        states_.push_back({sets, std::move(columns)});
    }
    return found->second;
}

}  // namespace ceiba::tree
