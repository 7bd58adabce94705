"""k-means: the learner."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import Generator, RandomState
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.base import AtLeast, Estimator, Steps, Trace, seed_of, validate, watched
from ceiba.base.estimator import schema_attributes
from ceiba.cluster.lloyd import Centres, lloyd
from ceiba.cluster.seeding import plus_plus, random_rows
from ceiba.cluster.statistics import Assignment, CentreSums, Distances
from ceiba.cluster.summary import check_columns, survey
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, InMemory, Source
from ceiba.data.table import Table
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.stats import Moments, Space, ToPoints
from ceiba.stats.rows import lie_somewhere


class EmptyClusterWarning(UserWarning):
    """A cluster lost all its points during a fit and was started again elsewhere."""


class KMeans(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, Estimator):
    """k-means clustering of arrays, tables with gaps and nominal columns, large files and Dask.

    Distances are Euclidean. A nominal column counts as indicators scaled so that a mismatch adds
    1 to the squared distance; an ordinal column counts as its rank, from 0 to 1; numbers count as
    they are, so bring them to comparable scales first. A gap adds nothing to a distance, in
    training and in prediction, and a level that training did not see is a gap; a centre is the
    mean of what is observed. A row without any value is equally near to all centres, gets the
    first label and moves none. A date counts in days. ``transform`` scales distances of rows with
    gaps up to all columns.

    {parameters}

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_encoded_columns)
        The centres; columns as in ``encoded_names_``.
    encoded_names_ : list of str
        Names of the centres' columns: ``size``, ``colour=red``.
    labels_ : ndarray of shape (n_rows,)
        Cluster of each training row; only after a fit on rows in memory. A row of weight zero
        has the label that ``predict`` gives it, or -1 where its values lie nowhere (infinity).
    inertia_ : float
        Weighted sum of squared distances to the nearest centre, over observed columns.
    n_iter_ : int
        Steps of the best run.
    trace_ : Trace
        With ``trace=True``: a frame for each step of the best run with its ``centres``, the
        ``counts`` and ``inertia`` of the assignment to them and how many rows ``moved``; at most
        1000 frames and 64 MB.
    n_repairs_ : int
        How many times an empty cluster was started again.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

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

    _state_names: ClassVar[tuple[str, ...]] = ("_weights",)

    def __init__(
        self,
        n_clusters: Annotated[int, AtLeast(1), "Number of clusters."] = 8,
        *,
        init: Annotated[
            Literal["k-means++", "random"] | np.ndarray[Any, Any] | Callable[..., Any],
            "How to start: greedy k-means++, random rows, given centres, or a function of "
            "(X, n_clusters, random_state) for rows in memory.",
        ] = "k-means++",
        n_init: Annotated[
            Literal["auto"] | Annotated[int, AtLeast(1)],
            "Runs from different starts, of which the best is kept; 'auto' is 1, or 10 where the "
            "start is random rows or a function.",
        ] = "auto",
        max_iter: Annotated[int, AtLeast(1), "Most steps of a run."] = 300,
        tol: Annotated[
            float,
            AtLeast(0.0),
            "A run ends when the squared movement of all centres together is at most this share "
            "of the columns' mean variance.",
        ] = 1e-4,
        random_state: Annotated[
            int | RandomState | Generator | None,
            "Seed of the start: the same number gives the same model; None draws a fresh one.",
        ] = 0,
        n_jobs: Annotated[int | None, "Threads; None or -1 uses every core allowed."] = None,
        trace: Annotated[bool, "Keep each step in ``trace_``."] = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the clusters of ``X``.

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
        engine, source = self._open(X, sample_weight, reset=True)
        given = None if isinstance(self.init, str) or callable(self.init) else self.init
        rows, moments = self._survey(engine, source, self.n_clusters, given)
        check_columns(moments, source)
        space = Space.of(moments)
        tol = float(self.tol * np.mean(moments.variance))
        schema = source.schema
        best, trace = self._best_run(rows, engine, space, tol, schema)
        found = self._found(rows, engine, source, schema, space, best.centres, best.weights)
        self._keep(found, n_iter_=best.n_iter, n_repairs_=best.repairs, trace_=trace)
        self._warn(best)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Move the centres by one batch: each goes to the mean of all points it has been given.

        The first call starts from this batch, which needs ``n_clusters`` rows; after ``fit`` the
        fitted centres go on. Levels and columns are those of the first batch.

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
                f"the model has {len(self.cluster_centers_)} clusters and n_clusters is now "
                f"{self.n_clusters}: fit it anew, or set n_clusters back"
            )
        engine, source = self._open(X, sample_weight, reset=first)
        if first:
            rows, moments = self._survey(engine, source, self.n_clusters)
            check_columns(moments, source)
            space = Space.of(moments)
            centres = self._start(rows, engine, space, seed_of(self.random_state), 0)
            seen = np.zeros_like(centres)
        else:
            centres, seen = self.cluster_centers_.astype(np.float64), self._weights
            rows, moments = self._survey(engine, source, 1, centres)
            space = Space.around(moments, centres)
        sums = engine.reduce(rows, CentreSums.of, space, centres)
        total = seen + sums.weights
        moved = sums.sums + sums.weights * (space.offset - centres)
        centres = centres + np.divide(moved, total, out=np.zeros_like(moved), where=total > 0)
        space = Space.around(moments, centres)
        schema = source.schema if first else self.schema_
        found = self._found(rows, engine, source, schema, space, centres, total)
        steps, repairs = getattr(self, "n_iter_", 0) + 1, getattr(self, "n_repairs_", 0)
        self._keep(found, n_iter_=steps, n_repairs_=repairs, trace_=None)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters of ``X`` and return the cluster of each row."""
        self.fit(X, sample_weight=sample_weight)
        return self.labels_ if hasattr(self, "labels_") else self.predict(X)

    def predict(self, X: Any) -> Array:
        """The nearest centre of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        engine, source = self._open(X, reset=False)
        labels: Array = self._reduce(engine, source, Assignment.of).labels
        return labels

    def transform(self, X: Any) -> Array:
        """Distances of each row of ``X`` to every centre.

        Returns
        -------
        ndarray of shape (n_rows, n_clusters)
        """
        engine, source = self._open(X, reset=False)
        distances: Array = self._reduce(engine, source, Distances.of).values
        return distances

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Find the clusters of ``X`` and return the distances of its rows to every centre."""
        return self.fit(X, sample_weight=sample_weight).transform(X)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Minus the weighted sum of squared distances of the rows to their nearest centres."""
        engine, source = self._open(X, sample_weight, reset=False)
        rows = engine.rows(source.partitions, ToPoints())
        centres = self.cluster_centers_.astype(np.float64)
        return -float(engine.reduce(rows, Assignment.of, None, centres).inertia)

    @property
    def _n_features_out(self) -> int:
        return len(self.cluster_centers_)

    def _survey(
        self, engine: Engine, source: Source, least: int, known: Any = None
    ) -> tuple[Any, Moments]:
        """The rows as points, numbered, and their moments.

        The type of the points can hold the distances among them and to ``known`` centres.
        """
        k = self.n_clusters

        def reaching(moments: Moments) -> Moments:
            if moments.n_rows < least:
                raise ValueError(f"n_samples={moments.n_rows} should be >= n_clusters={least}.")
            if known is None:
                return moments
            reach = moments.reaching(_given_centres(known, k, len(moments.mean)))
            Space.of(reach)  # refuses centres too far away to be measured
            return reach

        return survey(engine, source, reaching)

    def _best_run(
        self, rows: Any, engine: Engine, space: Space, tol: float, schema: Schema
    ) -> tuple[Centres, Trace | None]:
        seed = seed_of(self.random_state)
        runs = self._runs()
        best: tuple[float, Centres, Trace | None] | None = None
        for run in range(runs):
            rows.forget()
            centres = self._start(rows, engine, space, seed, run)
            steps = Steps(self, self.max_iter, trace=self.trace, name="k-means", runs=runs)
            fitted = partial(_model_of, schema)
            found = lloyd(rows, engine, space, centres, steps, tol, fitted)
            inertia = 0.0
            if runs > 1:
                inertia = engine.reduce(
                    rows, CentreSums.of, space, found.centres, None, True
                ).inertia
            if best is None or inertia < best[0]:
                best = inertia, found, steps.trace
        assert best is not None
        return best[1:]

    def _runs(self) -> int:
        if not isinstance(self.init, str) and not callable(self.init):
            return 1
        if self.n_init == "auto":
            return 1 if isinstance(self.init, str) and self.init == "k-means++" else 10
        return int(self.n_init)

    def _start(self, rows: Any, engine: Engine, space: Space, seed: int, run: int) -> Array:
        if isinstance(self.init, str):
            start = plus_plus if self.init == "k-means++" else random_rows
            return start(rows, engine, space, self.n_clusters, seed, run)
        given: Any = self.init
        if callable(given):
            if engine.name != "local":
                raise ValueError(
                    "a function as init needs the rows in memory: give centres or 'k-means++'"
                )
            state = RandomState(np.array([seed & 0xFFFFFFFF, seed >> 32, run], dtype=np.uint32))
            X = rows.rows.X.view()
            X.flags.writeable = False  # it is the user's own array
            given = given(X, self.n_clusters, random_state=state)
        return _given_centres(given, self.n_clusters, len(space.offset))

    def _found(
        self,
        rows: Any,
        engine: Engine,
        source: Source,
        schema: Schema,
        space: Space,
        centres: Array,
        weights: Array,
    ) -> dict[str, Any]:
        """The fitted attributes: the centres as they are kept, labels and inertia under them."""
        found = _model_of(schema, centres)
        found["_weights"] = np.ascontiguousarray(np.broadcast_to(weights, centres.shape))
        exact = found["cluster_centers_"].astype(np.float64)
        if engine.name != "local":
            last = engine.reduce(rows, CentreSums.of, space, exact, None, True)
            return {**found, "inertia_": last.inertia}
        assigned = engine.reduce(rows, Assignment.of, space, exact)
        labels = assigned.labels
        if len(labels) < len(source.partitions[0].load().table):
            labels = self._labels_of_all(engine, source, labels, exact)
        return {**found, "inertia_": assigned.inertia, "labels_": labels}

    def _keep(self, found: dict[str, Any], **more: Any) -> None:
        """Set what a fit found, all at once; what it did not find is gone."""
        kept = {name: value for name, value in more.items() if value is not None}
        self._become({**found, **kept}, without=("labels_", "trace_"))

    def _labels_of_all(
        self, engine: Engine, source: Source, labels: Array, centres: Array
    ) -> Array:
        """Labels with those of the rows of weight zero; -1 for such as lie nowhere."""
        everyone = ToPoints("float64", keep_all=True)(source.partitions[0].load())
        assert everyone.weight is not None
        together = np.full(len(everyone.X), -1, np.int32)
        together[everyone.weight > 0] = labels
        placed = np.flatnonzero((everyone.weight == 0) & lie_somewhere(everyone.X))
        if len(placed):
            absent = engine.rows([InMemory(Chunk(Table.of(everyone.X[placed])))], ToPoints())
            found = engine.reduce(absent, Assignment.of, None, centres)
            together[placed] = found.labels
        return together

    def _reduce(self, engine: Engine, source: Source, summarise: Callable[..., Any]) -> Any:
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        return engine.reduce(rows, summarise, None, self.cluster_centers_.astype(np.float64))

    def _warn(self, best: Centres) -> None:
        if best.repairs:
            warn_user(
                f"clusters that had lost all their rows were started again {best.repairs} time(s), "
                "at the row farthest from its centre: fewer clusters may fit these data better.",
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
        """What a model file must satisfy."""
        shape = (self.n_clusters, Encoding.of(self.schema_).width)
        for name in ("cluster_centers_", "_weights"):
            array = getattr(self, name, None)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} must be floats of shape {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if self.n_features_in_ != len(self.schema_):
            raise ValueError("n_features_in_ must be the number of columns of the schema")


def _model_of(schema: Schema, centres: Array) -> dict[str, Any]:
    """The attributes that a model of these centres needs to predict."""
    encoding = Encoding.of(schema)
    return {
        **schema_attributes(schema),
        "cluster_centers_": np.ascontiguousarray(centres, dtype=encoding.dtype),
        "encoded_names_": encoding.names,
    }


def _given_centres(given: Any, k: int, d: int) -> Array:
    centres = np.array(given, dtype=np.float64, order="C")
    if centres.shape != (k, d):
        raise ValueError(
            f"The shape of the initial centers {centres.shape} does not match n_clusters={k} and "
            f"the {d} columns of the (encoded) data."
        )
    if not np.isfinite(centres).all():
        raise ValueError("The initial centers must be finite numbers.")
    return centres
