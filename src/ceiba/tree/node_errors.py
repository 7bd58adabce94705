"""What the nodes of a tree cost as leaves, on rows that it was not grown from: a statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.target import class_places
from ceiba.stats.labelled import Labelled
from ceiba.stats.points import Array
from ceiba.tree.held import validation_errors
from ceiba.tree.structure import Tree


@dataclass(frozen=True, slots=True, eq=False)
class NodeErrors:
    """Errors of every node as a leaf, summed over rows, and the rows' number and weight."""

    errors: Array
    rows: int
    weight: float

    @classmethod
    def of(
        cls,
        batch: Any,
        tree: Tree,
        classes: Array | None = None,
        labels: Array | None = None,
        factors: Array | None = None,
    ) -> NodeErrors:
        """Of labelled rows, whose ``classes`` are the model's.

        ``labels`` are what each node would predict, ``factors`` those of the weights of classes.
        """
        rows: Labelled = batch.rows
        weight, target = rows.weight, rows.target.values
        if classes is not None:
            target = known_labels(rows, classes).astype(np.int32)
            weight = weights_of(rows, target, factors)
        errors = validation_errors(tree, rows.table, target, weight, batch.threads, labels)
        total = float(len(rows)) if weight is None else float(weight.sum())
        return cls(errors, len(rows), total)

    def merge(self, other: NodeErrors) -> NodeErrors:
        """Of both parts' rows."""
        return NodeErrors(
            self.errors + other.errors, self.rows + other.rows, self.weight + other.weight
        )


def known_labels(rows: Labelled, classes: Array) -> Array:
    """Places of the rows' classes among those of the model; others are refused."""
    own = rows.target.classes
    assert own is not None
    used = np.bincount(rows.target.values, minlength=len(own)) > 0
    among = np.isin(own, classes)
    if (used & ~among).any():
        unknown = own[used & ~among].tolist()[0]
        raise ValueError(
            f"y has the class {unknown!r}, which the tree does not know: it was grown for "
            f"{classes.tolist()!r}"
        )
    places = np.zeros(len(own), np.int64)
    places[among] = class_places(own[among], classes)
    labels: Array = places[rows.target.values]
    return labels


def weights_of(rows: Labelled, labels: Array, factors: Array | None) -> Array | None:
    """Weights of the rows times the factors of their classes; None where all are 1."""
    if factors is None:
        return rows.weight
    own: Array = factors[labels]
    return own if rows.weight is None else own * rows.weight
