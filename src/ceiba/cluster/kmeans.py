"""k-means clustering: the estimator."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator, RandomState
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

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
from ceiba.base.record import check_values
from ceiba.cluster.lloyd import LloydResult, kmeans_plusplus, lloyd, random_rows
from ceiba.cluster.statistics import (
    Assignment,
    CenterSums,
    center_distances,
    nearest_labels,
    summarize_points,
)
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.stats import Moments, Points, PointSpace, ToPoints
from ceiba.stats.points import has_finite_distances


class EmptyClusterWarning(UserWarning):
    """A cluster lost all its points during a fit and was relocated."""


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means clustering of arrays, tables with missing values, large files and Dask.

    Distances are Euclidean. A nominal column counts as indicators scaled so that a mismatch adds
    1 to the squared distance; an ordinal column counts as its rank, from 0 to 1; a date counts in
    days; other numbers count as they are, so bring them to comparable scales first. A missing
    value adds nothing to a distance, in training and in prediction, and a category unseen in
    training is missing; a center is the mean of the observed values. A row without any value is
    equally near to all centers: it gets the first label and moves no center. ``transform`` scales
    distances of rows with missing values up to all columns.

    {parameters}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_encoded_columns)
        Cluster centers; columns as in ``encoded_names_``.
    encoded_names_ : list of str
        Names of the centers' columns: ``size``, ``color=red``.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each training row; only after a fit on rows in memory. A row of weight zero
        has the label that ``predict`` returns, or -1 where a value is infinite.
    inertia_ : float
        Weighted sum of squared distances to the nearest center, over observed columns.
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

    _state_names: ClassVar[tuple[str, ...]] = ("_center_weights",)

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
    trace: Annotated[bool, "Keep each iteration in ``trace_``."] = False

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
        rows, moments = self._summarize(engine, source, given)
        space = PointSpace.of(moments)
        tol = float(self.tol * np.mean(moments.variance))
        best, trace = self._best_run(rows, engine, space, tol, source.schema)
        attributes = self._attributes(
            rows, engine, source, source.schema, space, best.centers, best.weights
        )
        attributes |= {"n_iter_": best.n_iter, "n_relocations_": best.n_relocations}
        attributes |= {} if trace is None else {"trace_": trace}
        self._set_fitted(attributes, without=("labels_", "trace_"))
        self._warn(best)
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
            rows, moments = self._summarize(engine, source)
            space = PointSpace.of(moments)
            centers = self._initial_centers(rows, engine, space, seed_of(self.random_state), 0)
            weights = np.zeros_like(centers)
        else:
            centers, weights = self._float64_centers, self._center_weights
            rows, moments = self._summarize(engine, source, centers, first=False)
            space = PointSpace.of(moments, centers)
        sums = engine.reduce(rows, CenterSums.of, space, centers)
        total = weights + sums.weights
        moved = sums.sums + sums.weights * (space.offset - centers)
        centers = centers + np.divide(moved, total, out=np.zeros_like(moved), where=total > 0)
        space = PointSpace.of(moments, centers)
        schema = source.schema if first else self.schema_
        attributes = self._attributes(rows, engine, source, schema, space, centers, total)
        attributes["n_iter_"] = getattr(self, "n_iter_", 0) + 1
        attributes["n_relocations_"] = getattr(self, "n_relocations_", 0)
        self._set_fitted(attributes, without=("labels_", "trace_"))
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
        return self._predict_rows(X, nearest_labels)

    def transform(self, X: Any) -> Array:
        """Compute the distance of each row of ``X`` to every center.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
        """
        return self._predict_rows(X, center_distances, None)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Compute the clusters of ``X`` and return the distances of its rows to every center."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return minus the weighted sum of squared distances to the nearest centers."""
        engine, source = self._open_source(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToPoints())
        return -float(engine.reduce(rows, Assignment.of, None, self._float64_centers).inertia)

    def _predict_rows(self, X: Any, function: Callable[..., Array], *space: None) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        return engine.predict(rows, function, *space, self._float64_centers)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    @property
    def _float64_centers(self) -> Array:
        # In C order, as the kernels need it: the centers of a model file may be in Fortran order.
        return np.asarray(self.cluster_centers_.astype(np.float64, order="C"))

    def _summarize(
        self, engine: Engine, source: Source, centers: Any = None, *, first: bool = True
    ) -> tuple[Any, Moments]:
        """Return the rows as numbered points, and their moments.

        The dtype of the points can hold squared distances among them and to ``centers``. ``first``
        rows must be enough for the clusters and have values in all columns.
        """
        k = self.n_clusters
        min_rows = k if first else 1

        def extend(moments: Moments) -> Moments:
            if moments.n_rows < min_rows:
                raise ValueError(f"n_samples={moments.n_rows} should be >= n_clusters={min_rows}.")
            if centers is None:
                return moments
            extended = moments.extended_to(_check_centers(centers, k, len(moments.mean)))
            PointSpace.of(extended)  # raises for centers too far away to be measured
            return extended

        return summarize_points(engine, source, extend, check_values=first)

    def _best_run(
        self, rows: Any, engine: Engine, space: PointSpace, tol: float, schema: Schema
    ) -> tuple[LloydResult, Trace | None]:
        seed = seed_of(self.random_state)
        n_runs = self._n_runs()
        best: tuple[float, LloydResult, Trace | None] | None = None
        for run in range(n_runs):
            rows.clear_scratch()
            centers = self._initial_centers(rows, engine, space, seed, run)
            iterations = Iterations(
                self, self.max_iter, trace=self.trace, name="k-means", runs=n_runs
            )
            fitted = partial(_center_attributes, schema)
            result = lloyd(rows, engine, space, centers, iterations, tol, fitted)
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
        self, rows: Any, engine: Engine, space: PointSpace, seed: int, run: int
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
            X = rows.table().X.view()
            X.flags.writeable = False  # it is the user's own array
            given = given(X, self.n_clusters, random_state=state)
        return _check_centers(given, self.n_clusters, len(space.offset))

    def _attributes(
        self,
        rows: Any,
        engine: Engine,
        source: Source,
        schema: Schema,
        space: PointSpace,
        centers: Array,
        weights: Array,
    ) -> dict[str, Any]:
        """Return the fitted attributes: centers as stored, and labels and inertia under them."""
        attributes = _center_attributes(schema, centers)
        weights = np.ascontiguousarray(np.broadcast_to(weights, centers.shape))
        attributes["_center_weights"] = weights
        stored = attributes["cluster_centers_"].astype(np.float64)
        if not engine.in_memory:
            last = engine.reduce(rows, CenterSums.of, space, stored, None, True)
            return {**attributes, "inertia_": last.inertia}
        assignment = engine.reduce(rows, Assignment.of, space, stored)
        labels = assignment.labels
        if rows.table().kept is not None:
            labels = self._label_all_rows(engine, source, labels, stored)
        return {**attributes, "inertia_": assignment.inertia, "labels_": labels}

    def _label_all_rows(
        self, engine: Engine, source: Source, labels: Array, centers: Array
    ) -> Array:
        """Add the labels of the rows of weight zero; -1 for rows with infinite values."""
        points = ToPoints("float64", keep_all=True)(source.partitions[0].load())
        assert points.weight is not None
        all_labels = np.full(len(points.X), -1, np.int32)
        all_labels[points.weight > 0] = labels
        measurable = np.flatnonzero((points.weight == 0) & has_finite_distances(points.X))
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
        distinct = len({row.tobytes() for row in self.cluster_centers_ + 0.0})
        if distinct < self.n_clusters:
            warn_user(
                f"Number of distinct clusters ({distinct}) found smaller than n_clusters "
                f"({self.n_clusters}): the rows are not different enough.",
                ConvergenceWarning,
            )

    def _check_state(self) -> None:
        super()._check_state()
        expected = ArrayOf("f", self.n_clusters, Encoding.of(self.schema_).width)
        for name in ("cluster_centers_", "_center_weights"):
            array: Any = getattr(self, name, None)
            expected.check(name, array, {})
            check_values(name, array, np.isfinite(array), "finite")


def _center_attributes(schema: Schema, centers: Array) -> dict[str, Any]:
    """Return the attributes that a model of these centers needs to predict."""
    encoding = Encoding.of(schema)
    return {
        **schema_attributes(schema),
        "cluster_centers_": np.ascontiguousarray(centers, dtype=encoding.dtype),
        "encoded_names_": encoding.names,
    }


def _check_centers(given: Any, k: int, d: int) -> Array:
    centers = np.array(given, dtype=np.float64, order="C")
    if centers.shape != (k, d):
        raise ValueError(
            f"The shape of the initial centers {centers.shape} does not match n_clusters={k} and "
            f"the {d} columns of the (encoded) data."
        )
    if not np.isfinite(centers).all():
        raise ValueError("The initial centers must be finite numbers.")
    return centers
