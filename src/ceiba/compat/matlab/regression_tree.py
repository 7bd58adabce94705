"""MATLAB's view of a fitted regression tree."""

from __future__ import annotations

from dataclasses import dataclass

from ceiba._typing import Array
from ceiba.compat.matlab.fitted_tree import FittedTree


@dataclass(frozen=True, eq=False, repr=False)
class RegressionTree(FittedTree):
    """A tree that predicts numbers, as `fitrtree` returns it; see there for an example.

    Besides what `ceiba.compat.matlab.fitted_tree.FittedTree` lists:

    Attributes
    ----------
    NodeMean : ndarray
        What each node predicts: the mean of its training rows.
    NodeError : ndarray
        Their mean squared distance from it.
    NodeRisk : ndarray
        That times the node's probability.
    """

    @property
    def NodeMean(self) -> Array:
        """Mean of each node."""
        mean: Array = self.tree.value[:, 0]
        return mean

    @property
    def NodeError(self) -> Array:
        """Mean squared error of each node."""
        return self.tree.impurity
