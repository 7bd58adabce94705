"""Distances between rows of numbers, by the names of scikit-learn.

A distance is one of the native kinds, after a transformation of the rows: the cosine distance, for
example, is half of the squared Euclidean distance of rows of length 1. Differences, unlike
``1 - x @ y``, keep the digits of small distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ceiba import _native
from ceiba._native import MetricKind, MissingRule
from ceiba._typing import Array

_KINDS = {
    "euclidean": MetricKind.EUCLIDEAN,
    "manhattan": MetricKind.MANHATTAN,
    "chebyshev": MetricKind.CHEBYSHEV,
    "canberra": MetricKind.CANBERRA,
    "braycurtis": MetricKind.BRAY_CURTIS,
    "haversine": MetricKind.HAVERSINE,
    "hamming": MetricKind.HAMMING,
    "jaccard": MetricKind.JACCARD,
    "dice": MetricKind.DICE,
    "rogerstanimoto": MetricKind.ROGERS_TANIMOTO,
    "sokalmichener": MetricKind.ROGERS_TANIMOTO,
    "russellrao": MetricKind.RUSSELL_RAO,
    "sokalsneath": MetricKind.SOKAL_SNEATH,
    "yule": MetricKind.YULE,
}
_SYNONYMS = {
    "l1": "manhattan",
    "cityblock": "manhattan",
    "l2": "euclidean",
    "infinity": "chebyshev",
    "p": "minkowski",
}
# Sums or maxima over the columns: a tree of boxes bounds them, and they have the units of columns.
_COORDINATE = {
    MetricKind.EUCLIDEAN,
    MetricKind.MANHATTAN,
    MetricKind.CHEBYSHEV,
    MetricKind.MINKOWSKI,
}
METRICS = (*_KINDS, *_SYNONYMS, "minkowski", "sqeuclidean", "seuclidean", "mahalanobis", "cosine",
           "correlation")  # fmt: skip


@dataclass(frozen=True, eq=False)
class Distance:
    """A distance between rows.

    Parameters
    ----------
    kind : MetricKind
    p : float
        Of the kind MINKOWSKI.
    transform : callable or None
        From rows to those that the kind is computed of.
    power, factor : float
        The distance is ``factor * d ** power`` of the native distance d.
    mismatch : ndarray of shape (n_columns,) or None
        What different codes of a nominal column add to the sum over the columns; NaN for numeric
        columns.
    weights : ndarray of shape (n_columns,) or None
        Weights of the columns, where values may be missing.
    missing : MissingRule
    """

    kind: MetricKind
    p: float = 2.0
    transform: Callable[[Array], Array] | None = None
    power: int = 1
    factor: float = 1.0
    mismatch: Array | None = None
    weights: Array | None = None
    missing: MissingRule = MissingRule.NONE

    @property
    def is_coordinate(self) -> bool:
        """Whether it is a sum or maximum over the columns."""
        return self.kind in _COORDINATE

    @property
    def native(self) -> _native.Metric:
        """The distance for the native searches."""
        return _native.Metric(self.kind, self.p, self.mismatch, self.weights, self.missing)

    def apply(self, X: Array) -> Array:
        """Return the rows that the native distance is computed of."""
        return X if self.transform is None else np.ascontiguousarray(self.transform(X))

    def from_native(self, distances: Array) -> Array:
        """Return the distances of native ones."""
        if self.power == 1 and self.factor == 1.0:
            return distances
        return np.asarray(self.factor * distances**self.power)

    def to_native(self, radius: float) -> float:
        """Return the native distance of a distance."""
        return float((radius / self.factor) ** (1 / self.power))


def make_distance(
    metric: str, p: float = 2.0, *, V: Array | None = None, VI: Array | None = None
) -> Distance:
    """Return the distance of a name of scikit-learn.

    Parameters
    ----------
    metric : str
        One of `METRICS`.
    p : float
        Power of ``"minkowski"``, at least 1.
    V : ndarray, optional
        Variances of the columns for ``"seuclidean"``, covariances for ``"mahalanobis"``.
    VI : ndarray, optional
        Inverse of the covariances.

    Examples
    --------
    >>> from ceiba.neighbors import make_distance
    >>> make_distance("cosine").power
    2
    """
    name = _SYNONYMS.get(metric, metric)
    if name == "minkowski":
        if not p >= 1:
            raise ValueError(f"p must be at least 1, got {p!r}: smaller powers are no distances.")
        special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
        if p not in special:
            return Distance(MetricKind.MINKOWSKI, float(p))
        name = special[p]
    if name in _KINDS:
        return Distance(_KINDS[name])
    euclidean = Distance(MetricKind.EUCLIDEAN)
    if name == "sqeuclidean":
        return replace(euclidean, power=2)
    if name in ("cosine", "correlation"):
        transform = _to_directions if name == "cosine" else _to_centered_directions
        return replace(euclidean, transform=transform, power=2, factor=0.5)
    if name == "seuclidean":
        return replace(euclidean, transform=_Scale(1 / np.sqrt(_positive_variances(V))))
    if name == "mahalanobis":
        return replace(euclidean, transform=_Multiply(_whitening(V, VI)))
    raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")


def make_mixed_distance(
    metric: Literal["gower", "heom"],
    is_nominal: Array,
    ranges: Array,
    weights: Array | None = None,
) -> Distance:
    """Return a distance of numeric and nominal columns together.

    Numeric columns are divided by their range, so that all columns add up to 1 each. Nominal ones
    hold codes, and add 1 if they differ. Values may be missing (NaN).

    ``"gower"`` is the mean over the columns that are known in both rows; rows without a common
    column are infinitely far apart. ``"heom"`` is the root of the sum of squares, to which a
    missing value adds 1.

    Parameters
    ----------
    metric : {"gower", "heom"}
    is_nominal : ndarray of bool of shape (n_columns,)
    ranges : ndarray of shape (n_columns,)
        Largest minus smallest value of each numeric column; 0 counts as 1.
    weights : ndarray of shape (n_columns,), optional
        Weights of the columns; 1 by default.

    References
    ----------
    Gower (1971), "A general coefficient of similarity and some of its properties", Biometrics 27.
    Wilson & Martinez (1997), "Improved heterogeneous distance functions", JAIR 6.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.neighbors import NeighborIndex, make_mixed_distance
    >>> X = np.array([[1.0, 0.0], [3.0, 1.0], [np.nan, 1.0]])
    >>> distance = make_mixed_distance("gower", np.array([False, True]), np.array([2.0, 0.0]))
    >>> NeighborIndex.of(X, distance).search(X[:1], k=3)[0].tolist()
    [[0.0, 1.0, 1.0]]
    """
    nominal = np.asarray(is_nominal, bool)
    weight = np.ones(len(nominal)) if weights is None else np.asarray(weights, np.float64)
    if weight.shape != nominal.shape or not ((weight >= 0) & np.isfinite(weight)).all():
        raise ValueError("weights must be finite and at least 0, one for each column.")
    if not weight.any():
        raise ValueError("weights must be positive for at least one column.")
    spread = np.where(nominal | ~(np.asarray(ranges) > 0), 1.0, ranges)
    mismatch = np.where(nominal, weight, np.nan)
    if metric == "gower":
        return Distance(
            MetricKind.MANHATTAN,
            transform=_Scale(np.where(nominal, 1.0, weight / spread)),
            factor=float(1 / weight.sum()),
            mismatch=mismatch,
            weights=weight,
            missing=MissingRule.PARTIAL,
        )
    if metric == "heom":
        return Distance(
            MetricKind.EUCLIDEAN,
            transform=_Scale(np.where(nominal, 1.0, np.sqrt(weight) / spread)),
            mismatch=mismatch,
            weights=weight,
            missing=MissingRule.MISMATCH,
        )
    raise ValueError(f"metric must be 'gower' or 'heom', got {metric!r}.")


def _to_directions(X: Array) -> Array:
    """Divide rows by their lengths.

    A further column is 1 for rows of zeros, which have no direction: their distance is 1 to all
    others, and 0 to each other.
    """
    size = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    X = X / np.where(size > 0, size, 1.0)
    length = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return np.hstack([X / np.where(length > 0, length, 1.0), (length == 0).astype(X.dtype)])


def _to_centered_directions(X: Array) -> Array:
    """Subtract from each row its mean, and divide it by its length."""
    centered = X - X.mean(axis=1, keepdims=True)
    # Equal values may differ from their mean by rounding.
    constant = (X[:, :1] == X).all(axis=1, keepdims=True)
    return _to_directions(np.where(constant, 0.0, centered))


@dataclass(frozen=True, eq=False)
class _Scale:
    factors: Array

    def __call__(self, X: Array) -> Array:
        return np.asarray(X * self.factors)


@dataclass(frozen=True, eq=False)
class _Multiply:
    matrix: Array

    def __call__(self, X: Array) -> Array:
        return np.asarray(X @ self.matrix)


def _positive_variances(V: Array | None) -> Array:
    if V is None:
        raise ValueError("metric='seuclidean' requires V, the variances of the columns.")
    variances = np.asarray(V, np.float64)
    if variances.ndim != 1 or not (np.isfinite(variances) & (variances > 0)).all():
        raise ValueError("V must have a positive variance for each column with 'seuclidean'.")
    return variances


def _whitening(V: Array | None, VI: Array | None) -> Array:
    """Return a matrix A with ``A @ A.T`` = VI: Mahalanobis distances are those of ``X @ A``."""
    if (V is None) == (VI is None):
        raise ValueError("metric='mahalanobis' requires V, the covariances, or VI, their inverse.")
    inverse = np.linalg.inv(np.asarray(V, np.float64)) if VI is None else np.asarray(VI, np.float64)
    try:
        return np.asarray(np.linalg.cholesky(0.5 * (inverse + inverse.T)))
    except np.linalg.LinAlgError:
        raise ValueError("VI must be symmetric and positive definite.") from None
