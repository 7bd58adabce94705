"""Distances between rows of numbers, by the names of scikit-learn.

A distance is one of the native kinds, after a transformation of the rows: the cosine distance, for
example, is half of the squared Euclidean distance of rows of length 1. Differences, unlike
``1 - x @ y``, keep the digits of small distances.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Annotated, Any, Literal

import numpy as np

from ceiba import _native
from ceiba._native import MetricKind, MissingRule
from ceiba._typing import Array
from ceiba.base.record import ArrayOf, Record, check_values

# The kinds that are sums or maxima over the columns: a tree of boxes bounds them, they have the
# units of the columns, and they have a meaning where values are missing or nominal.
_COORDINATE = {
    "euclidean": MetricKind.EUCLIDEAN,
    "manhattan": MetricKind.MANHATTAN,
    "chebyshev": MetricKind.CHEBYSHEV,
    "minkowski": MetricKind.MINKOWSKI,
}
_BOOLEAN = {
    "jaccard": MetricKind.JACCARD,
    "dice": MetricKind.DICE,
    "rogerstanimoto": MetricKind.ROGERS_TANIMOTO,
    "sokalmichener": MetricKind.ROGERS_TANIMOTO,
    "russellrao": MetricKind.RUSSELL_RAO,
    "sokalsneath": MetricKind.SOKAL_SNEATH,
    "yule": MetricKind.YULE,
}
_KINDS = _COORDINATE | _BOOLEAN | {
    "canberra": MetricKind.CANBERRA,
    "braycurtis": MetricKind.BRAY_CURTIS,
    "haversine": MetricKind.HAVERSINE,
    "hamming": MetricKind.HAMMING,
}  # fmt: skip
# Kinds for which d(x, z) <= d(x, y) + d(y, z), so that a vantage-point tree is exact.
_TRIANGLE = {
    *_COORDINATE, "canberra", "haversine", "hamming", "jaccard", "rogerstanimoto", "sokalmichener",
    "sokalsneath",
}  # fmt: skip
_MISSING = {
    "none": MissingRule.NONE,
    "partial": MissingRule.PARTIAL,
    "mismatch": MissingRule.MISMATCH,
}
# Up to this power of 'minkowski', differences that are 2^-52 of values near 2^-20 do not underflow:
# (2^-72)^14 = 2^-1008 is above the smallest float64, 2^-1022.
_MAX_POWER = 14
SYNONYMS = {
    "l1": "manhattan",
    "cityblock": "manhattan",
    "l2": "euclidean",
    "nan_euclidean": "euclidean",
    "infinity": "chebyshev",
    "p": "minkowski",
}
METRICS = (*_KINDS, *SYNONYMS, "sqeuclidean", "seuclidean", "mahalanobis", "cosine",
           "correlation")  # fmt: skip
BOOLEAN_METRICS = tuple(_BOOLEAN)
# Metrics of nominal columns and missing values, beside 'gower' and 'heom'.
COORDINATE_METRICS = (*_COORDINATE, "sqeuclidean")


@dataclass(frozen=True, eq=False)
class Distance(Record):
    """A distance between rows.

    Parameters
    ----------
    kind : str
        The native kind, such as ``"euclidean"``; ``"function"`` for a Python function.
    p : float
        Of the kind ``"minkowski"``.
    factors : ndarray of shape (n_columns,) or None
        Factors of the columns, which are multiplied first.
    direction : {"none", "from zero", "from mean"}
        Whether rows are then divided by their length, and whether the mean of each row is
        subtracted before.
    whitening : ndarray of shape (n_columns, n_columns) or None
        Matrix that the rows are then multiplied with.
    power, factor : int, float
        The distance is ``factor * d ** power`` of the native distance d.
    mismatch : ndarray of shape (n_columns,) or None
        What different codes of a nominal column add to the sum over the columns; NaN for numeric
        columns. None if all are numeric.
    weights : ndarray of shape (n_columns,) or None
        Weights of the columns, where values may be missing.
    missing : {"none", "partial", "mismatch"}
        What a missing value adds: ``"none"`` if there are none; with ``"partial"`` nothing, and the
        sum over the columns known in both rows is multiplied by total weight / weight of those
        columns; with ``"mismatch"`` the weight of its column.
    function : callable or None
        ``f(x, y)`` of the kind ``"function"``.
    """

    kind: str
    p: float = 2.0
    factors: Annotated[Array | None, ArrayOf("float64", "n_columns")] = None
    direction: Literal["none", "from zero", "from mean"] = "none"
    whitening: Annotated[Array | None, ArrayOf("float64", "n_columns", "n_columns")] = None
    power: int = 1
    factor: float = 1.0
    mismatch: Annotated[Array | None, ArrayOf("float64", "n_columns")] = None
    weights: Annotated[Array | None, ArrayOf("float64", "n_columns")] = None
    missing: Literal["none", "partial", "mismatch"] = "none"
    function: Any = None

    def check(self) -> None:
        """Raise ValueError for values that no distance has."""
        if self.kind not in (*_KINDS, "function"):
            raise ValueError(f"kind must be one of {', '.join(_KINDS)}, got {self.kind!r}.")
        if (self.kind == "function") != callable(self.function):
            raise ValueError("function must be callable for kind='function', and None otherwise.")
        if not 1 <= self.p < np.inf or self.power not in (1, 2) or not 0 < self.factor < np.inf:
            raise ValueError("p, power and factor must be those of a distance.")
        for name in ("factors", "weights", "mismatch"):
            array = getattr(self, name)
            if array is not None:
                valid = (array >= 0) & np.isfinite(array)
                if name == "mismatch":
                    valid |= np.isnan(array)
                check_values(name, array, valid, "finite and at least 0")
        if self.missing != "none" and (self.weights is None or not self.is_coordinate):
            raise ValueError("missing values require a sum over the columns, and weights.")

    @property
    def is_coordinate(self) -> bool:
        """Whether it is a sum or maximum over the columns, after the transformation."""
        return self.kind in _COORDINATE

    @property
    def term_power(self) -> float:
        """Power of the differences in the sum over the columns."""
        return {"euclidean": 2.0, "minkowski": self.p}.get(self.kind, 1.0)

    @property
    def has_units(self) -> bool:
        """Whether rows times a number have distances times that number."""
        return self.is_coordinate and self.mismatch is None and self.missing != "mismatch"

    @property
    def has_triangle_inequality(self) -> bool:
        """Whether the native distance is a metric, as that of a function must be."""
        return self.kind in _TRIANGLE or self.kind == "function"

    def equals(self, other: Distance) -> bool:
        """Return whether another distance is the same in every number."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(
            np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a is b or a == b
            for a, b in pairs
        )

    def native(self, *, complete: bool) -> Any:
        """Return the distance for the native searches; ``complete`` rows lack no values."""
        if self.kind == "function":
            return self.function
        missing = "none" if complete else self.missing
        return _native.Metric(
            _KINDS[self.kind], self.p, self.mismatch, self.weights, _MISSING[missing]
        )

    def apply(self, X: Array) -> Array:
        """Return the rows that the native distance is computed of."""
        if self.factors is not None:
            X = X * self.factors
        if self.direction != "none":
            X = _to_directions(X, centered=self.direction == "from mean")
        if self.whitening is not None:
            X = X @ self.whitening
        return np.ascontiguousarray(X)

    def from_native(self, distances: Array) -> Array:
        """Return the distances of native ones."""
        if self.power == 1 and self.factor == 1.0:
            return distances
        return np.asarray(self.factor * distances**self.power)

    def to_native(self, radius: float) -> float:
        """Return the native distance of a distance."""
        return float((radius / self.factor) ** (1 / self.power))

    def missing_terms(self, known: Array) -> tuple[float, float]:
        """Return factor and offset of a sum over the ``known`` columns alone.

        The factor is infinite if the known columns have no weight.
        """
        if self.missing == "none" or known.all():
            return 1.0, 0.0
        assert self.weights is not None
        # Summed one after another, as the native searches do.
        total = shared = absent = 0.0
        for weight, is_known in zip(self.weights.tolist(), known.tolist(), strict=True):
            total += weight
            shared += weight if is_known else 0.0
            missing = 0.0 if is_known else weight
            absent = max(absent, missing) if self.kind == "chebyshev" else absent + missing
        if self.missing == "mismatch":
            return 1.0, absent
        return (total / shared if shared > 0 else np.inf), 0.0


