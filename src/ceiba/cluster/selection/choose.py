"""Choose the number of clusters by five indices in one table."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ceiba._typing import Array
from ceiba.base import seed_of, unused_error
from ceiba.base.errstate import with_default_errstate
from ceiba.cluster.kmeans import KMeans
from ceiba.cluster.selection.gap import draw_box, draw_principal, gap_statistic, one_error_rule
from ceiba.cluster.selection.silhouette import estimate, sample_rows, silhouettes
from ceiba.cluster.selection.validity import Grouping, calinski_harabasz_score, davies_bouldin_score
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.engine.local import effective_threads, run_tasks
from ceiba.stats import Moments, Points
from ceiba.stats.scaling import DominantColumnWarning, warn_dominant_column

__all__ = ["ClusterChoice", "choose_n_clusters"]

EXACT_SILHOUETTE_ROWS = 10_000
Draw = Callable[[np.random.Generator], Array]  # draws the rows of one reference


@dataclass(frozen=True, eq=False, repr=False)
class ClusterChoice:
    """Values of five cluster validity indices for each number of clusters.

    Attributes
    ----------
    table : dict of arrays
        Columns ``k``, ``inertia``, ``silhouette``, ``silhouette_se``, ``calinski_harabasz``,
        ``davies_bouldin``, ``gap`` and ``gap_se``, one entry per k. NaN marks an undefined index
        (all but inertia and gap for one cluster), printed as "–".
    best : dict
        Index (``elbow``, ``silhouette``, ``calinski_harabasz``, ``davies_bouldin``, ``gap``) to
        the k that it selects. An index that selects none is left out.
    models : dict
        k to the estimator fitted with k clusters.
    n_rows, n_sampled : int
        Rows of the data, and rows whose silhouettes were averaged: equal where they are exact.
    n_references : int
        Number of references of the gap statistic.
    reference : str
        Distribution of the references, ``"box"`` or ``"pca"``.
    """

    table: dict[str, Array]
    best: dict[str, int]
    models: dict[int, Any]
    n_rows: int
    n_sampled: int
    n_references: int
    reference: str

    def to_frame(self) -> Any:
        """Return the table as a pandas frame, indexed by k."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                'to_frame requires pandas: pip install "ceiba[files]", or use .table'
            ) from error
        return pd.DataFrame(self.table).set_index("k")

    def __repr__(self) -> str:
        return describe(self)


