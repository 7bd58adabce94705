"""Exact nearest neighbors among rows that are added and removed.

Every index gives the same distances, bit by bit, and the same rows, ties by (distance, row),
whatever the algorithms of its parts (`ceiba.neighbors.parts`).

Rows are in *segments*, one after another. New rows become a new segment, which is merged with the
one before it once it is half as large (the logarithmic method of Bentley & Saxe): a row is prepared
again at most log2(n) times. A removed row stays in its part without a number, until half
of a segment is removed and it is prepared anew.

In a segment, the rows that lack the same columns are a part of their own if they are many: their
distances are sums over the other columns, which a tree bounds. All others share one part, whose
distances are computed one by one.

Bentley & Saxe (1980), "Decomposable searching problems I", Journal of Algorithms 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base.parameters import ParameterError
from ceiba.base.record import ArrayOf, Record
from ceiba.neighbors.distance import Distance
from ceiba.neighbors.parts import (
    PRODUCT_LEAF_ROWS,
    BoxTree,
    BruteForce,
    Part,
    ProductTree,
    Queries,
    VantageTree,
)

Algorithm = Literal["kd_tree", "vp_tree", "products", "brute"]
_ALGORITHMS: dict[str, type[Part]] = {
    cls.algorithm: cls for cls in (BoxTree, ProductTree, VantageTree, BruteForce)
}

# Below, a search among all rows takes no longer than one of a tree.
_MAX_BRUTE_ROWS = 256
# The same for a function, whose calls take longer than anything else.
_MAX_BRUTE_CALLS = 32
# A distance in a leaf of a tree costs as much as 15 products, and a search by products as much as
# 30,000 of them before the first: measured with 6 to 32 columns, uniform and in clusters.
_TREE_COST, _PRODUCTS_START = 15, 30_000
# Rows that a search by products computes at least: those of eight leaves.
_MIN_PRODUCTS = 8 * PRODUCT_LEAF_ROWS
# A distance in a vantage-point tree costs as much as four of a search among all rows: measured with
# Canberra distances of 4 and 10 columns.
_VANTAGE_COST = 4
# Rows that are searched to choose the algorithm: fewer among many, where each takes longer.
_MIN_PROBES, _MAX_PROBES, _PROBED_VALUES = 16, 64, 20_000_000
# Rows that lack the same columns have a part of their own from this number on.
_MIN_PATTERN_ROWS = 1024
# Exponents of two beyond which squares of differences leave the range of float64 (or float32, in
# products) by far.
_MAX_EXPONENT = 20


@dataclass(frozen=True, eq=False)
class PatternPart(Record):
    """Rows that lack the same columns.

    Parameters
    ----------
    part : Part
        Missing values are 0 in it, unless ``known`` is None.
    known : ndarray of bool of shape (n_columns,) or None
        The columns that the rows have; None if they lack different ones.
    """

    part: Any
    known: Annotated[Array | None, ArrayOf("bool", "n_columns")]

    def check(self) -> None:
        """Raise ValueError unless it has a part."""
        if not isinstance(self.part, Part):
            raise ValueError(f"part must be a part of an index, got {type(self.part).__name__}.")


@dataclass(frozen=True, eq=False)
class Segment(Record):
    """Consecutive rows.

    Parameters
    ----------
    n_rows : int
        Rows that were not removed.
    n_built : int
        Rows when it was built.
    parts : tuple of PatternPart
    report : str
        Why its algorithm was chosen.
    """

    n_rows: int
    n_built: int
    parts: tuple[PatternPart, ...]
    report: str


@dataclass(frozen=True, eq=False)
class NeighborIndex(Record):
    """Rows, prepared for the search of nearest neighbors.

    Make one with `NeighborIndex.of`.

    Parameters
    ----------
    distance : Distance
    algorithm : {"auto", "kd_tree", "vp_tree", "products", "brute"}
        As requested.
    n_columns : int
        Columns of the rows, before they are transformed.
    exponent : int
        Rows are multiplied by this power of two, which rounds nothing.
    segments : tuple of Segment

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

    distance: Distance
    algorithm: Literal["auto", "kd_tree", "vp_tree", "products", "brute"]
    n_columns: int
    exponent: int
    segments: tuple[Segment, ...]

    @classmethod
    def of(
        cls,
        X: Array,
        distance: Distance,
        algorithm: Algorithm | Literal["auto"] = "auto",
        threads: int = 1,
        *,
        exponent: int | None = None,
    ) -> NeighborIndex:
        """Prepare rows for searches.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            float32 is kept; all else becomes float64. Missing values are NaN.
        distance : Distance
        algorithm : {"auto", "kd_tree", "vp_tree", "products", "brute"}
            "auto" tries a tree of boxes and products, or a vantage-point tree, with some rows as
            queries, and takes the fastest; `report` has the numbers.
        threads : int
        exponent : int, optional
            Power of two that the rows are multiplied by; by default that of `scale_exponent`.
        """
        X = np.asarray(X)
        single = X.dtype == np.float32 and distance.kind != "function"
        X = np.ascontiguousarray(X, np.float32 if single else np.float64)
        if X.ndim != 2 or not len(X):
            raise ValueError(f"X must have shape (n_rows, n_columns) with rows, got {X.shape}.")
        _check_algorithm(algorithm, distance)
        rows = distance.apply(X)
        _check_finite(rows, distance)
        if exponent is None:
            exponent = scale_exponent(largest_value(rows, distance), distance)
        index = cls(distance, algorithm, X.shape[1], exponent, ())
        return replace(index, segments=(index._build(X, 0, threads),))

    def __len__(self) -> int:
        return sum(segment.n_rows for segment in self.segments)

    @property
    def report(self) -> str:
        """Why the algorithm of the largest segment was chosen, and of what the index consists."""
        largest = max(self.segments, key=lambda segment: segment.n_built)
        text = largest.report
        if len(self.segments) > 1:
            sizes = ", ".join(str(segment.n_rows) for segment in self.segments)
            text += f" The rows are in {len(self.segments)} segments of {sizes} rows."
        removed = sum(segment.n_built - segment.n_rows for segment in self.segments)
        return text + (f" {removed} removed rows are still in them." if removed else "")

    @property
    def algorithms(self) -> list[str]:
        """Forms of the parts."""
        return [pattern.part.algorithm for pattern in self._patterns()]

    @property
    def n_bytes(self) -> int:
        """Memory of the index."""
        return sum(pattern.part.n_bytes for pattern in self._patterns())

    def check(self) -> None:
        """Raise ValueError if the row numbers are not those of the rows."""
        numbers = [pattern.part.row_numbers for pattern in self._patterns()]
        found = np.concatenate([*numbers, np.empty(0, np.int64)])
        if not np.array_equal(np.sort(found[found >= 0]), np.arange(len(self))) or not len(found):
            raise ValueError("the row numbers of an index must be 0 to n_rows - 1, each once.")

    # Searches

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
        distances, rows, _ = self.nearest(queries, k, excluded=excluded, threads=threads)
        return self.distances_of(distances), rows

    def nearest(
        self, queries: Array, k: int, *, excluded: Array | None = None, threads: int = 1
    ) -> tuple[Array, Array, int]:
        """Return native distances and rows of up to k neighbors, and the number of distances.

        Where there are fewer rows, distances are infinite and rows -1 at the end.
        """
        Q = self._to_native(queries)
        distances = np.full((len(Q), k), np.inf)
        rows = np.full((len(Q), k), -1, np.int64)
        n_distances = 0
        for indices, block in self._query_patterns(Q, excluded):
            lists = (distances, rows) if indices is None else (distances[indices], rows[indices])
            nearest = _native.Nearest(*lists)
            for part, metric, shared in self._pairs(block):
                n_distances += part.search(metric, shared, nearest, threads)
            if indices is not None:
                distances[indices], rows[indices] = lists
        if self.distance.missing == "partial":
            rows[np.isinf(distances)] = -1
            self._fill(rows, excluded)
        return distances, rows, n_distances

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
        Q = self._to_native(queries)
        native_radius = float(np.ldexp(self.distance.to_native(radius), self.exponent))
        # Rounding of the radius must not lose a row: the exact test is on the distances themselves.
        wide = np.nextafter(native_radius * (1 + 2.0**-40), np.inf)
        found: list[tuple[Array, Array, Array]] = []
        for indices, block in self._query_patterns(Q, excluded):
            numbers = np.arange(len(Q)) if indices is None else indices
            for part, metric, shared in self._pairs(block):
                starts, distances, rows = part.within(metric, shared, wide, threads)
                found.append((np.repeat(numbers, np.diff(starts)), distances, rows))
        query, distances, rows = _join(found)
        distances = self.distances_of(distances)
        inside = (distances <= radius) & np.isfinite(distances)
        return concatenate_found([(query[inside], distances[inside], rows[inside])], len(Q))

    def distances_of(self, native: Array) -> Array:
        """Return native distances in the units of the rows; raise where they overflow."""
        with np.errstate(over="ignore", under="ignore"):
            distances = self.distance.from_native(np.ldexp(native, -self.exponent))
        # Rows without a common known column are infinitely far apart.
        if np.isinf(distances).any() and not np.array_equal(np.isinf(distances), np.isinf(native)):
            raise _overflow_error()
        return distances

    def _to_native(self, queries: Array) -> Array:
        """Return queries as the native searches take them."""
        Q = np.ascontiguousarray(queries, np.float64)
        if Q.ndim != 2 or Q.shape[1] != self.n_columns:
            raise ValueError(f"queries must have {self.n_columns} columns, got {Q.shape}.")
        Q = self.distance.apply(Q)
        _check_finite(Q, self.distance)
        with np.errstate(over="ignore"):
            Q = np.ascontiguousarray(np.ldexp(Q, self.exponent), np.float64)
        if self.distance.is_coordinate and largest_value(Q, self.distance) > _max_value(
            self.distance
        ):
            raise _overflow_error()
        return Q

    def _query_patterns(
        self, Q: Array, excluded: Array | None
    ) -> Iterator[tuple[Array | None, Queries]]:
        """Yield queries that lack the same columns, and their indices; None for all of them."""
        if self.distance.missing == "none":
            yield None, Queries(Q, excluded=excluded)
            return
        for known, indices in _group_patterns(~np.isnan(Q)):
            block = Q if len(indices) == len(Q) else np.ascontiguousarray(Q[indices])
            skipped = None if excluded is None else excluded[indices]
            columns = None if known.all() else np.flatnonzero(known).astype(np.uint32)
            yield (
                None if len(indices) == len(Q) else indices,
                Queries(block, columns, excluded=skipped),
            )

    def _pairs(self, queries: Queries) -> Iterator[tuple[Part, Any, Queries]]:
        """Yield the parts with their metric, and the queries with the columns that both have."""
        for pattern in self._patterns():
            if pattern.known is None:
                # The values themselves show what is missing.
                yield (
                    pattern.part,
                    self.distance.native(complete=False),
                    replace(queries, columns=None),
                )
                continue
            known = pattern.known.copy()
            if queries.columns is not None:
                known &= np.isin(np.arange(len(known)), queries.columns)
            factor, offset = self.distance.missing_terms(known)
            if factor == np.inf:
                continue  # all of these rows are infinitely far away: see _fill
            metric = self.distance.native(complete=True)
            columns = None if known.all() else np.flatnonzero(known).astype(np.uint32)
            yield (
                pattern.part,
                metric,
                replace(queries, columns=columns, factor=factor, offset=offset),
            )

    def _fill(self, rows: Array, excluded: Array | None) -> None:
        """Complete lists by the first rows that are infinitely far away."""
        for i in np.flatnonzero(rows[:, -1] < 0):
            k = rows.shape[1]
            taken = {*rows[i].tolist(), -1 if excluded is None else int(excluded[i])}
            others = [row for row in range(min(len(self), 2 * k + 1)) if row not in taken]
            missing = int((rows[i] < 0).sum())
            found = others[:missing]
            rows[i, k - missing : k - missing + len(found)] = found

    # Changes

    def with_rows(self, X: Array, threads: int = 1) -> NeighborIndex:
        """Return the index of more rows: those of X beyond the rows of this index are new.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_columns)
            All rows, the ones of this index first.
        threads : int
        """
        n = len(self)
        rows = self.distance.apply(X[n:])
        _check_finite(rows, self.distance)
        exponent = scale_exponent(largest_value(rows, self.distance), self.distance)
        if self.exponent - exponent >= _MAX_EXPONENT:  # squares of the new rows would overflow
            return NeighborIndex.of(X, self.distance, self.algorithm, threads)
        sizes = [segment.n_rows for segment in self.segments] + [len(X) - n]
        while len(sizes) > 1 and (sizes[-2] <= 2 * sizes[-1] or sum(sizes[-2:]) <= _MAX_BRUTE_ROWS):
            sizes[-2:] = [sum(sizes[-2:])]
        kept = self.segments[: len(sizes) - 1]
        start = sum(sizes[:-1])
        return replace(self, segments=(*kept, self._build(X[start:], start, threads)))

    def without_rows(self, removed: Array, X: Array, threads: int = 1) -> NeighborIndex:
        """Return the index without some rows; the others are renumbered in their order.

        Parameters
        ----------
        removed : ndarray of int64
            Numbers of the removed rows, ascending.
        X : ndarray of shape (n_rows, n_columns)
            The remaining rows.
        threads : int
        """
        segments: list[Segment] = []
        first = start = 0
        for segment in self.segments:
            end = first + segment.n_rows
            n_removed = int(np.searchsorted(removed, end) - np.searchsorted(removed, first))
            n_rows = segment.n_rows - n_removed
            if 2 * n_rows < segment.n_built:
                if n_rows:
                    segments.append(self._build(X[start : start + n_rows], start, threads))
            else:
                segments.append(_renumbered(segment, removed, n_rows))
            first, start = end, start + n_rows
        return replace(self, segments=tuple(segments))

    # Building

    def _patterns(self) -> Iterator[PatternPart]:
        for segment in self.segments:
            yield from segment.parts

    def _build(self, X: Array, start: int, threads: int) -> Segment:
        """Return a segment of rows that are numbered from ``start``."""
        rows = self.distance.apply(X)
        if self.exponent:
            rows = np.ldexp(rows, self.exponent)
        numbers = np.arange(start, start + len(X))
        if self.distance.missing == "none" or not np.isnan(rows).any():
            known = np.ones(rows.shape[1], bool)
            part, report = self._choose(rows, numbers, threads)
            return Segment(len(X), len(X), (PatternPart(part, known),), report)
        parts: list[PatternPart] = []
        others: list[Array] = []
        for known, indices in _group_patterns(~np.isnan(rows)):
            if self.algorithm == "brute" or len(indices) < _MIN_PATTERN_ROWS:
                others.append(indices)
                continue
            filled = np.ascontiguousarray(np.where(known, rows[indices], rows.dtype.type(0)))
            part, _ = self._choose(filled, numbers[indices], threads)
            parts.append(PatternPart(part, known))
        report = f"Groups of rows that lack the same columns: {len(parts)} with an index each."
        if others:
            rest = np.sort(np.concatenate(others))
            report = report if parts else "Brute force: values are missing in different columns."
            report += f" The distances to {len(rest)} rows are computed one by one." * bool(parts)
            parts.append(PatternPart(BruteForce(numbers[rest], rows[rest]), None))
        return Segment(len(X), len(X), tuple(parts), report)

    def _choose(self, X: Array, numbers: Array, threads: int) -> tuple[Part, str]:
        """Return the requested algorithm, or the one that computes less for some of the rows."""
        distance, n = self.distance, len(X)
        if self.algorithm != "auto":
            return _ALGORITHMS[self.algorithm].of(X, numbers, distance, threads), "As requested."
        if distance.kind == "function" and n > _MAX_BRUTE_CALLS:
            tree: Part = VantageTree.of(X, numbers, distance, threads)
            return tree, "A vantage-point tree: it calls the function less often."
        if n <= _MAX_BRUTE_ROWS:
            return BruteForce(numbers, X), f"Brute force: {n} rows."
        if not distance.is_coordinate:
            return self._choose_general(X, numbers, threads)
        tree = BoxTree.of(X, numbers, distance, threads)
        probes = _probes(X)
        visited = self._visited(tree, probes, threads)
        tree_report = f"A tree of boxes visits {visited:.0f} of {n} rows per query"
        if not _has_products(distance):
            if 2 * visited < n:
                return tree, f"{tree_report}."
            return BruteForce(numbers, X), f"Brute force. {tree_report}."
        if _TREE_COST * visited < _MIN_PRODUCTS + _PRODUCTS_START:
            return tree, f"{tree_report}."
        products = ProductTree.of(X, numbers, distance, threads)
        with_products = self._visited(products, probes, threads)
        report = f"{tree_report}, products visit {with_products:.0f} at 1/{_TREE_COST} of the cost"
        if _TREE_COST * visited < with_products + _PRODUCTS_START:
            return tree, f"{report}: tree."
        return products, f"{report}: products."

    def _choose_general(self, X: Array, numbers: Array, threads: int) -> tuple[Part, str]:
        """Return a vantage-point tree, if the distance allows one and it computes much less."""
        if not self.distance.has_triangle_inequality:
            report = "Brute force: the distance does not satisfy the triangle inequality."
            return BruteForce(numbers, X), report
        tree = VantageTree.of(X, numbers, self.distance, threads)
        visited = self._visited(tree, _probes(X), threads)
        report = f"A vantage-point tree computes {visited:.0f} distances to {len(X)} rows per query"
        if _VANTAGE_COST * visited < len(X):
            return tree, f"{report}."
        return BruteForce(numbers, X), f"Brute force. {report}."

    def _visited(self, part: Part, probes: Array, threads: int) -> float:
        """Return the mean number of rows whose distances a search for ten neighbors computes."""
        shape = (len(probes), 10)
        nearest = _native.Nearest(np.full(shape, np.inf), np.full(shape, -1, np.int64))
        queries = Queries(np.ascontiguousarray(probes, np.float64))
        metric = self.distance.native(complete=True)
        return part.search(metric, queries, nearest, threads) / len(probes)


