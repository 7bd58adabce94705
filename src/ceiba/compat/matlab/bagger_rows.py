"""The rows that a bag of trees is grown from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.class_odds import prior_of
from ceiba.compat.matlab.fit import opened
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.predictors import predictors
from ceiba.compat.matlab.response import Response
from ceiba.data.table import Table
from ceiba.data.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class BaggerRows:
    """Rows with a response, and the chances of drawing them.

    Parameters
    ----------
    table : Table
    values : ndarray
        Numbers of the classes in the order of ``classes``, or floats.
    weights : ndarray or None
        Chances of the rows, up to a factor; None for equal ones.
    classes : ndarray
        Empty for numbers.
    prior : ndarray
        Probabilities of the classes, as rows are drawn; empty for numbers.
    response : str
        Name of the response.
    """

    table: Table
    values: Array
    weights: Array | None
    classes: Array
    prior: Array
    response: str

    @classmethod
    def of(cls, X: Any, Y: Any, options: NameValue, of_classes: bool) -> BaggerRows:
        """Read what `TreeBagger` is given."""
        table, Y, name = opened(X, Y)
        columns = predictors(table, options)
        weights, n = options.of("Weights"), len(columns)
        if not of_classes:
            given = Response.numbers_of(Y, weights, n)
            chances, prior = given.weights, np.empty(0)
        else:
            given = Response.classes_of(Y, weights, options.of("ClassNames"), n)
            chances, prior = _chances(given, options.of("Prior", "empirical"))
        return cls(columns.take(given.rows), given.values, chances, given.classes, prior, name)

    @property
    def of_classes(self) -> bool:
        """Whether classes are to be predicted."""
        return len(self.classes) > 0

    @property
    def row_weights(self) -> Array:
        """Weights of the rows that sum up to one."""
        if self.weights is None:
            return np.full(len(self.values), 1 / len(self.values))
        return np.asarray(self.weights / self.weights.sum())

    def response_of(self, Y: Any, n: int) -> Array:
        """The response of other rows, coded as ``values`` are."""
        if not self.of_classes:
            return Target.of(Y, n, task="regression").values
        target = Target.of(Y, n)
        assert target.classes is not None
        place = {label: code for code, label in enumerate(self.classes.tolist())}
        found = target.classes.tolist()
        strange = [label for label in found if label not in place]
        if strange:
            raise ValueError(f"Y holds the class {strange[0]!r}, and ClassNames does not")
        codes: Array = np.array([place[label] for label in found])[target.values]
        return codes


def _chances(given: Response, asked: Any) -> tuple[Array | None, Array]:
    """Chances of rows whose classes have a prior, and that prior."""
    k = len(given.classes)
    totals = np.bincount(given.values, given.weights, k).astype(np.float64)
    prior = prior_of(asked, totals, given.classes)
    if np.array_equal(prior, totals / totals.sum()):
        return given.weights, prior
    own = np.ones(len(given.values)) if given.weights is None else given.weights
    return own * (prior * totals.sum() / totals)[given.values], prior
