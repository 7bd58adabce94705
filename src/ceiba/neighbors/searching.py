"""Searches in a fitted model: nearest neighbors, neighbors within a radius, and their graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Annotated, Any, Literal

import numpy as np
from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ArrayOf, Estimator, Record, fitted
from ceiba.engine import Batch, Engine
from ceiba.engine.contract import RowResults
from ceiba.engine.local import effective_threads
from ceiba.neighbors.partitioned import PartitionedIndex, matrix_of
from ceiba.neighbors.rows import NeighborRows, ToNeighborRows

#: Bytes that the queries of a block and their lists of neighbors may take. Other distances than
#: those of the lists are never stored.
MEMORY_BUDGET = 2**28


@dataclass(frozen=True, eq=False)
class TrainingRows(Record):
    """The rows of a model.

    Parameters
    ----------
    X : ndarray of float64 or float32, of shape (n_rows, n_columns)
        Numbers, codes of nominal columns and ranks of ordinal ones; NaN for missing values. Without
        columns where the rows stay in files or on a cluster.
    target : ndarray of shape (n_rows,) or None
        Class indices, or numbers.
    """

    X: Annotated[Array, ArrayOf("f", "n_rows", "n_columns")]
    target: Annotated[Array | None, ArrayOf("if", "n_rows")]

    @property
    def known_target(self) -> Array:
        """The target of a supervised learner."""
        if self.target is None:
            raise ValueError("target must be an array for a supervised learner, got None.")
        return self.target


@dataclass(frozen=True, slots=True)
class NeighborCost:
    """What a model of nearest neighbors costs.

    Parameters
    ----------
    n_rows : int
    stored_bytes : int
        Memory of the training rows.
    index_bytes : int
        Memory of the index, beside the rows.
    n_queries, n_distances : int
        Queries of the last prediction or search of nearest neighbors in this process, and distances
        that were computed for them.
    """

    n_rows: int
    stored_bytes: int
    index_bytes: int
    n_queries: int
    n_distances: int


class SearchCount:
    """Size of the last search. It is no part of the model, and copies start anew."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the last search."""
        self.n_queries = self.n_distances = 0

    def __reduce__(self) -> Any:
        return SearchCount, ()