@with_default_errstate
def choose_n_clusters(
    X: Any,
    ks: Iterable[int] = range(1, 11),
    *,
    estimator: Any = None,
    n_references: int = 10,
    reference: str = "box",
    sample_size: int | None = 1_000,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> ClusterChoice:
    """Fit each number of clusters and compare them by five validity indices.

    Parameters
    ----------
    X : array, frame or table of shape (n, d)
        Rows in memory; nominal columns and missing values are allowed.
    ks : iterable of int
        Numbers of clusters to try.
    estimator : estimator, optional
        Fitted for every k, with ``n_clusters`` set: ``KMeans(n_init=5)`` unless given. It keeps its
        own ``random_state``. Must have ``inertia_`` and ``labels_`` once fitted.
    n_references : int
        Reference data sets of the gap statistic; 0 leaves the gap out.
    reference : {"box", "pca"}
        Draw references uniformly over the range of each column (over the observed categories of a
        nominal one), or over the range of each principal component; for the gap alone.
    sample_size : int or None
        Up to 10,000 rows the silhouette is exact. Beyond, it is the mean over this many
        random rows, each measured against all rows; None is exact for any number of rows.
    random_state : int, RandomState, Generator or None
        Draws the references and the silhouette's sample.
    n_jobs : int, optional
        Number of concurrent fits; None for every core. The result does not depend on it.

    Returns
    -------
    ClusterChoice

    Notes
    -----
    Selected k by index: *elbow*, the k whose inertia lies farthest below the straight line from the
    first to the last k (it therefore depends on the range; at least three ks). *Silhouette* and
    *Calinski-Harabasz*, the largest; *Davies-Bouldin*, the smallest; ties go to the smaller k.
    *Gap*, the smallest k with Gap(k) >= Gap(k') - s(k'), k' being the next k tried [1]_; the
    largest k where there is none.

    References
    ----------
    .. [1] R. Tibshirani, G. Walther and T. Hastie, "Estimating the number of clusters in a data
       set via the gap statistic", Journal of the Royal Statistical Society B 63(2), 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.concatenate([np.arange(20.0), 100 + np.arange(20.0)])[:, None]
    >>> choose_n_clusters(X, range(1, 5)).best["silhouette"]
    2
    """
    table = Table.of(X)
    table.check_finite()
    counts = _check_ks(ks, table.n_rows)
    encoding = Encoding.of(table.schema)
    rows = np.asarray(encoding.apply(table), dtype=np.float64)
    _check_differs(rows)
    draw = _reference(reference, rows, encoding, n_references)
    template = KMeans(n_init=5) if estimator is None else estimator
    seed, threads = seed_of(random_state), effective_threads(n_jobs)
    models = _fit_data(template, X, counts, threads)
    if isinstance(template, KMeans):
        rows = _measured_rows(rows, models[0], encoding)
    references = [(seed, number) for number in range(1, n_references + 1)]
    inertias = _reference_inertias(template, draw, references, counts, threads)
    exact = sample_size is None or len(rows) <= EXACT_SILHOUETTE_ROWS
    sample = sample_rows(len(rows), None if exact else sample_size, seed)
    columns = {"k": np.array(counts), "inertia": np.array([m.inertia_ for m in models])}
    columns |= _compare_labels(rows, models, sample, n_jobs)
    columns |= _gap_columns(columns["inertia"], inertias, rows)
    return ClusterChoice(
        columns,
        _select(columns),
        dict(zip(counts, models, strict=True)),
        len(rows),
        len(sample),
        n_references,
        reference,
    )


def _measured_rows(rows: Array, model: KMeans, encoding: Encoding) -> Array:
    """Return the rows in the units in which the model measures distances; warn for all fits."""
    if model.scale is None:
        warn_dominant_column(Moments.of(Batch(Points(rows))), encoding)
    units = model._units
    return rows if units is None else units.to_units(rows)


def _fit_data(template: Any, X: Any, counts: Sequence[int], threads: int) -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominantColumnWarning)  # one warning for all fits
        models = run_tasks(lambda k: _model(template, k).fit(X), counts, threads)
    for model in models:
        _set_supported(model, n_jobs=getattr(template, "n_jobs", None))
    return models


def _reference_inertias(
    template: Any, draw: Draw, seeds: Sequence[Any], counts: Sequence[int], threads: int
) -> Array:
    """Cluster the references, each drawn by a seed, and return (n_references, n_ks) inertias."""

    def inertia(task: tuple[Any, int]) -> float:
        # The draw is keyed by the reference alone: every k clusters the same rows.
        seed, k = task
        model = _model(template, k)
        _set_supported(model, trace=False)
        return float(model.fit(draw(np.random.default_rng(seed))).inertia_)

    with warnings.catch_warnings():
        # Warnings about synthetic reference rows do not concern the user's data.
        warnings.simplefilter("ignore")
        inertias = run_tasks(inertia, [(seed, k) for seed in seeds for k in counts], threads)
    return np.array(inertias).reshape(len(seeds), len(counts))


def _model(template: Any, k: int) -> Any:
    """Clone the template for ``k``, with one thread: the fits themselves run in parallel."""
    model = clone(template).set_params(n_clusters=k)
    _set_supported(model, n_jobs=1)
    return model


def _set_supported(model: Any, **parameters: Any) -> None:
    """Set the parameters that the estimator has."""
    supported = model.get_params(deep=False)
    model.set_params(**{name: value for name, value in parameters.items() if name in supported})