def make_distance(
    metric: str | Callable[..., float],
    p: float = 2.0,
    *,
    V: Array | None = None,
    VI: Array | None = None,
    factors: Array | None = None,
) -> Distance:
    """Return the distance of a name of scikit-learn, or of a function.

    Parameters
    ----------
    metric : str or callable
        One of `METRICS`, or a function of two rows that returns their distance and satisfies the
        triangle inequality.
    p : float
        Power of ``"minkowski"``, at least 1.
    V : ndarray, optional
        Variances of the columns for ``"seuclidean"``, covariances for ``"mahalanobis"``.
    VI : ndarray, optional
        Inverse of the covariances.
    factors : ndarray of shape (n_columns,), optional
        Factors of the columns, which are multiplied first.

    Notes
    -----
    Rows of zeros have no direction: their cosine and correlation distance is 0 to each other, and 1
    to all others.

    Examples
    --------
    >>> from ceiba.neighbors import make_distance
    >>> make_distance("cosine").power
    2
    """
    name = "function" if callable(metric) else SYNONYMS.get(metric, metric)
    if factors is not None and name in ("function", "seuclidean", "mahalanobis"):
        raise ValueError(f"factors have no effect with metric={name!r}: leave them out.")
    if callable(metric):
        return Distance("function", function=metric)
    if name == "minkowski":
        if not 1 <= p <= _MAX_POWER and p != np.inf:
            raise ValueError(
                f"p must be in [1, {_MAX_POWER}] or infinite, got {p!r}: smaller powers are no "
                "distances, and larger ones underflow. metric='chebyshev' is their limit."
            )
        special = {1.0: "manhattan", 2.0: "euclidean", np.inf: "chebyshev"}
        if p not in special:
            return Distance("minkowski", float(p), factors=factors)
        name = special[p]
    if name in _KINDS:
        return Distance(name, factors=factors)
    if name == "sqeuclidean":
        return Distance("euclidean", power=2, factors=factors)
    if name == "cosine":
        return Distance("euclidean", direction="from zero", factors=factors, power=2, factor=0.5)
    if name == "correlation":
        return Distance("euclidean", direction="from mean", factors=factors, power=2, factor=0.5)
    if name == "seuclidean":
        return Distance("euclidean", factors=1 / np.sqrt(_positive_variances(V)))
    if name == "mahalanobis":
        return Distance("euclidean", whitening=_whitening(V, VI))
    raise ValueError(f"metric must be one of {', '.join(METRICS)}, got {metric!r}.")


