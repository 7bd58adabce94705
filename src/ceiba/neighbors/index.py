"""Exact nearest neighbors among rows of numbers: a tree of boxes, products, or all distances.

Every index gives the same distances, bit by bit, and the same rows, ties by (distance, row). Three
forms are chosen from:

- *tree*: a tree of boxes over the rows, for sums and maxima over the columns. It visits few rows
  where there are few columns, or where the rows lie in clusters.
- *products*: for Euclidean distances in many columns. Products of queries and rows in float32
  select candidates, within a bound of their rounding; the distances of candidates are computed
  from differences in float64.
- *brute*: the distances to all rows, for any metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ceiba import _native
from ceiba._native import MetricKind
from ceiba._typing import Array
from ceiba.neighbors.distance import Distance

Form = Literal["tree", "products", "brute"]

# Rows of a leaf. Fewer rows of a tree make more boxes, more rows of products leave the cache.
_LEAF_ROWS = {"tree": 32, "products": 512}
# Below, a search among all rows takes no longer than one of a tree.
_FEW_ROWS = 256
# A distance in a leaf of a tree costs as much as 23 products, and a search by products as much as
# 3,000 of them before the first: measured with 4 to 64 columns, uniform and in clusters.
_TREE_COST, _PRODUCTS_START = 23, 3000
# Rows that are searched to choose the form.
_N_PROBES = 64
# Exponents of two beyond which squares of differences leave the range of float64 (or float32, in
# products) by far.
_MAX_EXPONENT = 20


@dataclass(frozen=True, eq=False)
class NeighborIndex:
    """Rows, prepared for the search of nearest neighbors.

    Make one with `NeighborIndex.of`.

    Parameters
    ----------
    X : ndarray of float64 or float32, of shape (n_rows, n_columns)
        Rows as the native distance takes them.
    distance : Distance
    form : {"tree", "products", "brute"}
    exponent : int
        Rows are multiplied by this power of two, which rounds nothing.
    native : object or None
        The native tree; None for brute force.
    report : str
        Why this form was chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.neighbors import NeighborIndex, make_distance
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]])
    >>> index = NeighborIndex.of(X, make_distance("euclidean"))
    >>> distances, rows = index.search(np.array([[0.0, 0.0]]), k=2)
    >>> distances.tolist(), rows.tolist()
    ([[0.0, 1.0]], [[0, 1]])
    """

    X: Array
    distance: Distance
    form: Form
    exponent: int
    native: Any
    report: str

    @classmethod
    def of(
        cls,
        X: Array,
        distance: Distance,
        form: Form | Literal["auto"] = "auto",
        threads: int = 1,
    ) -> NeighborIndex:
        """Prepare rows for searches.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            float32 is kept; all else becomes float64.
        distance : Distance
        form : {"auto", "tree", "products", "brute"}
            "auto" tries tree and products with some rows as queries, and takes the faster one.
        threads : int
        """
        X = np.ascontiguousarray(X, np.float32 if X.dtype == np.float32 else np.float64)
        if X.ndim != 2 or not len(X):
            raise ValueError(f"X must have shape (n_rows, n_columns) with rows, got {X.shape}.")
        X, exponent = _in_range(distance.apply(X), distance)
        if form == "auto":
            return cls._choose(X, distance, exponent, threads)
        _check_form(form, distance)
        return cls(X, distance, form, exponent, _build(X, form, threads), "as requested")

    @classmethod
    def _choose(cls, X: Array, distance: Distance, exponent: int, threads: int) -> NeighborIndex:
        """Return the form that computes less for some of the rows."""
        n = len(X)
        if not _has_tree(distance) or n <= _FEW_ROWS:
            why = f"{n} rows" if _has_tree(distance) else "no tree for this distance"
            return cls(X, distance, "brute", exponent, None, f"brute force: {why}.")
        tree = _build(X, "tree", threads)
        probes = X[np.linspace(0, n - 1, _N_PROBES).astype(np.int64)]
        visited = _visited(tree, probes, distance, threads)
        if not _has_products(distance):
            if 2 * visited < n:
                why = f"a tree of boxes visits {visited:.0f} of {n} rows per query."
                return cls(X, distance, "tree", exponent, tree, why)
            why = f"brute force: a tree of boxes would visit {visited:.0f} of {n} rows per query."
            return cls(X, distance, "brute", exponent, None, why)
        if _TREE_COST * visited < _PRODUCTS_START:
            why = f"a tree of boxes visits {visited:.0f} of {n} rows per query."
            return cls(X, distance, "tree", exponent, tree, why)
        products = _build(X, "products", threads)
        with_products = _visited(products, probes, distance, threads)
        numbers = (
            f"a tree of boxes visits {visited:.0f} of {n} rows per query, products visit "
            f"{with_products:.0f} at 1/{_TREE_COST} of the cost"
        )
        if _TREE_COST * visited < with_products + _PRODUCTS_START:
            return cls(X, distance, "tree", exponent, tree, f"{numbers}: tree.")
        return cls(X, distance, "products", exponent, products, f"{numbers}: products.")

    def __len__(self) -> int:
        return len(self.X)

    def search(
        self, queries: Array, k: int, *, excluded: Array | None = None, threads: int = 1
    ) -> tuple[Array, Array]:
        """Return distances and rows of the k nearest neighbors of each query.

        Parameters
        ----------
        queries : ndarray of shape (n_queries, n_columns)
        k : int
        excluded : ndarray of int64 of shape (n_queries,), optional
            A row that each query must not find, such as itself.
        threads : int

        Returns
        -------
        distances : ndarray of float64 of shape (n_queries, k)
        rows : ndarray of int64 of shape (n_queries, k)
            Ascending by (distance, row).
        """
        available = len(self) - (excluded is not None)
        if not 1 <= k <= available:
            raise ValueError(f"k must be in [1, {available}], the number of rows, got {k}.")
        Q = self._queries(queries)
        distances = np.full((len(Q), k), np.inf)
        rows = np.full((len(Q), k), -1, np.int64)
        arguments = (
            self.distance.native,
            _native.Queries(Q, excluded=excluded),
            _native.Nearest(distances, rows),
            threads,
        )
        if self.native is not None:
            self.native.search(*arguments)
        else:
            _native.neighbors_search(self.X, np.arange(len(self)), *arguments)
        return self._distances(distances), rows

    def within(
        self,
        queries: Array,
        radius: float,
        *,
        excluded: Array | None = None,
        threads: int = 1,
    ) -> tuple[Array, Array, Array]:
        """Return the rows within a radius of each query.

        Returns
        -------
        starts : ndarray of int64 of shape (n_queries + 1,)
            The neighbors of query i are the entries from ``starts[i]`` to ``starts[i + 1]``.
        distances : ndarray of float64
        rows : ndarray of int64
            Ascending by (distance, row) for each query.
        """
        if not radius >= 0:
            raise ValueError(f"radius must be at least 0, got {radius!r}.")
        Q = self._queries(queries)
        native_radius = float(np.ldexp(self.distance.to_native(radius), self.exponent))
        # Rounding of the radius must not lose a row: the exact test is on the distances themselves.
        wide = np.nextafter(native_radius * (1 + 2.0**-40), np.inf)
        arguments = (self.distance.native, _native.Queries(Q, excluded=excluded), wide, threads)
        if self.form == "tree":
            starts, distances, rows = self.native.radius(*arguments)
        else:
            starts, distances, rows = _native.neighbors_radius(
                self.X, np.arange(len(self)), *arguments
            )
        distances = self._distances(distances)
        query = np.repeat(np.arange(len(Q)), np.diff(starts))
        inside = distances <= radius
        query, distances, rows = query[inside], distances[inside], rows[inside]
        order = np.lexsort((rows, distances, query))
        counts = np.bincount(query, minlength=len(Q))
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        return starts, distances[order], rows[order]

    def _queries(self, queries: Array) -> Array:
        """Return queries as the native searches take them."""
        Q = np.asarray(self.distance.apply(np.ascontiguousarray(queries, np.float64)))
        with np.errstate(over="ignore"):
            Q = np.ascontiguousarray(np.ldexp(Q, self.exponent), np.float64)
        if Q.ndim != 2 or Q.shape[1] != self.X.shape[1]:
            raise ValueError(f"queries must have {self.X.shape[1]} columns, got {Q.shape}.")
        return Q

    def _distances(self, native: Array) -> Array:
        """Return native distances in the units of the rows; raise where they overflow."""
        with np.errstate(over="ignore", under="ignore"):
            distances = self.distance.from_native(np.ldexp(native, -self.exponent))
        # Rows without a common known column are infinitely far apart.
        if not np.isfinite(distances).all() and self.distance.weights is None:
            raise ValueError(
                "Distances overflow: the queries are too far from the rows. Rescale the columns."
            )
        return distances


def _in_range(X: Array, distance: Distance) -> tuple[Array, int]:
    """Multiply rows by a power of two, so that squares of differences neither over- nor underflow.

    Distances that do not have the units of the columns are left as they are.
    """
    valid = np.isfinite(X) if distance.weights is None else ~np.isinf(X)
    if not valid.all():
        raise ValueError("X must not have missing or infinite values with this distance.")
    size = float(np.abs(X).max(initial=0.0, where=np.isfinite(X)))
    exponent = -int(np.frexp(size)[1]) if size > 0 else 0
    if not distance.is_coordinate or distance.mismatch is not None or abs(exponent) < _MAX_EXPONENT:
        return X, 0
    return np.ldexp(X, exponent), exponent


def _has_tree(distance: Distance) -> bool:
    return distance.is_coordinate and distance.weights is None


def _has_products(distance: Distance) -> bool:
    return distance.kind == MetricKind.EUCLIDEAN and distance.mismatch is None


def _check_form(form: str, distance: Distance) -> None:
    if form == "tree" and not _has_tree(distance):
        raise ValueError("form='tree' requires a sum or maximum over known columns: use 'brute'.")
    if form == "products" and not (_has_tree(distance) and _has_products(distance)):
        raise ValueError("form='products' requires Euclidean distances: use 'tree' or 'brute'.")


def _build(X: Array, form: Form, threads: int) -> Any:
    """Return the native tree of a form; None for brute force."""
    if form == "brute":
        return None
    leaf_rows = _LEAF_ROWS[form]
    order, boxes = _native.neighbors_build(X, leaf_rows, None, threads)
    tree: Any = _native.BoxTree if X.dtype == np.float64 else _native.FloatBoxTree
    ids = order.astype(np.int64)
    if form == "tree":
        tiles = _native.neighbors_tiles(X, leaf_rows, order, threads)
        return tree(X, leaf_rows, order, ids, boxes, tiles, None)
    products = _native.neighbors_products(X, leaf_rows, order, threads)
    return tree(X, leaf_rows, order, ids, boxes, None, products)


def _visited(tree: Any, probes: Array, distance: Distance, threads: int) -> float:
    """Return the mean number of rows whose distances a search for ten neighbors computes."""
    k = 10
    distances, rows = np.full((len(probes), k), np.inf), np.full((len(probes), k), -1, np.int64)
    queries = _native.Queries(np.ascontiguousarray(probes, np.float64))
    found = tree.search(distance.native, queries, _native.Nearest(distances, rows), threads)
    return float(found / len(probes))
