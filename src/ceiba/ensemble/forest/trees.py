"""The trees of a forest as estimators, made on access."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree

if TYPE_CHECKING:
    from ceiba.ensemble.forest.base import BaseForest

# Fitted attributes that a tree has in common with its forest.
_SHARED = ("schema_", "n_features_in_", "feature_names_in_", "classes_", "n_classes_")
# Parameters of the growth that a tree has in common with its forest, under the same names.
TREE_PARAMETERS = (
    "criterion", "thresholds", "max_bins", "missing", "category_correction", "max_depth",
    "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease",
    "max_leaf_nodes", "monotonic_cst", "interaction_cst",
)  # fmt: skip

# max_bins="auto". CPU seconds of 50 trees, exact and in 255 bins, and the difference of accuracy or
# r² on test rows with its standard error, for the tables of benchmarks/forest (28 normal columns;
# 26 columns like a census):
#     five classes, 10,000 rows    0.17   0.10    +0.0003 +- 0.0013
#     five classes, 20,000 rows    0.38   0.20    -0.0013 +- 0.0007
#     five classes, 100,000 rows   2.4    1.0     -0.0019 +- 0.0009
#     regression, 10,000 rows    1.2    0.42    +0.0003 +- 0.0006, all columns drawn
#     regression, 20,000 rows      0.49   0.29    +0.0008 +- 0.0009
#     regression, 100,000 rows     3.5    1.6     -0.0007
#     census, 20,000 rows                         +0.0002 +- 0.0003
# More bins (1,023, 4,095) are slower and not better. Below the limit a fit takes a second or less
# either way. Random thresholds stay exact: between the edges of bins they have another
# distribution in the tails, and lost 0.016 of accuracy at 5,000 rows and 0.006 at 20,000.
_MAX_EXACT_ROWS = 10_000
_AUTO_BINS = 255


class ForestTrees(Sequence[Any]):
    """The trees of a fitted forest as a sequence of decision trees.

    A forest stores all trees in one array structure. Each access makes a new estimator, with the
    arrays of ``forest.tree(i)``.
    """

    def __init__(self, forest: BaseForest) -> None:
        self._forest = forest

    def __len__(self) -> int:
        return self._forest.forest_.n_trees

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return fitted_tree(self._forest, index)

    def __repr__(self) -> str:
        return f"<{len(self)} trees of {type(self._forest).__name__}>"


def resolve_max_bins(forest: BaseForest, n_rows: int) -> int | None:
    """Return ``max_bins`` of a forest for a number of rows."""
    if forest.max_bins != "auto":
        return forest.max_bins
    is_exact = n_rows <= _MAX_EXACT_ROWS or forest.thresholds == "random"
    return None if is_exact else _AUTO_BINS


def unfitted_tree(forest: BaseForest, n_rows: int) -> Any:
    """Return a decision tree with the parameters of a forest's trees grown from so many rows."""
    names = (*TREE_PARAMETERS, "leaf_probability", "n_jobs")
    parameters = {name: getattr(forest, name) for name in names if hasattr(forest, name)}
    parameters["max_bins"] = resolve_max_bins(forest, n_rows)
    if forest.thresholds == "random":
        parameters["n_thresholds"] = forest.n_thresholds
    if forest.ccp_alpha > 0:
        parameters["ccp_alpha"] = forest.ccp_alpha
    if forest.max_features_per != "tree":
        parameters["max_features"] = forest.max_features
    is_classifier = forest._task == "classification"
    return (DecisionTreeClassifier if is_classifier else DecisionTreeRegressor)(**parameters)


def fitted_tree(forest: BaseForest, number: int) -> Any:
    """Return one tree of a fitted forest as an estimator, whose random state is its seed."""
    structure = forest.tree(number)
    tree = unfitted_tree(forest, int(forest.forest_.training_keys[number, 0]))
    tree.set_params(random_state=int(forest.forest_.tree_seeds[number]))
    attributes = {name: vars(forest)[name] for name in _SHARED if name in vars(forest)}
    if getattr(forest, "leaf_probability", "plain") != "plain":
        structure = _with_smoothed_leaves(structure, tree)
    tree._set_fitted({**attributes, "tree_": structure})
    return tree


def _with_smoothed_leaves(structure: Tree, tree: Any) -> Tree:
    """Return a tree whose leaves predict by ``leaf_probability`` of the estimator."""
    nodes, is_leaf = structure.nodes.copy(), structure.is_leaf
    NodeView(nodes).child[is_leaf] = np.arange(int(is_leaf.sum()), dtype=np.int32)
    weights = structure.node_values[is_leaf]
    return tree._with_predictions(replace(structure, nodes=nodes, leaves=weights))  # type: ignore[no-any-return]