class NeighborSearches(Estimator):
    """Search the nearest training rows of a fitted model."""

    rows_: TrainingRows = fitted()
    index_: Any = fitted()
    n_samples_fit_: int = fitted()
    n_neighbors_: int = fitted()

    def kneighbors(
        self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> Any:
        """Find the nearest training rows of each row of ``X``.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection, optional
            By default the training rows, whose neighbors are other rows than themselves.
        n_neighbors : int, optional
            Their number; by default that of the model.
        return_distance : bool

        Returns
        -------
        distances : ndarray of shape (n_rows, n_neighbors)
            Ascending; only if ``return_distance``.
        rows : ndarray of int64 of shape (n_rows, n_neighbors)
            Numbers of the training rows; of equally distant ones the first come first.
        """
        check_is_fitted(self)
        k = self._k() if n_neighbors is None else n_neighbors
        distances, rows = self._kneighbors(X, k)
        return (distances, rows) if return_distance else rows

    def kneighbors_graph(
        self,
        X: Any = None,
        n_neighbors: int | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> csr_array:
        """Compute the graph from each row of ``X`` to its nearest training rows.

        Parameters
        ----------
        X, n_neighbors
            As in ``kneighbors``.
        mode : {"connectivity", "distance"}
            Entries: ones, or distances.

        Returns
        -------
        csr_array of shape (n_rows, n_samples_fit_)
        """
        _check_mode(mode)
        distances, rows = self.kneighbors(X, n_neighbors)
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        values = distances.ravel() if mode == "distance" else np.ones(rows.size)
        return csr_array((values, rows.ravel(), starts), (len(rows), self.n_samples_fit_))

    def radius_neighbors(
        self,
        X: Any = None,
        radius: float | None = None,
        return_distance: bool = True,
    ) -> Any:
        """Find the training rows within a radius of each row of ``X``.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection, optional
            By default the training rows, whose neighbors are other rows than themselves.
        radius : float, optional
            By default that of the learner, if it has one.
        return_distance : bool

        Returns
        -------
        distances : ndarray of objects, of shape (n_rows,)
            An array for each row; only if ``return_distance``.
        rows : ndarray of objects, of shape (n_rows,)
            Sorted by (distance, row).
        """
        starts, distances, rows = self._radius_neighbors(X, radius)
        lists = _split(rows, starts)
        return (_split(distances, starts), lists) if return_distance else lists

    def radius_neighbors_graph(
        self,
        X: Any = None,
        radius: float | None = None,
        mode: Literal["connectivity", "distance"] = "connectivity",
    ) -> csr_array:
        """Compute the graph from each row of ``X`` to the training rows within a radius.

        Parameters
        ----------
        X, radius
            As in ``radius_neighbors``.
        mode : {"connectivity", "distance"}

        Returns
        -------
        csr_array of shape (n_rows, n_samples_fit_)
        """
        _check_mode(mode)
        starts, distances, rows = self._radius_neighbors(X, radius)
        values = distances if mode == "distance" else np.ones(len(rows))
        return csr_array((values, rows, starts), (len(starts) - 1, self.n_samples_fit_))

    def cost(self) -> NeighborCost:
        """Return what the model costs: its memory, and the distances of the last search.

        Examples
        --------
        >>> from ceiba import KNeighborsClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = KNeighborsClassifier().fit(iris.table, iris.y)
        >>> _ = model.predict(iris.table[:10])
        >>> model.cost().n_distances
        1500
        """
        check_is_fitted(self)
        arrays = [self.rows_.X, self.rows_.target]
        stored = sum(array.nbytes for array in arrays if array is not None)
        index = self.index_.n_bytes
        count = self._search_count()
        return NeighborCost(self.n_samples_fit_, stored, index, count.n_queries, count.n_distances)

    @property
    def index_report_(self) -> str:
        """Why the algorithm was chosen."""
        check_is_fitted(self)
        return str(self.index_.report)

    def _k(self) -> int:
        """Return the number of neighbors: as set now, or as leave-one-out chose it."""
        given: Any = getattr(self, "n_neighbors")  # noqa: B009 - subclasses declare it
        if given != "loo":
            return given  # type: ignore[no-any-return]
        if not hasattr(self, "loo_curve_"):
            raise ValueError("n_neighbors='loo' requires a fit: fit the model again.")
        return self.n_neighbors_

    def _kneighbors(self, X: Any, k: Any) -> tuple[Array, Array]:
        """Return distances and rows of the k nearest neighbors of rows of any source."""
        check_n_neighbors(k, self.n_samples_fit_, without_itself=X is None)
        count = self._search_count(reset=True)
        distances, rows = self._for_queries(X, partial(search, self.index_, int(k), count))
        return distances, rows

    def _search_count(self, *, reset: bool = False) -> SearchCount:
        """Return the count of the last search, or a new one."""
        if reset or "_count" not in self.__dict__:
            # In place, so that a prediction changes no attribute.
            self.__dict__.setdefault("_count", SearchCount()).reset()
        count: SearchCount = self.__dict__["_count"]
        return count

    def _radius_neighbors(self, X: Any, radius: float | None) -> tuple[Array, Array, Array]:
        check_is_fitted(self)
        radius = getattr(self, "radius", None) if radius is None else radius
        if radius is None:
            name = type(self).__name__
            raise ValueError(f"radius must be a number: {name} has no radius of its own.")
        if not isinstance(radius, Real) or isinstance(radius, bool) or not float(radius) >= 0:
            raise ValueError(f"radius must be a number of at least 0, got {radius!r}.")
        lists = self._for_queries(X, partial(search_within, self.index_, float(radius)))
        counts = np.array([len(rows) for _, rows in lists], np.int64)
        starts = np.concatenate([[0], np.cumsum(counts)])
        distances = np.concatenate([np.empty(0), *(distances for distances, _ in lists)])
        rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in lists)])
        return starts, distances, rows

    def _for_queries(self, X: Any, function: Callable[..., Any]) -> Any:
        """Compute results of rows by ``function(queries, excluded, threads)``.

        Without X the queries are the training rows, which exclude themselves.
        """
        check_is_fitted(self)
        threads = effective_threads(self.n_jobs)
        if X is not None:
            engine, source = self._open_source(X, reset=False)
            rows = engine.rows(source.partitions, ToNeighborRows())
            return self._for_rows(engine, rows, function)
        blocks = training_blocks(self.index_, self.rows_)
        results = [function(Q, numbers, threads) for Q, numbers in blocks]
        return RowResults(tuple(results)).concatenate()

    def _for_rows(self, engine: Engine, rows: Any, function: Callable[..., Any]) -> Any:
        """Compute results of the rows of an engine."""
        if not isinstance(self.index_, PartitionedIndex):
            return engine.predict(rows, _apply, function)
        # A pass over the training rows cannot run inside one over the queries.
        return function(engine.predict(rows, matrix_of), None, effective_threads(self.n_jobs))