def make_mixed_distance(
    metric: str,
    is_nominal: Array,
    divisors: Array,
    weights: Array | None = None,
    *,
    p: float = 2.0,
    missing: Literal["auto", "partial", "mismatch"] = "auto",
) -> Distance:
    """Return a distance of numeric and nominal columns together.

    Numeric columns are divided by their divisor, in Gower's coefficient and HEOM their range.
    Nominal ones hold codes, and count as a difference of 1 if they differ. Values may be missing
    (NaN).

    Parameters
    ----------
    metric : str
        ``"gower"``: the weighted mean of the differences. ``"heom"``: the root of their weighted
        sum of squares. Or one of ``"euclidean"``, ``"sqeuclidean"``, ``"manhattan"``,
        ``"chebyshev"`` and ``"minkowski"``.
    is_nominal : ndarray of bool of shape (n_columns,)
    divisors : ndarray of shape (n_columns,)
        Divisor of each numeric column, such as its largest minus its smallest value; 0 counts as 1.
    weights : ndarray of shape (n_columns,), optional
        Weights of the columns, of the terms of the sum; 1 by default.
    p : float
        Power of ``"minkowski"``.
    missing : {"auto", "partial", "mismatch"}
        ``"partial"``: the sum over the columns that are known in both rows, times total weight /
        weight of those columns; rows without a common column are infinitely far apart.
        ``"mismatch"``: a missing value counts as a difference of 1. ``"auto"``: ``"mismatch"`` for
        HEOM, else ``"partial"``.

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
    name = {"gower": "manhattan", "heom": "euclidean"}.get(metric, metric)
    plain = make_distance(name, p)
    if not plain.is_coordinate or plain.direction != "none":
        raise ValueError(
            "metric must be 'gower', 'heom', 'euclidean', 'sqeuclidean', 'manhattan', 'chebyshev' "
            f"or 'minkowski' for nominal columns, weights or missing values, got {metric!r}."
        )
    divisor = np.where(np.asarray(divisors) > 0, divisors, 1.0)
    factors = np.where(nominal, 1.0, weight ** (1 / plain.term_power) / divisor)
    if missing == "auto":
        missing = "mismatch" if metric == "heom" else "partial"
    return Distance(
        plain.kind,
        plain.p,
        factors=None if (factors == 1.0).all() else factors,
        power=plain.power,
        factor=float(1 / weight.sum()) if metric == "gower" else 1.0,
        mismatch=np.where(nominal, weight, np.nan) if nominal.any() else None,
        weights=weight,
        missing=missing,
    )


def _to_directions(X: Array, *, centered: bool) -> Array:
    """Divide rows by their lengths, ``centered`` ones after subtracting the mean of each row.

    A further column is 1 for rows of zeros, which have no direction: their distance is 1 to all
    others, and 0 to each other.
    """
    if centered:
        # Equal values may differ from their mean by rounding.
        constant = (X[:, :1] == X).all(axis=1, keepdims=True)
        X = np.where(constant, 0.0, X - X.mean(axis=1, keepdims=True))
    size = np.abs(X).max(axis=1, initial=0.0, keepdims=True)
    X = X / np.where(size > 0, size, 1.0)
    length = np.sqrt((X * X).sum(axis=1, keepdims=True))
    return np.hstack([X / np.where(length > 0, length, 1.0), (length == 0).astype(X.dtype)])


def _positive_variances(V: Array | None) -> Array:
    if V is None:
        raise ValueError(
            "metric_params of metric='seuclidean' must be V, the variances of the columns."
        )
    variances = np.asarray(V, np.float64)
    if variances.ndim != 1 or not (np.isfinite(variances) & (variances > 0)).all():
        raise ValueError("V must have a positive variance for each column with 'seuclidean'.")
    return variances


def _whitening(V: Array | None, VI: Array | None) -> Array:
    """Return a matrix A with ``A @ A.T`` = VI: Mahalanobis distances are those of ``X @ A``."""
    if (V is None) == (VI is None):
        raise ValueError(
            "metric_params of metric='mahalanobis' must be V, the covariances, or VI, their "
            "inverse, and not both."
        )
    try:
        inverse = np.asarray(np.linalg.inv(np.asarray(V)) if VI is None else VI, np.float64)
        return np.asarray(np.linalg.cholesky(0.5 * (inverse + inverse.T)))
    except np.linalg.LinAlgError:
        raise ValueError(
            "metric_params V and VI must be symmetric and positive definite with 'mahalanobis': "
            "leave out columns that are constant or sums of others, or use metric='seuclidean'."
        ) from None
