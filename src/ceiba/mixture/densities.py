"""Gaussian components, and densities, responsibilities and labels of rows under them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg.lapack import dtrtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine import Batch, Engine
from ceiba.stats.moments import Moments
from ceiba.stats.points import Points

# Rows whose responsibilities are held at a time, where only their sums are kept.
_BLOCK_ROWS = 16_384


@dataclass(frozen=True, slots=True)
class Gaussians:
    """Weights, means and covariances of components, with the factors that densities need.

    Examples
    --------
    >>> import numpy as np
    >>> one = Gaussians.of(np.ones(1), np.zeros((1, 2)), np.array([[[4.0, 2.0], [2.0, 2.0]]]))
    >>> one.factors
    array([[[ 0.5,  0. ],
            [-0.5,  1. ]]])
    """

    weights: Array  # shape (k,)
    means: Array  # shape (k, d)
    covariances: Array  # shape (k, d, d) or, where they are diagonal, (k, d)
    factors: Array  # inverse of the lower Cholesky factor, or one over the standard deviation

    @classmethod
    def of(cls, weights: Array, means: Array, covariances: Array) -> Gaussians:
        """Factorize the covariances; raise LinAlgError where one is not positive definite."""
        covariances = np.ascontiguousarray(covariances)
        if not np.isfinite(covariances).all():
            raise np.linalg.LinAlgError("a covariance is not finite")
        if covariances.ndim == 2:
            if not (covariances > 0).all():
                raise np.linalg.LinAlgError("a variance is not positive")
            return cls(weights, means, covariances, 1.0 / np.sqrt(covariances))
        factors = np.linalg.cholesky(covariances)
        for component, lower in enumerate(factors):
            # The transpose is LAPACK's own order: an upper triangle, inverted without a copy.
            factors[component] = dtrtri(lower.T, lower=0)[0].T
        return cls(weights, means, covariances, factors)

    @property
    def full(self) -> bool:
        """Whether covariances are matrices."""
        return self.covariances.ndim == 3

    @property
    def shape(self) -> tuple[int, int]:
        """Number of components and of columns."""
        k, d = self.means.shape
        return k, d

    @property
    def log_dets(self) -> Array:
        """Logarithm of each covariance's determinant."""
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2) if self.full else self.factors
        sums: Array = -2.0 * np.log(diagonals).sum(axis=1)
        return sums

    def take(self, index: Any) -> Gaussians:
        """Select components; their weights are not rescaled."""
        return Gaussians(
            self.weights[index], self.means[index], self.covariances[index], self.factors[index]
        )

    def native(self) -> _native.GaussianComponents:
        """Return the native view."""
        k = len(self.means)
        with np.errstate(divide="ignore"):
            log_weights = np.log(self.weights)
        return _native.GaussianComponents(
            log_weights,
            np.ascontiguousarray(self.means),
            np.ascontiguousarray(self.covariances.reshape(k, -1)),
            np.ascontiguousarray(self.factors.reshape(k, -1)),
        )


@dataclass(frozen=True, slots=True)
class MissingPatterns:
    """Whether a batch has missing values, and its rows grouped by the columns that they miss."""

    any: bool
    order: Array | None = None
    starts: Array | None = None

    @classmethod
    def of(cls, batch: Batch[Points], full: bool) -> MissingPatterns:
        """Find the patterns of a batch, which ``full`` covariances need; raise for infinity.

        They are cached beside the rows where the engine keeps row state.
        """
        known: MissingPatterns | None = batch.scratch.get("missing")
        needs_order = full and batch.rows.X.shape[1] > 1
        if known is None or (needs_order and known.any and known.order is None):
            known = _find_patterns(batch, needs_order)
            batch.scratch["missing"] = known
        return known if needs_order or not known.any else MissingPatterns(True)

    def native(self) -> _native.MissingPatterns | None:
        """Return the native view; None without missing values."""
        return _native.MissingPatterns(True, self.order, self.starts) if self.any else None


def _find_patterns(batch: Batch[Points], needs_order: bool) -> MissingPatterns:
    X = batch.rows.X
    # In most cases one sum decides, without a mask of all rows: it is finite if every value is.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return MissingPatterns(False)
    if np.isinf(X).any():
        Moments.of(batch)  # raises, and names the row and the column
    if not np.isnan(X).any():
        return MissingPatterns(False)
    return (
        MissingPatterns(True, *_native.missing_patterns(X))
        if needs_order
        else MissingPatterns(True)
    )


def _evaluate(batch: Batch[Points], model: Gaussians, **out: Any) -> Array:
    """Return the log densities of the rows of a batch, and fill the arrays ``out``."""
    X = batch.rows.X
    density = np.empty(len(X))
    missing = MissingPatterns.of(batch, model.full)
    _native.mixture_posteriors(
        X,
        model.native(),
        missing.native(),
        log_density=density,
        **out,
        threads=batch.threads,
    )
    underflow = ~np.isfinite(density)
    if underflow.any():
        row = batch.rows.row_number(int(np.argmax(underflow)))
        raise ValueError(
            f"The density of row {row} underflows, it is too far from every component: correct its "
            "values or drop the row."
        )
    return density


def log_densities(batch: Batch[Points], model: Gaussians) -> Array:
    """Compute the log density of every row."""
    return _evaluate(batch, model)


