"""k-means clustering: the estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator, RandomState
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import (
    ArrayOf,
    AtLeast,
    Estimator,
    Iterations,
    Trace,
    parameter,
    reports_progress,
    seed_of,
    validate,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.explanation import Explanation, explained_row
from ceiba.base.parameters import Verbose
from ceiba.base.record import check_values
from ceiba.base.scaling import StoredScaling, check_scaling
from ceiba.base.value_types import format_value
from ceiba.cluster.first_pass import summarize_batch, summarize_points
from ceiba.cluster.lloyd import LloydResult, kmeans_plusplus, lloyd, random_rows
from ceiba.cluster.statistics import (
    Assignment,
    CenterSums,
    center_distances,
    nearest_labels,
)
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.stats import Moments, Points, PointSpace, ToPoints
from ceiba.stats.scaling import PointScaling, distance_from_units, warn_dominant_column

_OPTIONAL_ATTRIBUTES = ("labels_", "trace_", "_scaling", "_scaled_centers")


class EmptyClusterWarning(UserWarning):
    """A cluster lost all its points during a fit and was relocated."""


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means clustering of arrays, tables with missing values, large files and Dask.

    Distances are Euclidean. A nominal column counts as indicators scaled so that a mismatch adds
    1 to the squared distance; an ordinal column counts as its rank, from 0 to 1; a date counts in
    days; other numbers count as they are, unless ``scale`` divides them by their spread. A missing
    value adds nothing to a distance, in training and in prediction, and a category unseen in
    training is missing; a center is the mean of the observed values. A row without any value is
    equally near to all centers: it gets the first label and moves no center. ``transform`` scales
    distances of rows with missing values up to all columns.

    {parameters}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_encoded_columns)
        Cluster centers; columns as in ``encoded_names_``.
    centers_table_ : Table
        The centers in the columns of ``X``: means, and the most frequent categories.
    encoded_names_ : list of str
        Names of the centers' columns: ``size``, ``color=red``.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each training row; only after a fit on rows in memory. A row of weight zero
        has the label that ``predict`` returns, or -1 where a value is infinite.
    inertia_ : float
        Weighted sum of squared distances to the nearest center, over observed columns; of the
        scaled columns with ``scale``. Infinite or zero where it exceeds the range of float64.
    n_iter_ : int
        Number of iterations of the best run.
    trace_ : Trace
        With ``trace=True``: one frame per iteration of the best run with its ``centers``, the
        ``counts`` and ``inertia`` of the assignment to them and the number of rows that ``moved``;
        at most 1000 frames and 64 MB.
    n_relocations_ : int
        Number of times an empty cluster was relocated.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import KMeans
    >>> X = np.array([[1.0, 1.0], [1.0, 2.0], [8.0, 8.0], [np.nan, 9.0]])
    >>> model = KMeans(n_clusters=2).fit(X)
    >>> bool(model.labels_[2] == model.labels_[3] != model.labels_[0])
    True
    >>> model.inertia_
    1.0

    References
    ----------
    Lloyd (1982), "Least squares quantization in PCM", IEEE Transactions on Information Theory 28.
    Hamerly (2010), "Making k-means even faster", SDM.
    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    """

    _state_names: ClassVar[tuple[str, ...]] = ("_center_weights", "_scaled_centers", "_scaling")

    n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = parameter(8, kw_only=False)
    init: Annotated[
        Literal["k-means++", "random"] | np.ndarray[Any, Any] | Callable[..., Any],
        "Initial centers: greedy k-means++, random rows, given centers, or a function of "
        "(X, n_clusters, random_state) for rows in memory.",
    ] = "k-means++"
    n_init: Annotated[
        Literal["auto"] | Annotated[int, AtLeast(1)],
        "Number of runs with different initial centers, of which the best is kept; 'auto' is 1 "
        "for k-means++ and given centers (which are always one run), 10 for random rows and "
        "functions.",
    ] = "auto"
    max_iter: Annotated[int, AtLeast(1), "Maximum number of iterations of a run."] = 300
    tol: Annotated[
        float,
        AtLeast(0.0),
        "A run ends when the squared movement of all centers together is at most this fraction of "
        "the columns' mean variance.",
    ] = 1e-4
    random_state: Annotated[
        int | RandomState | Generator | None,
        "Seed of the initialization: the same int gives the same model; None draws a new one.",
    ] = 0
    n_jobs: Annotated[int | None, "Threads; None or -1 uses every core allowed."] = None
    algorithm: Annotated[
        Literal["lloyd", "elkan"],
        "Both give Lloyd's iterations, where bounds skip many distances (Hamerly); the "
        "model is the same.",
    ] = "lloyd"
    copy_x: Annotated[bool, "X is never changed, so both values do the same."] = True
    verbose: Verbose = 0
    trace: Annotated[bool, "Keep each iteration in ``trace_``."] = False
    scale: Annotated[
        Literal["range", "std"] | None,
        "Divide each numeric column by its range or its standard deviation (nominal columns keep "
        "their units); None uses the columns as they are.",
    ] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the clusters of ``X``.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent.

        Returns
        -------
        self : KMeans
        """
        engine, source = self._open_source(X, sample_weight, reset=True)
        given = None if isinstance(self.init, str) or callable(self.init) else self.init
        rows, moments, scaling = self._summarize(engine, source, given)
        space = PointSpace.of(moments)
        tol = float(self.tol * np.mean(moments.variance))
        fitted = partial(_center_attributes, source.schema, scaling)
        best, trace = self._best_run(rows, engine, space, tol, fitted, scaling)
        attributes = fitted(best.centers)
        attributes |= self._results(rows, engine, source, space, attributes, best.weights)
        attributes |= {"n_iter_": best.n_iter, "n_relocations_": best.n_relocations}
        attributes |= {} if trace is None else {"trace_": trace}
        self._set_fitted(attributes, without=_OPTIONAL_ATTRIBUTES)
        self._warn(best)
        if self.scale is None:
            warn_dominant_column(moments, Encoding.of(source.schema))
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centers by one batch, each to the mean of all points assigned to it so far.

        The first call initializes the centers from its batch, which needs ``n_clusters`` rows;
        after ``fit`` the fitted centers are updated. Categories and columns are those of the first
        batch.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        self : KMeans

        References
        ----------
        Sculley (2010), "Web-scale k-means clustering", WWW.
        """
        validate(self)
        first = not hasattr(self, "cluster_centers_")
        if not first and self.n_clusters != len(self.cluster_centers_):
            raise ValueError(
                f"n_clusters must stay {len(self.cluster_centers_)} in partial_fit, got "
                f"{self.n_clusters}: set it back, or call fit."
            )
        engine, source = self._open_source(X, sample_weight, reset=first)
        if first:
            rows, moments, scaling = self._summarize(engine, source)
            space = PointSpace.of(moments)
            seed = seed_of(self.random_state)
            centers = self._initial_centers(rows, engine, space, seed, 0, scaling)
            weights = np.zeros_like(centers)
        else:
            centers, weights, scaling = self._fitted_centers, self._center_weights, self._units
            rows, moments = summarize_batch(engine, source, scaling, centers)
            space = PointSpace.of(moments, centers)
        sums = engine.reduce(rows, CenterSums.of, space, centers)
        total = weights + sums.weights
        moved = sums.sums + sums.weights * (space.offset - centers)
        centers = centers + np.divide(moved, total, out=np.zeros_like(moved), where=total > 0)
        space = PointSpace.of(moments, centers)
        schema = source.schema if first else self.schema_
        attributes = _center_attributes(schema, scaling, centers)
        attributes |= self._results(rows, engine, source, space, attributes, total)
        attributes["n_iter_"] = getattr(self, "n_iter_", 0) + 1
        attributes["n_relocations_"] = getattr(self, "n_relocations_", 0)
        self._set_fitted(attributes, without=_OPTIONAL_ATTRIBUTES)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Compute the clusters of ``X`` and return the cluster of each row."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def predict(self, X: Any) -> Array:
        """Predict the nearest center of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True, scaling=self._units))
        return engine.predict(rows, nearest_labels, self._fitted_centers)

    def transform(self, X: Any) -> Array:
        """Compute the distance of each row of ``X`` to every center.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True, scaling=self._units))
        return engine.predict(rows, center_distances, None, self._fitted_centers, self._units)

    def explain(self, X: Any) -> Explanation:
        """Explain the cluster of one row by its squared distances to the centers, by column.

        Scores are squared distances over the observed columns, the smallest of which decides, and
        each column contributes its part. They are in the columns' own units, or in the scaled ones
        with ``scale``.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
            Its ``distances`` are those of `transform`, scaled up to all columns where values are
            missing.

        Examples
        --------
        >>> from ceiba import KMeans
        >>> model = KMeans(2).fit([[1.0, 1.0], [1.0, 3.0], [8.0, 8.0], [8.0, 9.0]])
        >>> model.explain([[2.0, 4.0]]).contributions.tolist()
        [[1.0, 36.0], [4.0, 20.25]]
        """
        table = explained_row(self, X)
        squares = self._squares_by_column(table)
        return Explanation.of(
            self,
            table,
            self.predict(X)[0],
            score="squared distance",
            outputs=list(range(len(self.cluster_centers_))),
            scores=squares.sum(axis=0),
            base=np.zeros(squares.shape[1]),
            contributions=squares,
            distances=self.transform(X)[0].astype(np.float64),
        )

    def _squares_by_column(self, table: Table) -> Array:
        """Return the squared distances of one row to the centers, (n_columns, n_clusters)."""
        point = ToPoints("float64", scaling=self._units)(Chunk(table)).X[0]
        with np.errstate(over="ignore"):
            squares = np.nan_to_num((point - self._fitted_centers) ** 2, nan=0.0, posinf=np.inf)
            squares = distance_from_units(squares, self._units, 2)
        parts = pairwise(Encoding.of(self.schema_).offsets)
        return np.array([squares[:, first:end].sum(axis=1) for first, end in parts])

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Compute the clusters of ``X`` and return the distances of its rows to every center."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of squared distances to the nearest centers."""
        engine, source = self._open_source(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToPoints(scaling=self._units))
        inertia = engine.reduce(rows, Assignment.of, None, self._fitted_centers).inertia
        return -float(distance_from_units(inertia, self._units, 2))

    @property
    def centers_table_(self) -> Table:
        """Cluster centers as a table of the columns of ``X``, one row per cluster.

        Numbers are means; a nominal column has the category of the largest share, an ordinal one
        the category nearest to the mean rank.

        Examples
        --------
        >>> import pandas as pd
        >>> from ceiba import KMeans
        >>> X = pd.DataFrame({"size": [1.0, 2.0, 8.0], "color": ["red", "red", "blue"]})
        >>> KMeans(2, scale="range").fit(X).centers_table_.to_pandas()
           size color
        0   1.5   red
        1   8.0  blue
        """
        check_is_fitted(self)
        return Encoding.of(self.schema_).decode(self.cluster_centers_)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    @property
    def _units(self) -> StoredScaling | None:
        """Units in which the centers were fitted; None for the columns' own."""
        return getattr(self, "_scaling", None)

    @property
    def _fitted_centers(self) -> Array:
        """Centers in the units of the fit."""
        if self._units is not None:
            return np.ascontiguousarray(self._scaled_centers)
        # In C order, as the kernels need it: the centers of a model file may be in Fortran order.
        return np.asarray(self.cluster_centers_.astype(np.float64, order="C"))

    def _summarize(
        self, engine: Engine, source: Source, centers: Any = None
    ) -> tuple[Any, Moments, PointScaling | None]:
        """Return the rows as numbered points, their moments and their units.

        Dtype and units of the points can hold squared distances among them and to ``centers``.
        """
        k = self.n_clusters

        def extend(moments: Moments, scaling: PointScaling) -> Moments:
            if moments.n_rows < k:
                raise ValueError(f"n_samples={moments.n_rows} should be >= n_clusters={k}.")
            if centers is None:
                return moments
            given = _check_centers(centers, k, len(moments.mean))
            return moments.extended_to(scaling.to_units(given))

        rows, moments, scaling = summarize_points(engine, source, extend, scale=self.scale)
        if centers is not None and scaling is not None:
            given = scaling.to_units(_check_centers(centers, k, len(moments.mean)))
            PointSpace.of(moments.extended_to(given))  # raises for centers too far away
        return rows, moments, scaling

    def _best_run(
        self,
        rows: Any,
        engine: Engine,
        space: PointSpace,
        tol: float,
        fitted: Callable[[Array], dict[str, Any]],
        scaling: PointScaling | None,
    ) -> tuple[LloydResult, Trace | None]:
        seed = seed_of(self.random_state)
        n_runs = self._n_runs()
        best: tuple[float, LloydResult, Trace | None] | None = None
        for run in range(n_runs):
            rows.clear_scratch()
            centers = self._initial_centers(rows, engine, space, seed, run, scaling)
            iterations = Iterations(
                self, self.max_iter, trace=self.trace, name="k-means", runs=n_runs
            )
            result = lloyd(rows, engine, space, centers, iterations, tol, fitted, scaling)
            inertia = 0.0
            if n_runs > 1:
                sums = engine.reduce(rows, CenterSums.of, space, result.centers, None, True)
                inertia = sums.inertia
            if best is None or inertia < best[0]:
                best = inertia, result, iterations.trace
        assert best is not None
        return best[1:]

    def _n_runs(self) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            if self.n_init not in ("auto", 1):
                warn_user(
                    "Explicit initial center position passed: performing only one init in KMeans "
                    f"instead of n_init={self.n_init}.",
                    RuntimeWarning,
                )
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else 10
        return int(self.n_init)

    def _initial_centers(
        self,
        rows: Any,
        engine: Engine,
        space: PointSpace,
        seed: int,
        run: int,
        scaling: PointScaling | None,
    ) -> Array:
        if isinstance(self.init, str):
            draw = kmeans_plusplus if self.init == "k-means++" else random_rows
            return draw(rows, engine, space, self.n_clusters, seed, run)
        given: Any = self.init
        if callable(given):
            if not engine.in_memory:
                raise ValueError(
                    "init must be 'k-means++', 'random' or an array for rows that are not in "
                    "memory, got a function."
                )
            state = RandomState(np.array([seed & 0xFFFFFFFF, seed >> 32, run], dtype=np.uint32))
            _check_init_function(given)
            points = rows.table().X
            X = points.view() if scaling is None else scaling.from_units(points)
            X.flags.writeable = False  # it is the user's own array
            given = given(X, self.n_clusters, random_state=state)
        centers = _check_centers(given, self.n_clusters, len(space.offset))
        return centers if scaling is None else scaling.to_units(centers)

    def _results(
        self,
        rows: Any,
        engine: Engine,
        source: Source,
        space: PointSpace,
        stored: dict[str, Any],
        weights: Array,
    ) -> dict[str, Any]:
        """Return the weights of the centers, and labels and inertia under those ``stored``."""
        scaling: PointScaling | None = stored.get("_scaling")
        centers = stored.get("_scaled_centers", stored["cluster_centers_"]).astype(np.float64)
        weights = np.ascontiguousarray(np.broadcast_to(weights, centers.shape))
        if not engine.in_memory:
            last = engine.reduce(rows, CenterSums.of, space, centers, None, True)
            inertia = float(distance_from_units(last.inertia, scaling, 2))
            return {"_center_weights": weights, "inertia_": inertia}
        assignment = engine.reduce(rows, Assignment.of, space, centers)
        labels = assignment.labels
        if rows.table().kept is not None:
            labels = self._label_all_rows(engine, source, labels, centers, scaling)
        inertia = float(distance_from_units(assignment.inertia, scaling, 2))
        return {"_center_weights": weights, "inertia_": inertia, "labels_": labels}

    def _label_all_rows(
        self,
        engine: Engine,
        source: Source,
        labels: Array,
        centers: Array,
        scaling: PointScaling | None,
    ) -> Array:
        """Add the labels of the rows of weight zero; -1 for rows with infinite values."""
        prepare = ToPoints("float64", keep_all=True, scaling=scaling)
        points = prepare(source.partitions[0].load())
        assert points.weight is not None
        all_labels = np.full(len(points.X), -1, np.int32)
        all_labels[points.weight > 0] = labels
        infinite = np.isinf(points.X).any(axis=1)
        measurable = np.flatnonzero((points.weight == 0) & ~infinite)
        if len(measurable):
            ignored = engine.prepared_rows(Points(points.X[measurable]))
            all_labels[measurable] = engine.predict(ignored, nearest_labels, centers)
        return all_labels

    def _warn(self, best: LloydResult) -> None:
        if best.n_relocations:
            warn_user(
                f"{best.n_relocations} empty cluster(s) were relocated to the row farthest from "
                "its center: fewer clusters may fit these data better.",
                EmptyClusterWarning,
            )
        # Bytes: np.unique took a sixth of a profiled fit on iris. + 0.0 makes -0.0 a zero.
        distinct = len({row.tobytes() for row in self._fitted_centers + 0.0})
        if distinct < self.n_clusters:
            warn_user(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
                f"({self.n_clusters}). Possibly due to duplicate points in X.",
                ConvergenceWarning,
            )

    def _check_state(self) -> None:
        super()._check_state()
        expected = ArrayOf("f", self.n_clusters, Encoding.of(self.schema_).width)
        for name in ("cluster_centers_", "_center_weights"):
            array: Any = getattr(self, name, None)
            expected.check(name, array, {})
            check_values(name, array, np.isfinite(array), "finite")
        scaling: Any = self._units
        if scaling is not None:
            check_scaling(scaling, Encoding.of(self.schema_).width)
            centers: Any = getattr(self, "_scaled_centers", None)
            expected.check("_scaled_centers", centers, {})
            check_values("_scaled_centers", centers, np.isfinite(centers), "finite")


