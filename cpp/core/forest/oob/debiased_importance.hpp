// Feature importance from out-of-bag rows, without the bias of the in-bag impurity decrease.
#pragma once

#include "forest/oob/out_of_bag.hpp"

namespace ceiba::forest {

// Trees x columns: mean over the out-of-bag rows of a tree of the changes of the tree's mean at
// splits on the column along the path of the row, times the difference between its target and the
// mean of the other out-of-bag rows in the node. Li, Wang, Basu, Kumbier & Yu (2019), "A debiased
// MDI feature importance measure for random forests", NeurIPS, use the target itself. Relative to
// the node, out-of-bag rows that split into branches in other proportions than the in-bag rows,
// such as rows of categories absent in the bag, add nothing.
void debiased_importance(const TrainedForest& trained, double* out, int threads);

}  // namespace ceiba::forest
