"""What rows cost in nodes that predict as leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ceiba.stats.points import Array


class NodeLoss(Protocol):
    """What rows would cost in any nodes of a tree."""

    def at(self, rows: Array, nodes: Array) -> Array:
        """What each of some rows costs in the node beside it."""
        ...

    def factors(self) -> tuple[Array, Array]:
        """Numbers of rows and numbers of nodes whose products add up to the loss."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ClassLoss:
    """The cost of what a node says of a row's class.

    Parameters
    ----------
    label : ndarray of int of shape (n_rows,)
    costs : ndarray of shape (n_classes, n_nodes)
    """

    label: Array
    costs: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Costs of some rows in some nodes."""
        found: Array = self.costs[self.label[rows], nodes]
        return found

    def factors(self) -> tuple[Array, Array]:
        """Which class a row has, and what it costs in each node."""
        return np.eye(len(self.costs))[self.label], self.costs.T


@dataclass(frozen=True, slots=True, eq=False)
class SquareLoss:
    """The squared error of what a node says of a row's number.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    value : ndarray of shape (n_nodes,)
    """

    y: Array
    value: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Squared errors of some rows in some nodes."""
        found: Array = (self.y[rows] - self.value[nodes]) ** 2
        return found

    def factors(self) -> tuple[Array, Array]:
        """The terms of the square, taken from the root's value: fewer digits are lost."""
        y, value = self.y - self.value[0], self.value - self.value[0]
        of_rows = np.stack([y * y, -2 * y, np.ones(len(y))], axis=1)
        return of_rows, np.stack([np.ones(len(value)), value, value * value], axis=1)