def _check_ks(ks: Iterable[int], n_rows: int) -> list[int]:
    try:
        counts = sorted({int(k) for k in ks})
    except TypeError:
        raise TypeError(
            f"ks must be an iterable of int, such as range(1, 11), got {ks!r}."
        ) from None
    if not counts or counts[0] < 1:
        raise ValueError(f"ks must be ints of at least 1, such as range(1, 11), got {counts}.")
    if counts[-1] > n_rows:
        raise ValueError(f"ks must be at most n_samples={n_rows}, got {counts[-1]}.")
    return counts


def _check_differs(rows: Array) -> None:
    observed = ~np.isnan(rows)
    low = np.min(rows, axis=0, initial=np.inf, where=observed)
    high = np.max(rows, axis=0, initial=-np.inf, where=observed)
    if not (low < high).any():
        raise ValueError("X must have a column with two different values, got constant columns.")


def _reference(name: str, rows: Array, encoding: Encoding, n_references: int) -> Draw:
    if n_references < 0 or n_references == 1:
        raise ValueError(
            f"n_references must be 0 (no gap statistic) or at least 2, got {n_references}."
        )
    if name != "box" and not n_references:
        raise unused_error("reference", "n_references=0", name, "box")
    if name == "box":
        return partial(draw_box, rows=rows, encoding=encoding)
    if name == "pca":
        return partial(draw_principal, rows=rows)
    raise ValueError(f"reference must be 'box' or 'pca', got {name!r}.")


def _compare_labels(
    rows: Array, models: Sequence[Any], sample: Array, n_jobs: int | None
) -> dict[str, Array]:
    """Compute the three indices that compare clusters; NaN where there are none to compare."""
    groupings = [Grouping.of(model.labels_, len(rows)) for model in models]
    comparable = [i for i, grouping in enumerate(groupings) if grouping.comparable]
    names = ("silhouette", "silhouette_se", "calinski_harabasz", "davies_bouldin")
    columns = {name: np.full(len(models), np.nan) for name in names}
    if not comparable:
        return columns
    values = silhouettes(rows, [groupings[i] for i in comparable], sample, n_jobs)
    for i, coefficients in zip(comparable, values, strict=True):
        mean = estimate(coefficients, len(rows))
        columns["silhouette"][i] = mean.score
        columns["silhouette_se"][i] = mean.standard_error
        labels = models[i].labels_
        columns["calinski_harabasz"][i] = calinski_harabasz_score(rows, labels)
        columns["davies_bouldin"][i] = davies_bouldin_score(rows, labels)
    return columns


def _gap_columns(inertia: Array, references: Array, rows: Array) -> dict[str, Array]:
    if not len(references):
        return {"gap": np.full(len(inertia), np.nan), "gap_se": np.full(len(inertia), np.nan)}
    # The root of the inertia that is due to rounding: clusters below it are perfect.
    largest = float(np.nanmax(np.abs(rows)))
    noise = 4 * float(np.finfo(float).eps) * largest * np.count_nonzero(~np.isnan(rows)) ** 0.5
    logs = [
        np.log(values, out=np.full(values.shape, -np.inf), where=np.sqrt(values) > noise)
        for values in (inertia, references)
    ]
    gap, error = gap_statistic(*logs)
    return {"gap": gap, "gap_se": error}


def _select(columns: dict[str, Array]) -> dict[str, int]:
    """Return the k that each index selects."""
    selected = {
        "elbow": _elbow(columns["k"], columns["inertia"]),
        "silhouette": _extreme(np.nanargmax, columns["silhouette"]),
        "calinski_harabasz": _extreme(np.nanargmax, columns["calinski_harabasz"]),
        "davies_bouldin": _extreme(np.nanargmin, columns["davies_bouldin"]),
        "gap": one_error_rule(columns["gap"], columns["gap_se"]),
    }
    return {name: int(columns["k"][i]) for name, i in selected.items() if i is not None}


