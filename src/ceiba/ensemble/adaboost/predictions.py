"""What members of a boosted committee say of rows: a class, probabilities or a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_places
from ceiba.ensemble.common.votes import told_numbers, told_probabilities, told_votes
from ceiba.tree.base import DecisionTree
from ceiba.tree.scoring import likeliest


class Voice(Protocol):
    """How members are asked."""

    def of(self, member: Any, X: Any, threads: int) -> Array:
        """What a member says of rows."""
        ...

    def of_leaves(self, member: Any, leaf: Array) -> Array:
        """What a tree says of rows whose leaves are known."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """The class that a member predicts, as its place among the classes of the committee."""

    classes: Array

    def of(self, member: Any, X: Any, threads: int) -> Array:
        """Ask a member."""
        if is_tree(member, X):
            return self._among(member, likeliest(member.tree_, X, threads))
        places: Array = told_votes(self.classes, {}, member, X).argmax(axis=1)
        return places

    def of_leaves(self, member: Any, leaf: Array) -> Array:
        """Read the leaves of a tree."""
        tree = member.tree_
        return self._among(member, tree.likeliest[tree.child[leaf]])

    def _among(self, member: Any, places: Array) -> Array:
        if member.classes_ is self.classes:
            return places
        known: Array = class_places(member.classes_, self.classes)[places]
        return known


@dataclass(frozen=True, slots=True, eq=False)
class Shares:
    """The probabilities of a member, for all classes of the committee."""

    classes: Array

    def of(self, member: Any, X: Any, threads: int) -> Array:
        """Ask a member."""
        return told_probabilities(self.classes, {}, member, X)

    def of_leaves(self, member: Any, leaf: Array) -> Array:
        """Read the leaves of a tree."""
        told: Array = member.tree_.values_of(leaf)
        if member.classes_ is self.classes:
            return told
        spread = np.zeros((len(told), len(self.classes)))
        spread[:, class_places(member.classes_, self.classes)] = told
        return spread


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The number that a member predicts."""

    def of(self, member: Any, X: Any, threads: int) -> Array:
        """Ask a member."""
        if is_tree(member, X):
            told: Array = member.tree_.told(X, threads)
            return told
        return told_numbers({}, member, X)

    def of_leaves(self, member: Any, leaf: Array) -> Array:
        """Read the leaves of a tree."""
        told: Array = member.tree_.values_of(leaf)
        return told


def is_tree(member: Any, X: Any) -> bool:
    """Whether a member is a tree that rows of a table can be sent through as they are."""
    return isinstance(member, DecisionTree) and isinstance(X, Table)
