"""Predictions of a member for boosting: class indices, probabilities or values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.ensemble.common.votes import member_probabilities, member_values, member_votes
from ceiba.tree.base import DecisionTree


class PredictionMode(Protocol):
    """Form of the members' predictions that a boosting algorithm uses."""

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return a member's predictions for rows."""
        ...

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return a tree's predictions for rows whose leaves are given."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ClassIndices:
    """The predicted class, as its index among the classes of the ensemble."""

    classes: Array

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the class indices that a member predicts."""
        if is_tree_on_table(member, X):
            return self._to_ensemble_indices(member, member.tree_.predict_class(X, threads))
        indices: Array = member_votes(self.classes, {}, member, X).argmax(axis=1)
        return indices

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the class indices of a tree's leaves."""
        tree = member.tree_
        return self._to_ensemble_indices(member, tree.leaf_class[tree.child[leaf]])

    def _to_ensemble_indices(self, member: Any, indices: Array) -> Array:
        """Convert class indices of a member to class indices of the ensemble."""
        if member.classes_ is self.classes:
            return indices
        converted: Array = class_indices(member.classes_, self.classes)[indices]
        return converted


@dataclass(frozen=True, slots=True, eq=False)
class ClassProbabilities:
    """The predicted probability of each class of the ensemble."""

    classes: Array

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the probabilities that a member predicts."""
        return member_probabilities(self.classes, {}, member, X)

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the probabilities of a tree's leaves."""
        predicted: Array = member.tree_.leaf_values(leaf)
        if member.classes_ is self.classes:
            return predicted
        probabilities = np.zeros((len(predicted), len(self.classes)))
        probabilities[:, class_indices(member.classes_, self.classes)] = predicted
        return probabilities


@dataclass(frozen=True, slots=True, eq=False)
class TargetValues:
    """The predicted number."""

    def predict(self, member: Any, X: Any, threads: int) -> Array:
        """Return the numbers that a member predicts."""
        if is_tree_on_table(member, X):
            values: Array = member.tree_.predict(X, threads)
            return values
        return member_values({}, member, X)

    def predict_leaves(self, member: Any, leaf: Array) -> Array:
        """Return the numbers of a tree's leaves."""
        values: Array = member.tree_.leaf_values(leaf)
        return values


def is_tree_on_table(member: Any, X: Any) -> bool:
    """Return whether a member is one of Ceiba's trees and the rows are a table."""
    return isinstance(member, DecisionTree) and isinstance(X, Table)
