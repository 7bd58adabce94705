"""Small mixtures of normal distributions, one for each class and column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, pi, sqrt
from typing import Annotated, Any

import numpy as np
from scipy.special import logsumexp

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.distributions.rows import ToNumericRows, numeric_matrix, take_scaling
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.mixture.classifier import GaussianMixtureClassifier
from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.covariance import covariance_form
from ceiba.mixture.selection import select_n_components
from ceiba.stats import Moments, Points, PointSpace

MAX_COMPONENTS = 3


@dataclass(frozen=True, eq=False)
class ToClassColumn:
    """Prepare the observed values of one column and class as points."""

    rows: ToNumericRows
    class_index: int
    column: int

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        rows = self.rows(chunk)
        x = rows.X[:, self.column]
        kept = np.flatnonzero((rows.labels == self.class_index) & ~np.isnan(x))
        weight = None if rows.weight is None else rows.weight[kept]
        return Points(np.ascontiguousarray(x[kept, None]), weight, Schema.numeric(1), kept, len(x))


@dataclass(frozen=True, eq=False)
class MixtureColumns(Record):
    """Fitted mixtures, one for each class and column.

    The components of class c in column j are those from ``starts[j * n_classes + c]`` to the next
    start; a column without components is the same in all rows, and has no effect.

    Parameters
    ----------
    columns : ndarray of int64
        Indices of the columns in the schema.
    scaling : StoredScaling
        Units of mean and deviation.
    n_classes : int
    starts : ndarray of int64
    weight, mean, deviation : ndarray of shape (n_components,)
    """

    columns: Annotated[Array, ArrayOf("int64", "n_columns")]
    scaling: StoredScaling
    n_classes: int
    starts: Annotated[Array, ArrayOf("int64", "n_starts")]
    weight: Annotated[Array, ArrayOf("float64", "n_components")]
    mean: Annotated[Array, ArrayOf("float64", "n_components")]
    deviation: Annotated[Array, ArrayOf("float64", "n_components")]

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        starts = self.starts
        if (
            len(starts) != len(self.columns) * self.n_classes + 1
            or starts[0] != 0
            or starts[-1] != len(self.weight)
            or (np.diff(starts) < 0).any()
        ):
            raise ValueError("starts must ascend from 0 to the number of components.")
        if len(self.scaling.divisors) != len(self.columns):
            raise ValueError("scaling must have an entry for each of the columns.")
        check_values("mean", self.mean, np.isfinite(self.mean), "finite")
        for name in ("weight", "deviation"):
            values = getattr(self, name)
            check_values(name, values, np.isfinite(values) & (values > 0), "positive")

    def add_log_densities(self, table: Table, threads: int, out: Array) -> None:
        """Add log p(values | class) of each row to ``out``; missing values add nothing."""
        X = numeric_matrix(table, self.columns.tolist(), self.scaling)
        for j in range(len(self.columns)):
            bounds = self.starts[j * self.n_classes : (j + 1) * self.n_classes + 1]
            if bounds[0] == bounds[-1]:
                continue
            x = X[:, j]
            known = np.flatnonzero(~np.isnan(x))
            own = slice(bounds[0], bounds[-1])
            deviation = self.deviation[own, None]
            constant = np.log(self.weight[own, None] / deviation) - 0.5 * log(2 * pi)
            terms = np.zeros((len(known), len(deviation)))
            _native.bayes_add_log_normals(
                np.ascontiguousarray(x[known, None]),
                np.ascontiguousarray(self.mean[own, None]),
                sqrt(0.5) / deviation,
                constant + self.scaling.log_factors[j],
                terms,
                threads,
            )
            for c in range(self.n_classes):
                part = terms[:, bounds[c] - bounds[0] : bounds[c + 1] - bounds[0]]
                out[known, c] += part[:, 0] if part.shape[1] == 1 else logsumexp(part, axis=1)

    def split(self) -> list[tuple[int, MixtureColumns]]:
        """Return the distributions of each column."""
        cls, k = type(self), self.n_classes
        found = []
        for i, column in enumerate(self.columns):
            bounds = self.starts[i * k : (i + 1) * k + 1]
            own = slice(bounds[0], bounds[-1])
            parts = (self.weight[own], self.mean[own], self.deviation[own])
            scaling = take_scaling(self.scaling, [i])
            found.append(
                (int(column), cls(self.columns[[i]], scaling, k, bounds - bounds[0], *parts))
            )
        return found

    def describe(self) -> dict[str, Array]:
        """Return the parameters of each component in a single column, class by class."""
        with np.errstate(over="ignore", under="ignore"):
            deviation = np.ldexp(self.deviation, -self.scaling.exponents[0])
        mean = self.scaling.from_units(self.mean[:, None])[:, 0]
        return {"weight": self.weight, "mean": mean, "standard_deviation": deviation}


def fit_mixtures(
    engine: Engine,
    partitions: Any,
    prepare: ToNumericRows,
    columns: Sequence[int],
    moments: ClassMoments,
    seed: int,
) -> MixtureColumns:
    """Fit the mixture that BIC selects, of up to three components, to each class and column.

    A class without values in a column, or with equal ones, has one component: with the moments of
    all classes, or with the smallest variance that a component may have.
    """
    model = GaussianMixtureClassifier(
        "bic", covariance_type="diag", max_components=MAX_COMPONENTS, random_state=seed
    )
    pooled = moments.pooled()
    n_classes = len(moments.weight)
    found: list[tuple[Array, Array, Array]] = []
    for j in range(len(columns)):
        variance = float(pooled.variance[0, j])
        for c in range(n_classes):
            if variance == 0:
                found.append((np.empty(0), np.empty(0), np.empty(0)))
            elif not moments.squares[c, j] > 0:
                seen = moments.weight[c, j] > 0
                mean = moments.mean[c, j] if seen else pooled.mean[0, j]
                own = model.covariance_floor * variance if seen else variance
                found.append((np.ones(1), np.array([mean]), np.sqrt([own])))
            else:
                rows = engine.rows(partitions, ToClassColumn(prepare, c, j))
                found.append(_fit_mixture(engine, rows, variance, model))
    starts = np.cumsum([0, *(len(weight) for weight, _, _ in found)]).astype(np.int64)
    parts = (np.concatenate([entry[i] for entry in found]) for i in range(3))
    scaling = prepare.scaling
    assert isinstance(scaling, StoredScaling)
    return MixtureColumns(np.array(columns, np.int64), scaling, n_classes, starts, *parts)


def _fit_mixture(
    engine: Engine, rows: Any, variance: float, model: GaussianMixtureClassifier
) -> tuple[Array, Array, Array]:
    """Return weights, means and deviations of the components of one class and column."""
    moments = engine.reduce(rows, Moments.of)
    space = PointSpace(moments.mean, False)
    data = MixtureData(
        engine,
        (rows.numbered(moments.rows),),
        moments,
        space,
        np.array([variance]),
        Schema.numeric(1),
        np.zeros(1, bool),
        (moments.total / moments.n_rows,),
        moments.n_rows,
    )
    config = EMConfig.of(model, covariance_form("diag", 1, 1), data)
    best = select_n_components(data, config, "bic", model).best.model
    used = best.weights > 0
    covariances = best.covariances.reshape(len(best.weights))
    return best.weights[used], best.means[used, 0], np.sqrt(covariances[used])
