"""MATLAB's view of a fitted classification tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.fitted_tree import FittedTree


@dataclass(frozen=True, eq=False, repr=False)
class ClassificationTree(FittedTree):
    """A tree that predicts classes, as `fitctree` returns it; see there for an example.

    Besides what `ceiba.compat.matlab.fitted_tree.FittedTree` lists:

    Parameters
    ----------
    ClassNames : ndarray
        The classes, in the order of the columns below.
    ClassCount : ndarray of shape (n, k)
        Training rows of each class in each node.
    Prior : ndarray of shape (k,)
    Cost : ndarray of shape (k, k)
        What it costs to predict class j where i is true.

    Attributes
    ----------
    ClassProbability : ndarray of shape (n, k)
        Probabilities of the classes in each node, under the prior.
    NodeClass : ndarray
        The class of least expected cost in each node; of equals the first.
    NodeError : ndarray
        Probability that it is not the right one.
    NodeRisk : ndarray
        Impurity of each node times its probability.
    """

    ClassNames: Array
    ClassCount: Array
    Prior: Array
    Cost: Array

    @cached_property
    def ClassProbability(self) -> Array:
        """Probabilities of the classes in each node, under the prior."""
        value = self.tree.value
        return np.asarray(value / value.sum(axis=1, keepdims=True))

    @cached_property
    def class_number(self) -> Array:
        """Number, from 0, of each node's class."""
        errors = 1.0 - np.eye(len(self.ClassNames))
        if np.array_equal(self.Cost, errors):  # sums of the other shares would be rounded
            found: Array = self.tree.value.argmax(axis=1)
            return found
        return np.asarray((self.tree.value @ self.Cost).argmin(axis=1))

    @property
    def NodeClass(self) -> Array:
        """The class of each node."""
        names: Array = self.ClassNames[self.class_number]
        return names

    @property
    def NodeError(self) -> Array:
        """Probability that a node's class is not the right one."""
        others = self.ClassProbability.copy()
        others[np.arange(self.NumNodes), self.class_number] = 0
        return np.asarray(others.sum(axis=1))

    def _of_nodes(self, kept: Array) -> dict[str, Any]:
        return {"ClassCount": self.ClassCount[kept]}

    def _more_shown(self) -> dict[str, Any]:
        return {"ClassNames": self.ClassNames.tolist()}
