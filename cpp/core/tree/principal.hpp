// Levels along the first principal component of their class shares.
//
// Coppersmith, Hong & Hosking (1999), "Partitioning nominal attributes in decision trees", Data
// Mining and Knowledge Discovery 3.
#pragma once

#include <cstddef>
#include <vector>

#include "tree/cells.hpp"

namespace ceiba::tree {

// `cells`: one of `size` numbers for each level, its first `classes` the class weights.
// Two classes: the share of the second.
std::vector<double> principal_scores(const std::vector<Number>& cells, std::size_t size,
                                     std::size_t classes);

}  // namespace ceiba::tree
