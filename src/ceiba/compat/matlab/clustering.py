"""K-means under MATLAB's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.cluster import KMeans
from ceiba.compat.matlab.name_value import NameValue, check_nargout

_KMEANS_OPTIONS = (
    "Display", "Distance", "EmptyAction", "MaxIter", "OnlinePhase", "random_state", "Replicates",
    "Start",
)  # fmt: skip
_UNSUPPORTED = {"Options": "give MaxIter; every core is used, and random_state seeds the draws"}
_KMEANS_STARTS = {"plus": "k-means++", "sample": "random"}


def kmeans(X: Any, k: int, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
    """Cluster rows by k-means with MATLAB's options and outputs.

    Parameters
    ----------
    X : array of shape (n, p)
        Rows with NaN are left out; their cluster is NaN.
    k : int
        Number of clusters.
    *pairs, **named
        Options, as ``"Replicates", 5`` or ``Replicates=5``, in any case.
    nargout : int
        Number of outputs: ``[idx, C] = kmeans(X, k)`` is ``idx, C = kmeans(X, k, nargout=2)``.

    Returns
    -------
    idx : ndarray of shape (n,)
        Cluster of each row, numbered from 1.
    C : ndarray of shape (k, p)
        Centers.
    sumd : ndarray of shape (k,)
        Sum of squared distances in each cluster.
    D : ndarray of shape (n, k)
        Squared distance of each row to each center.

    Other Parameters
    ----------------
    Distance : {"sqeuclidean"}
        Others are refused.
    Start : {"plus", "sample"} or array of shape (k, p)
        Initial centers.
    Replicates : int
        Runs with new initial centers, of which the best is kept; by default 1.
    MaxIter : int
        By default 100.
    EmptyAction : {"singleton"}
        An empty cluster gets the row farthest from its center.
    OnlinePhase, Display : {"off"}
    random_state : int
        Ceiba's own: seed of the draws, by default 0.

    Examples
    --------
    >>> from ceiba.compat.matlab import kmeans
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0], [9.0, 8.0]]
    >>> idx, C, sumd, D = kmeans(X, 2, nargout=4)
    >>> bool(idx[0] == idx[1] != idx[2]), sumd.tolist(), D.shape
    (True, [0.5, 0.5], (4, 2))

    References
    ----------
    Arthur & Vassilvitskii (2007), "k-means++: the advantages of careful seeding", SODA.
    """
    options = NameValue.read("kmeans", _KMEANS_OPTIONS, pairs, named, _UNSUPPORTED)
    check_nargout(nargout, 4)
    for name, word in (
        ("Distance", "sqeuclidean"), ("EmptyAction", "singleton"), ("OnlinePhase", "off"),
        ("Display", "off"),
    ):  # fmt: skip
        options.word(name, [word], word)
    rows, known = complete_rows(X)
    k = NameValue({"k": k}).count("k", 1)
    if k > known.sum():
        raise ValueError(
            f"k must be at most the number of rows without NaN, {known.sum()}, got {k}."
        )
    start = _start(options, _KMEANS_STARTS, "plus", (k, rows.shape[1]))
    replicates = options.count("Replicates", 1)
    if not isinstance(start, str) and replicates > 1:
        raise ValueError(
            "Replicates must be 1 with an array as Start: every run would be the same."
        )
    model = KMeans(
        k,
        init=start,  # type: ignore[arg-type]
        n_init=replicates if isinstance(start, str) else "auto",
        max_iter=options.count("MaxIter", 100),
        tol=0.0,
        random_state=options.count("random_state", 0, 0),
    ).fit(rows[known])
    idx = np.full(len(rows), np.nan)
    idx[known] = model.labels_ + 1
    centers = np.asarray(model.cluster_centers_, np.float64)
    D = cdist(rows, centers, "sqeuclidean")
    sumd = np.bincount(model.labels_, D[known, model.labels_], minlength=k)
    outputs = (idx.astype(np.int64) if known.all() else idx), centers, sumd, D
    return outputs[0] if nargout == 1 else outputs[:nargout]


def matrix(X: Any) -> Array:
    """Return rows as floats; a vector is one column."""
    rows = np.asarray(X, dtype=np.float64)
    rows = rows.reshape(-1, 1) if rows.ndim == 1 else rows
    if rows.ndim != 2:
        raise ValueError(f"X must have shape (n, p), got {rows.shape}.")
    return rows


def complete_rows(X: Any) -> tuple[Array, Array]:
    """Return the rows, and which of them have no NaN."""
    rows = matrix(X)
    known = np.asarray(~np.isnan(rows).any(axis=1))
    if not known.any():
        raise ValueError("X must have a row without NaN.")
    return rows, known


def _start(
    options: NameValue, words: Mapping[str, str], default: str, shape: tuple[int, int]
) -> str | Array:
    """Return the initialization of k-means: a method, or given centers."""
    given = options.of("Start", default)
    if isinstance(given, str):
        return words[options.word("Start", list(words), default)]
    centers = np.asarray(given, np.float64)
    if centers.shape != shape:
        raise ValueError(
            f"Start must be {tuple(words)} or have shape {shape}, got {centers.shape}."
        )
    return centers