def _center_attributes(
    schema: Schema, scaling: PointScaling | None, centers: Array
) -> dict[str, Any]:
    """Return the attributes that a model needs to predict, from centers in units of the fit."""
    encoding = Encoding.of(schema)
    own = centers if scaling is None else scaling.from_units(centers)
    with np.errstate(over="ignore", under="ignore"):
        stored = np.ascontiguousarray(own, dtype=encoding.dtype)
    attributes = {
        **schema_attributes(schema),
        "cluster_centers_": stored,
        "encoded_names_": encoding.names,
    }
    if scaling is not None:
        attributes["_scaling"] = StoredScaling.of(scaling)
        attributes["_scaled_centers"] = np.ascontiguousarray(centers)
    return attributes


def _check_init_function(function: Callable[..., Any]) -> None:
    """Raise TypeError for a function that cannot be called as scikit-learn calls it."""
    try:
        inspect.signature(function).bind(None, 1, random_state=None)
    except TypeError as error:
        raise TypeError(
            "init must be a function that is called as init(X, n_clusters, random_state=...) and "
            f"returns the centers, got {function!r}: {error}."
        ) from None
    except ValueError:  # a builtin without a signature
        return


def _check_centers(given: Any, k: int, d: int) -> Array:
    try:
        centers = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(
            f"The initial centers must be an array of numbers of shape {(k, d)}, got "
            f"{format_value(given)}."
        ) from None
    if centers.ndim != 2 or len(centers) != k:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"clusters, n_clusters={k}."
        )
    if centers.shape[1] != d:
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match the number of "
            f"features of the data, {d} columns after encoding."
        )
    if not np.isfinite(centers).all():
        raise ValueError("The initial centers must be finite numbers.")
    return centers