def _elbow(ks: Array, inertia: Array) -> int | None:
    """Return the index farthest below the chord from first to last; None without a bend."""
    if len(ks) < 3 or not inertia[0] > inertia[-1]:
        return None
    along = (ks - ks[0]) / (ks[-1] - ks[0])
    height = (inertia - inertia[-1]) / (inertia[0] - inertia[-1])
    below = 1 - along - height
    index = int(np.argmax(below))
    # Rounding alone lifts the points of a straight line off their chord.
    return index if below[index] > 8 * np.finfo(float).eps else None


def _extreme(pick: Callable[[Array], Any], values: Array) -> int | None:
    return None if np.isnan(values).all() else int(pick(values))


# Column of the table -> its heading, and the index whose selection is starred in it.
_HEADINGS = {
    "inertia": ("inertia", "elbow"),
    "silhouette": ("silhouette", "silhouette"),
    "calinski_harabasz": ("Calinski-Harabasz", "calinski_harabasz"),
    "davies_bouldin": ("Davies-Bouldin", "davies_bouldin"),
    "gap": ("gap", "gap"),
}


def describe(choice: ClusterChoice) -> str:
    """Format the table with the k of each index starred, and notes on the estimates."""
    shown = [name for name in _HEADINGS if name != "gap" or choice.n_references]
    columns = [_column("k", [str(k) for k in choice.table["k"]])]
    columns += [_index_column(choice, name) for name in shown]
    lines = ["   ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return "\n".join([*lines, "", *_notes(choice)])


def _index_column(choice: ClusterChoice, name: str) -> list[str]:
    heading, index = _HEADINGS[name]
    values = choice.table[name]
    cells = _numbers(values)
    error = {"silhouette": "silhouette_se", "gap": "gap_se"}.get(name)
    if error is not None and np.nanmax(choice.table[error], initial=0.0) > 0:
        errors = [f"± {one:.3f}" for one in choice.table[error]]
        shown = np.where(np.isfinite(values), errors, " " * len("± 0.000"))
        cells = [f"{cell} {one}" for cell, one in zip(cells, shown, strict=True)]
    chosen = choice.best.get(index)
    marks = ["*" if k == chosen else " " for k in choice.table["k"]]
    return _column(heading, [cell + mark for cell, mark in zip(cells, marks, strict=True)], " ")


def _numbers(values: Array) -> list[str]:
    """Format numbers to five digits of the largest, at most three decimals; NaN as "–"."""
    finite = np.abs(values[np.isfinite(values)])
    digits = int(np.floor(np.log10(finite.max()))) + 1 if finite.size and finite.max() else 1
    form = f".{min(max(5 - digits, 0), 3)}f" if -1 < digits < 9 else ".3e"
    return ["–" if np.isnan(value) else format(value, form) for value in values]


def _column(heading: str, cells: list[str], after: str = "") -> list[str]:
    """Right-align cells under their heading; ``after`` keeps the heading off the marks."""
    width = max(len(heading + after), *(len(cell) for cell in cells))
    return [(heading + after).rjust(width), *(cell.rjust(width) for cell in cells)]


def _notes(choice: ClusterChoice) -> list[str]:
    chosen = ", ".join(
        f"{_HEADINGS[index][0] if index in _HEADINGS else index} {k}"
        for index, k in choice.best.items()
    )
    lines = [f"* chosen: {chosen}" if chosen else "no index selects a number of clusters"]
    if choice.n_sampled == choice.n_rows:
        lines.append(f"silhouette: exact, all {choice.n_rows:,} rows")
    else:
        lines.append(
            f"silhouette: sampled, {choice.n_sampled:,} of {choice.n_rows:,} rows, ± standard error"
        )
    return lines + _gap_notes(choice)


def _gap_notes(choice: ClusterChoice) -> list[str]:
    if not choice.n_references:
        return []
    over = {"box": "the box of the columns", "pca": "the box of the principal components"}
    lines = [f"gap: {choice.n_references} references uniform over {over[choice.reference]}, ± s(k)"]
    if len(choice.table["k"]) > 1 and choice.best.get("gap") == choice.table["k"][-1]:
        lines.append("gap: still rising at the largest k; try more clusters")
    return lines