def posteriors(batch: Batch[Points], model: Gaussians) -> Array:
    """Compute the posterior probability of every component for every row."""
    out = np.empty((len(batch.rows.X), len(model.means)))
    _evaluate(batch, model, posteriors=out)
    return out


def most_probable_components(batch: Batch[Points], model: Gaussians) -> Array:
    """Return the index of every row's most probable component; ties go to the first."""
    labels = np.empty(len(batch.rows.X), np.int32)
    _evaluate(batch, model, labels=labels)
    return labels


def _blocks(batch: Batch[Points]) -> Iterator[Batch[Points]]:
    """Split a batch into blocks of rows; a batch without rows is one block."""
    points = batch.rows
    for first in range(0, max(len(points.X), 1), _BLOCK_ROWS):
        block = slice(first, first + _BLOCK_ROWS)
        rows = replace(
            points,
            X=points.X[block],
            weight=None if points.weight is None else points.weight[block],
            kept=None if points.kept is None else points.kept[block],
        )
        # Where rows were dropped, ``kept`` has their numbers relative to the batch's first row.
        start = batch.first_row + (first if points.kept is None else 0)
        yield replace(batch, rows=rows, first_row=start, scratch={})


@dataclass(frozen=True, slots=True)
class LikelihoodSums:
    """Weight and log-likelihood of rows, and the entropy of their posteriors."""

    weight: float
    log_likelihood: float
    entropy: float

    @classmethod
    def of(cls, batch: Batch[Points], model: Gaussians, entropy: bool = False) -> LikelihoodSums:
        """Sum over the rows of a batch; the entropy only where requested."""
        parts = (_likelihood_sums(block, model, entropy) for block in _blocks(batch))
        weight, log_likelihood, total = (sum(numbers) for numbers in zip(*parts, strict=True))
        return cls(weight, log_likelihood, total)

    def merge(self, other: LikelihoodSums) -> LikelihoodSums:
        """Add the sums of both parts."""
        return LikelihoodSums(
            self.weight + other.weight,
            self.log_likelihood + other.log_likelihood,
            self.entropy + other.entropy,
        )


def _likelihood_sums(
    batch: Batch[Points], model: Gaussians, entropy: bool
) -> tuple[float, float, float]:
    weight, n = batch.rows.weight, len(batch.rows.X)
    weight = np.ones(n) if weight is None else weight
    if not entropy:
        return float(weight.sum()), float(_evaluate(batch, model) @ weight), 0.0
    probabilities = np.empty((n, len(model.means)))
    density = _evaluate(batch, model, posteriors=probabilities)
    logs = np.log(probabilities, out=np.zeros_like(probabilities), where=probabilities > 0)
    total = -float((probabilities * logs).sum(axis=1) @ weight)
    return float(weight.sum()), float(density @ weight), total


@dataclass(frozen=True, slots=True)
class TopRows:
    """The ``m`` rows with the largest values, ordered by value, then by row."""

    values: Array
    rows: Array
    points: Array
    m: int

    @classmethod
    def lowest_density(cls, batch: Batch[Points], model: Gaussians, m: int) -> TopRows:
        """Find the rows of smallest density; values are minus their log densities."""
        return cls.of(batch, -_evaluate(batch, model), m)

    @classmethod
    def of(cls, batch: Batch[Points], values: Array, m: int) -> TopRows:
        """Find the rows of a batch with the largest ``values``."""
        order = np.lexsort((np.arange(len(values)), -values))[:m]
        kept = batch.rows.kept
        rows = (order if kept is None else kept[order]) + batch.first_row
        return cls(values[order], rows, batch.rows.X[order].astype(np.float64), m)

    def merge(self, other: TopRows) -> TopRows:
        """Keep the largest values of both parts."""
        values = np.concatenate([self.values, other.values])
        rows = np.concatenate([self.rows, other.rows])
        order = np.lexsort((rows, -values))[: self.m]
        points = np.concatenate([self.points, other.points])[order]
        return TopRows(values[order], rows[order], points, self.m)


@dataclass(frozen=True, slots=True)
class ComponentRows:
    """The rows of largest posterior probability for each of some components."""

    components: tuple[TopRows, ...]

    @classmethod
    def of(
        cls, batch: Batch[Points], model: Gaussians, components: tuple[int, ...], m: int
    ) -> ComponentRows:
        """Find the ``m`` rows of a batch with the largest posteriors of each component."""
        found = None
        for block in _blocks(batch):
            values = posteriors(block, model)
            here = cls(tuple(TopRows.of(block, values[:, c], m) for c in components))
            found = here if found is None else found.merge(here)
        assert found is not None
        return found

    def merge(self, other: ComponentRows) -> ComponentRows:
        """Keep the rows of largest posteriors of both parts."""
        pairs = zip(self.components, other.components, strict=True)
        return ComponentRows(tuple(one.merge(two) for one, two in pairs))


@dataclass(frozen=True, slots=True)
class _RowCounts:
    """Rows per partition, rows of weight zero included."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch[Points]) -> _RowCounts:
        points = batch.rows
        return cls((len(points.X) if points.n_given is None else points.n_given,))

    def merge(self, other: _RowCounts) -> _RowCounts:
        return _RowCounts(self.counts + other.counts)


def number_input_rows(rows: Any, engine: Engine) -> Any:
    """Number rows as in the input, rows of weight zero included."""
    if engine.in_memory:
        return rows
    return rows.numbered(engine.reduce(rows, _RowCounts.of).counts)