def _probes(X: Array) -> Array:
    """Return rows that are searched to choose the algorithm."""
    n = int(np.clip(_PROBED_VALUES // X.size, _MIN_PROBES, _MAX_PROBES))
    return np.asarray(X[np.linspace(0, len(X) - 1, n).astype(np.int64)])


def concatenate_found(
    found: list[tuple[Array, Array, Array]], n_queries: int
) -> tuple[Array, Array, Array]:
    """Return starts, distances and rows of queries, from arrays of (query, distance, row)."""
    query, distances, rows = _join(found)
    order = np.lexsort((rows, distances, query))
    counts = np.bincount(query, minlength=n_queries)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    return starts, distances[order], rows[order]


def _join(found: list[tuple[Array, Array, Array]]) -> tuple[Array, Array, Array]:
    empty = (np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64))
    query, distances, rows = (np.concatenate(a) for a in zip(empty, *found, strict=True))
    return query, distances, rows


def _group_patterns(known: Array) -> Iterator[tuple[Array, Array]]:
    """Yield the patterns of known columns, and the indices of their rows."""
    if known.all():
        yield np.ones(known.shape[1], bool), np.arange(len(known))
        return
    packed = np.packbits(known, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, group = np.unique(keys, return_inverse=True)
    order = np.argsort(group, kind="stable")
    for indices in np.split(order, np.cumsum(np.bincount(group))[:-1]):
        yield known[indices[0]], indices


def scale_exponent(largest: float, distance: Distance) -> int:
    """Return the power of two by which squares of differences neither over- nor underflow.

    Distances that do not have the units of the columns are left as they are, and values that
    overflow are an error.

    Parameters
    ----------
    largest : float
        As `largest_value` returns it.
    distance : Distance
    """
    exponent = -int(np.frexp(largest)[1]) if largest > 0 else 0
    if not distance.has_units:
        if distance.is_coordinate and largest > _max_value(distance):
            raise units_error(largest, "overflow")
        return 0
    return 0 if abs(exponent) < _MAX_EXPONENT else exponent


def units_error(largest: float, what: str) -> ValueError:
    """Return the error for numbers whose powers over- or underflow beside others of size 1."""
    return ValueError(
        f"X must not have numbers of up to {largest:.3g} beside nominal columns, or missing values "
        f"that count as 1: their powers {what}. Set scale='range', or rescale them."
    )


def _max_value(distance: Distance) -> float:
    """Return a value whose reduced distance does not overflow, with any number of columns."""
    return float(1e290 ** (1 / distance.term_power))


def largest_value(X: Array, distance: Distance) -> float:
    """Return the largest absolute value of the numeric columns."""
    if distance.mismatch is not None:
        X = X[:, np.isnan(distance.mismatch)]
    return float(np.abs(X).max(initial=0.0, where=~np.isnan(X)))


def _check_finite(X: Array, distance: Distance) -> None:
    valid = np.isfinite(X) if distance.missing == "none" else ~np.isinf(X)
    if not valid.all():
        if distance.weights is not None:  # a sum over the columns, of which some could be missing
            cause, remedy = "missing='error'", "set missing='auto'"
        else:
            cause, remedy = "this metric", "use metric='gower', 'heom' or 'euclidean'"
        raise ValueError(
            f"Input X contains NaN (missing values) or infinity, which {cause} does not accept: "
            f"impute the values, or {remedy}."
        )


def _has_products(distance: Distance) -> bool:
    return distance.kind == "euclidean" and distance.mismatch is None


def _overflow_error() -> ValueError:
    return ValueError(
        "Distances overflow: the queries are too far from the rows. Rescale the columns."
    )


def _check_algorithm(algorithm: str, distance: Distance) -> None:
    """Raise `ParameterError` for a algorithm that cannot search by a distance."""
    if algorithm not in ("auto", *_ALGORITHMS):
        names = ", ".join(("auto", *_ALGORITHMS))
        raise ParameterError(f"algorithm must be one of {names}, got {algorithm!r}.")
    allowed, needs = {
        "kd_tree": (distance.is_coordinate, "a sum or maximum over the columns"),
        "vp_tree": (distance.has_triangle_inequality, "the triangle inequality"),
        "products": (_has_products(distance), "Euclidean distances of numeric columns"),
    }.get(algorithm, (True, ""))
    if not allowed:
        raise ParameterError(
            f"algorithm={algorithm!r} requires {needs}, got metric={distance.kind!r}: use 'auto'."
        )


def _renumbered(segment: Segment, removed: Array, n_rows: int) -> Segment:
    """Return a segment without some rows."""
    parts: list[PatternPart] = []
    for pattern in segment.parts:
        numbers = pattern.part.row_numbers
        lower = np.searchsorted(removed, numbers)
        is_removed = (lower < len(removed)) & (removed[lower % max(len(removed), 1)] == numbers)
        changed = np.where(is_removed | (numbers < 0), -1, numbers - lower)
        parts.append(replace(pattern, part=pattern.part.renumbered(changed)))
    return replace(segment, n_rows=n_rows, parts=tuple(parts))