def search(
    index: Any, k: int, count: SearchCount, Q: Array, excluded: Array | None, threads: int
) -> tuple[Array, Array]:
    """Return distances and rows of the k nearest neighbors of each query."""
    blocks = list(search_blocks(index, k, count, Q, excluded, threads))
    found: tuple[Array, Array] = RowResults(tuple(blocks)).concatenate()
    return found


def search_blocks(
    index: Any, k: int, count: SearchCount, Q: Array, excluded: Array | None, threads: int
) -> Iterator[tuple[Array, Array]]:
    """Yield distances and rows of the k nearest neighbors of blocks of queries."""
    # A query takes 16 bytes for each entry of its list, and about 64 for each neighbor and 24 for
    # each column while it is searched and its neighbors vote.
    size = max(1, MEMORY_BUDGET // (80 * k + 24 * Q.shape[1]))
    count.n_queries += len(Q)
    for first in range(0, max(len(Q), 1), size):
        block = slice(first, first + size)
        own = None if excluded is None else excluded[block]
        native, rows, n_distances = index.nearest(Q[block], k, excluded=own, threads=threads)
        count.n_distances += n_distances
        yield index.distances_of(native), rows


def search_within(
    index: Any, radius: float, Q: Array, excluded: Array | None, threads: int
) -> Array:
    """Return a pair (distances, rows) for each query, as an array of objects."""
    starts, distances, rows = index.within(Q, radius, excluded=excluded, threads=threads)
    pairs = np.empty((len(Q), 2), object)
    pairs[:, 0], pairs[:, 1] = _split(distances, starts), _split(rows, starts)
    return pairs


def training_blocks(index: Any, rows: TrainingRows) -> Iterator[tuple[Array, Array]]:
    """Yield training rows with their numbers: all of them, or partition by partition."""
    if isinstance(index, PartitionedIndex):
        yield from index.blocks()
    else:
        yield rows.X, np.arange(len(index))


def _apply(batch: Batch[NeighborRows], function: Callable[..., Any]) -> Any:
    return function(batch.rows.X, None, batch.threads)


def _split(values: Array, starts: Array) -> Array:
    """Return an array of arrays, as scikit-learn's ``radius_neighbors``."""
    lists = np.empty(len(starts) - 1, object)
    for i in range(len(lists)):
        lists[i] = values[starts[i] : starts[i + 1]]
    return lists


def check_n_neighbors(k: Any, n_rows: int, *, without_itself: bool) -> None:
    """Raise ValueError unless there are so many rows, apart from a query itself."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise ValueError(f"n_neighbors must be an int of at least 1, got {k!r}.")
    available = n_rows - without_itself
    if k > available:
        comparison = "<" if without_itself else "<="
        raise ValueError(
            f"Expected n_neighbors {comparison} n_samples_fit, but n_neighbors = {k}, "
            f"n_samples_fit = {n_rows}: fit more rows, or lower n_neighbors."
        )


def _check_mode(mode: str) -> None:
    if mode not in ("connectivity", "distance"):
        raise ValueError(f"mode must be 'connectivity' or 'distance', got {mode!r}.")
