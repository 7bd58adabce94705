"""The base of the learners of nearest neighbors: parameters, and how they are fitted.

A fit goes through these steps:

1. read the rows as a matrix (`ToNeighborRows`),
2. learn the distance from them: ranges, standard deviations, covariances (`fit_distance`),
3. prepare them for searches (`NeighborIndex`), or leave them in their partitions
   (`PartitionedIndex`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import AtLeast, ParameterError, reports_progress, validate
from ceiba.base.errstate import with_default_errstate
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Source
from ceiba.data.target import class_indices, merge_classes
from ceiba.engine import Batch, Engine, choose_engine
from ceiba.engine.choose import check_in_memory
from ceiba.engine.local import LocalEngine, effective_threads
from ceiba.neighbors.distance import METRICS
from ceiba.neighbors.index import NeighborIndex, largest_value, scale_exponent
from ceiba.neighbors.partitioned import PartitionedIndex, PartitionIndexer
from ceiba.neighbors.rows import (
    DistanceConfig,
    NeighborRows,
    RowSummary,
    ToNeighborRows,
    extend_categories,
    fit_distance,
)
from ceiba.neighbors.searching import NeighborSearches, SearchCount, TrainingRows

_METRICS = ("gower", "heom", *METRICS)


class NeighborLearner(NeighborSearches):
    """Fit the rows that neighbors are searched among; subclasses predict."""

    metric: Annotated[
        str | Callable[..., float],
        "Distance: a name of scikit-learn's metrics, or a function of two rows. ``'gower'`` and "
        "``'heom'`` are for columns of all kinds, which they divide by their range.",
    ] = "minkowski"
    p: Annotated[float, AtLeast(1.0), "Power of ``metric='minkowski'``."] = 2.0
    metric_params: Annotated[
        Mapping[str, Any] | None,
        "``V`` or ``VI`` of ``'seuclidean'`` and ``'mahalanobis'``, which are estimated from the "
        "training rows by default; ``w``, another name of ``feature_weights``; arguments of a "
        "function.",
    ] = None
    algorithm: Annotated[
        Literal["auto", "kd_tree", "ball_tree", "vp_tree", "products", "brute"],
        "Algorithm of the search; all give the same neighbors. ``'kd_tree'``: a tree of boxes. "
        "``'vp_tree'``, or ``'ball_tree'``: a vantage-point tree, for any distance with the "
        "triangle inequality. ``'products'``: products in float32 that select candidates, for "
        "Euclidean distances in many columns. ``'auto'`` chooses, see ``index_report_``.",
    ] = "auto"
    scale: Annotated[
        Literal["range", "std"] | None,
        "Divide numeric columns by their range, or their standard deviation, in the training rows; "
        "otherwise distances depend on the units of the columns.",
    ] = None
    feature_weights: Annotated[
        np.ndarray[Any, Any] | Mapping[str, float] | None,
        "Weights of the columns in the sum (or maximum) that the distance is, in their order or by "
        "name, where others have 1. A weight of 0 leaves a column out.",
    ] = None
    missing: Annotated[
        Literal["auto", "partial", "mismatch", "error"],
        "Missing values in sums over the columns. ``'partial'``: the sum over the columns known in "
        "both rows, times total weight / weight of those columns (Gower's rule). ``'mismatch'``: a "
        "missing value counts as two different categories do. ``'auto'``: ``'mismatch'`` for "
        "``'heom'``, else ``'partial'``. ``'error'``: they raise.",
    ] = "auto"
    n_jobs: Annotated[int | None, "Number of threads; None for all cores."] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        config = DistanceConfig(self.metric, self.p, {}, None, None, self.missing)
        allows = config.allows_missing
        tags.input_tags.allow_nan = allows
        tags.input_tags.categorical = tags.input_tags.string = allows or self.missing == "error"
        return tags

    # Fitting

    @reports_progress
    def _fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        validate(self)
        config = self._distance_config()
        engine, source = self._open_source(X, reset=True, y=y)
        rows = engine.rows(source.partitions, ToNeighborRows(self._task))
        summary = engine.reduce(rows, RowSummary.of)
        classes = _merged_classes(
            None if summary.target is None else summary.target.classes, classes
        )
        if engine.in_memory:
            own: NeighborRows = rows.table()
            target = _target_of(own, classes)
            # Copies, since the caller may change the arrays later.
            training = TrainingRows(own.X.copy(), None if target is None else target.copy())
            self._set_rows(source.schema, training, classes, engine.threads)
        else:
            self._set_partitions(config, engine, source, rows, summary, classes)
        return self

    def _set_rows(
        self,
        schema: Schema,
        rows: TrainingRows,
        classes: Array | None,
        threads: int,
        before: NeighborIndex | None = None,
        removed: Array | None = None,
    ) -> None:
        """Replace the model by that of some rows in memory.

        ``before`` is the index of the first of them, or of them and the ``removed`` ones.
        """
        engine, config = LocalEngine(threads), self._distance_config()
        # Of rows that are already in the index, nothing is needed unless the distance depends on
        # them; one row shows that the distance is as before where rows were removed.
        first = 0 if before is None or config.is_learned else min(len(before), len(rows.X) - 1)
        prepared = engine.prepared_rows(NeighborRows(rows.X[first:]))
        moments = RowSummary.of(prepared).moments
        distance = fit_distance(config, schema, len(rows.X), engine, prepared, moments)
        is_same = before is not None and before.algorithm == self._index_algorithm()
        if before is None or not is_same or not before.distance.equals(distance):
            index = NeighborIndex.of(rows.X, distance, self._index_algorithm(), threads)
        elif removed is not None:
            index = before.without_rows(removed, rows.X, threads)
        else:
            index = before.with_rows(rows.X, threads)
        self._set_model(schema, rows, index, classes, threads)

    def _set_partitions(
        self,
        config: DistanceConfig,
        engine: Engine,
        source: Source,
        rows: Any,
        summary: RowSummary,
        classes: Array | None,
    ) -> None:
        """Replace the model by that of rows that stay in their partitions."""
        moments = summary.moments
        rows = rows.numbered(moments.rows)
        distance = fit_distance(config, source.schema, moments.n_rows, engine, rows, moments)
        corners = np.vstack([moments.min, moments.max])
        corners = np.where(np.isfinite(corners), corners, 0.0)
        largest = 0.0
        if distance.is_coordinate and distance.whitening is None and distance.direction == "none":
            largest = largest_value(distance.apply(corners), distance)
        indexer = PartitionIndexer(
            distance, self._index_algorithm(), scale_exponent(largest, distance)
        )
        target = None
        if summary.target is not None:
            target = engine.predict(rows, _targets, classes)
        empty = np.empty((moments.n_rows, 0))
        index = PartitionedIndex(engine, rows, indexer, moments.rows)
        self._set_model(source.schema, TrainingRows(empty, target), index, classes, engine.threads)

    def _set_model(
        self, schema: Schema, rows: TrainingRows, index: Any, classes: Array | None, threads: int
    ) -> None:
        attributes = {
            **schema_attributes(schema),
            "rows_": rows,
            "index_": index,
            "n_samples_fit_": len(index),
            "_count": SearchCount(),
        }
        if classes is not None:
            attributes["classes_"] = classes
        attributes |= self._choose(attributes, threads)
        self._set_fitted(attributes, without=("loo_curve_",))

    def _choose(self, attributes: dict[str, Any], threads: int) -> dict[str, Any]:
        """Return the number of neighbors, and how it was chosen, as fitted attributes."""
        raise NotImplementedError

    def _distance_config(self) -> DistanceConfig:
        metric = self.metric
        if isinstance(metric, str) and metric.lower() not in _METRICS:
            raise ParameterError(
                f"The 'metric' parameter of {type(self).__name__} must be a function or one of "
                f"{', '.join(_METRICS)}, got {metric!r}."
            )
        params = dict(self.metric_params or {})
        weights = self.feature_weights
        if "w" in params and not callable(metric):
            if weights is not None:
                raise ParameterError(
                    "feature_weights and metric_params={'w': ...} are the same: pass one of them."
                )
            weights = params.pop("w")
        config = DistanceConfig(metric, self.p, params, self.scale, weights, self.missing)
        config.check()
        return config

    def _index_algorithm(self) -> Any:
        return "vp_tree" if self.algorithm == "ball_tree" else self.algorithm

    # Adding and removing rows

    def _partial_fit(self, X: Any, y: Any, classes: Any) -> Self:
        if not hasattr(self, "rows_"):
            return self._fit(X, y, classes)
        validate(self)
        self._check_in_memory("partial_fit", X)
        schema = extend_categories(self.schema_, self.n_samples_fit_, X)
        engine, source = self._open_more(X, y, schema)
        own = engine.rows(source.partitions, ToNeighborRows(self._task)).table()
        known = getattr(self, "classes_", None)
        target, merged = None, known
        if own.labeled is not None:
            old = self.rows_.known_target
            if known is not None:
                found = merge_classes(known, own.labeled.target.classes)
                merged = _merged_classes(found, classes)
                assert merged is not None
                old = class_indices(known, merged)[old].astype(np.int32)
            target = np.concatenate([old, _known_target(own, merged)])
        # A row that float32 cannot hold makes all rows float64.
        rows = TrainingRows(np.concatenate([self.rows_.X, own.X]), target)
        before = self.index_ if rows.X.dtype == self.rows_.X.dtype else None
        self._set_rows(schema, rows, merged, engine.threads, before)
        return self

    def _open_more(self, X: Any, y: Any, schema: Schema) -> tuple[Engine, Source]:
        """Open further training rows, whose categories are those of a schema."""
        self._check_columns(X)
        supervised = self._task is not None
        return choose_engine(X, y=y, supervised=supervised, n_jobs=self.n_jobs, schema=schema)

    @with_default_errstate
    def forget(self, rows: Any) -> Self:
        """Remove training rows, as if they had never been in the model.

        Parameters
        ----------
        rows : array of int
            Numbers of the rows, as ``kneighbors`` returns them; or a mask of all rows. The
            remaining rows are numbered anew, in their order. Classes and categories whose last row
            is removed are removed, too.

        Returns
        -------
        self : estimator

        Examples
        --------
        >>> from ceiba import KNeighborsClassifier
        >>> model = KNeighborsClassifier(1).fit([[0.0], [1.0], [2.0]], ["a", "b", "a"])
        >>> model.forget([1]).predict([[1.2]]).tolist()
        ['a']
        """
        check_is_fitted(self)
        validate(self)
        self._check_in_memory("forget")
        removed = _row_numbers(rows, self.n_samples_fit_)
        if len(removed) == self.n_samples_fit_:
            raise ValueError("forget must leave rows in the model, got all of them.")
        if not len(removed):
            return self
        target = self.rows_.target
        rest = TrainingRows(
            np.delete(self.rows_.X, removed, axis=0),
            None if target is None else np.delete(target, removed),
        )
        classes = getattr(self, "classes_", None)
        if classes is not None:
            n = len(classes)
            lost = _is_used(self.rows_.known_target, n) & ~_is_used(rest.known_target, n)
            indices = (np.cumsum(~lost) - 1)[rest.known_target]
            rest, classes = TrainingRows(rest.X, indices.astype(np.int32)), classes[~lost]
        threads = effective_threads(self.n_jobs)
        schema, X = _without_unused(self.schema_, self.rows_.X, rest.X)
        if X is rest.X:
            self._set_rows(schema, rest, classes, threads, self.index_, removed)
        else:  # other codes
            self._set_rows(schema, TrainingRows(X, rest.target), classes, threads)
        return self

    def _check_in_memory(self, method: str, *inputs: Any) -> None:
        check_in_memory(f"{method} of {type(self).__name__}", *inputs)
        if isinstance(self.index_, PartitionedIndex):
            raise ValueError(
                f"{method} requires a model of rows in memory, got one whose rows stay in files or "
                "on a cluster: fit it again on all rows."
            )

    def _check_state(self) -> None:
        """Raise ValueError where attributes read from a model file are inconsistent."""
        super()._check_state()
        n, d = self.rows_.X.shape
        index = self.index_
        if isinstance(index, PartitionedIndex):
            raise ValueError(
                "the training rows stay in files or on a cluster, and are not part of the model: "
                "read them with ceiba.read, or compute them, and fit again."
            )
        if not isinstance(index, NeighborIndex) or len(index) != n or index.n_columns != d:
            raise ValueError(f"index_ must be an index of {n} rows and {d} columns.")
        if self.n_samples_fit_ != n or d != self.n_features_in_:
            raise ValueError(f"rows_ must have {self.n_samples_fit_} rows of schema_, got {n}.")
        if not isinstance(self.n_neighbors_, int) or self.n_neighbors_ < 1:
            raise ValueError(f"n_neighbors_ must be an int >= 1, got {self.n_neighbors_!r}.")


def _merged_classes(found: Array | None, given: Any) -> Array | None:
    """Return the classes that were found, with those that the user declared."""
    if found is None or given is None:
        return found
    return merge_classes(found, np.unique(np.asarray(given)))


def _target_of(rows: NeighborRows, classes: Array | None) -> Array | None:
    """Return the class indices or numbers of rows; None without a target."""
    return None if rows.labeled is None else _known_target(rows, classes)


def _known_target(rows: NeighborRows, classes: Array | None) -> Array:
    assert rows.labeled is not None
    return rows.labeled.target.values if classes is None else rows.labeled.labels(classes)


def _targets(batch: Batch[NeighborRows], classes: Array | None) -> Array:
    return _known_target(batch.rows, classes)


def _without_unused(schema: Schema, before: Array, after: Array) -> tuple[Schema, Array]:
    """Drop the categories whose last row was removed; return other codes where there are some."""
    X, columns = after, list(schema)
    for j, column in enumerate(schema):
        if column.kind is not Kind.NOMINAL:
            continue
        n = len(column.categories)
        lost = _is_used(before[:, j], n) & ~_is_used(after[:, j], n)
        if lost.any():
            X = after.copy() if X is after else X
            codes = np.cumsum(~lost) - 1
            known = ~np.isnan(after[:, j])
            X[known, j] = codes[after[known, j].astype(np.int64)]
            kept = tuple(
                c for c, is_lost in zip(column.categories, lost, strict=True) if not is_lost
            )
            columns[j] = replace(column, categories=kept)
    return replace(schema, columns=tuple(columns)), X


def _is_used(codes: Array, n: int) -> Array:
    """Return which of n codes occur; NaN is none of them."""
    known = codes[~np.isnan(codes)].astype(np.int64)
    return np.bincount(known, minlength=n) > 0


def _row_numbers(rows: Any, n: int) -> Array:
    """Return ascending numbers of training rows, each once."""
    given = np.asarray(rows)
    if given.dtype == bool and given.shape == (n,):
        given = np.flatnonzero(given)
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.dtype.kind not in "iu" or given.ndim > 1:
        raise ValueError(
            f"rows must be numbers of training rows, a list of ints, got dtype {given.dtype} and "
            f"shape {given.shape}."
        )
    numbers = np.unique(given.astype(np.int64))
    if numbers[0] < 0 or numbers[-1] >= n:
        wrong = numbers[0] if numbers[0] < 0 else numbers[-1]
        raise ValueError(f"rows must be in [0, {n - 1}], the training rows, got {wrong}.")
    return numbers
