"""Choose the number of components and the covariance type over a grid."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from ceiba._typing import Array
from ceiba.base import check_unused, seed_of
from ceiba.base.errstate import with_default_errstate
from ceiba.data.arrays import is_dask, is_scan
from ceiba.data.table import Table
from ceiba.mixture.gaussian_mixture import GaussianMixture, check_n_components
from ceiba.mixture.selection import CRITERIA, MixtureChoice, fit_candidate

# The covariance types of mclust.
MCLUST_TYPES = (
    "EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "EEV", "VEV", "VVV",
)  # fmt: skip
# Rows, and the fold in which each is held out.
_Folds = tuple[Table, Array]


@with_default_errstate
def choose_components(
    X: Any,
    n_components: Iterable[int] = range(1, 10),
    covariance_types: Iterable[Any] = ("spherical", "diag", "tied", "full"),
    *,
    criterion: str = "bic",
    n_init: int = 3,
    cv: int = 0,
    sample_weight: Any = None,
    **parameters: Any,
) -> MixtureChoice:
    """Fit mixtures over a grid of sizes and covariance types and compare them by criteria.

    Every run is complete, and ``spread`` is the difference between the initializations: the printed
    table lists the mixtures for which it could change the choice.

    Parameters
    ----------
    X : array, frame, Table, list, scan or Dask collection
        Cross-validation requires rows in memory.
    n_components : iterable of int
    covariance_types : iterable of str
        As in `GaussianMixture`; ``ceiba.mixture.MCLUST_TYPES`` are those of mclust.
    criterion : {"bic", "aic", "icl", "cv"}
        The criterion that decides.
    n_init : int
        Initializations of each mixture.
    cv : int
        Folds of the cross-validated likelihood; 0 leaves it out.
    sample_weight : array of shape (n_rows,), optional
    **parameters
        Other hyper-parameters of `GaussianMixture`; ``n_latent`` is for ``"ppca"`` alone.

    Returns
    -------
    MixtureChoice

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.mixture import choose_components
    >>> choice = choose_components(datasets.load("iris").table, [1, 2, 3], ["full", "tied"])
    >>> choice.chosen
    (2, 'full')

    References
    ----------
    Fraley & Raftery (2002), "Model-based clustering, discriminant analysis, and density
    estimation", JASA 97.
    Smyth (2000), "Model selection for probabilistic clustering using cross-validated likelihood",
    Statistics and Computing 10.
    """
    if criterion not in CRITERIA:
        names = ", ".join(map(repr, CRITERIA))
        raise ValueError(f"criterion must be one of {names}, got {criterion!r}.")
    if cv == 1 or cv < 0:
        raise ValueError(f"cv must be 0 or an int >= 2, got {cv!r}.")
    if criterion == "cv" and not cv:
        raise ValueError("criterion='cv' requires cv >= 2, got 0.")
    sizes, types = _check_sizes(n_components), _check_types(covariance_types)
    # One seed for all: the mixtures of a grid are compared on the same initializations and folds.
    parameters["random_state"] = seed_of(parameters.get("random_state", 0))
    _check_parameters(parameters, types)
    folds = _make_folds(X, cv, parameters["random_state"]) if cv else None
    n_latent = parameters.pop("n_latent", 1)
    candidates: list[dict[str, Any]] = []
    for covariance_type in types:
        own = {"n_latent": n_latent} if covariance_type == "ppca" else {}
        model = GaussianMixture(
            1, covariance_type=covariance_type, n_init=n_init, **own, **parameters
        )
        candidates += _fit_sizes(X, sizes, model, sample_weight, folds)
    return MixtureChoice.of(candidates, criterion, n_init)


def _check_parameters(parameters: dict[str, Any], types: list[Any]) -> None:
    """Raise for hyper-parameters without effect: all runs are complete, and no model is kept."""
    model = GaussianMixture(1, **parameters)
    unused = ["learning_decay", "max_components", "trace", "warm_start"]
    if model.short_iter is not None:
        unused.append("short_iter")
    if "ppca" not in types:
        unused.append("n_latent")
    check_unused(model, unused, f"choose_components and covariance_types={types}")


def _check_sizes(given: Any) -> list[int]:
    sizes = [given] if isinstance(given, int | np.integer) else list(given)
    if not sizes:
        raise ValueError("n_components must have at least one entry, got none.")
    for k in sizes:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"n_components must be ints >= 1, got {k!r}.")
    return sorted({int(k) for k in sizes})


def _check_types(given: Any) -> list[Any]:
    types = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    if not types:
        raise ValueError("covariance_types must have at least one entry, got none.")
    return types


def _fit_sizes(
    X: Any, sizes: list[int], model: GaussianMixture, sample_weight: Any, folds: _Folds | None
) -> list[dict[str, Any]]:
    """Fit one covariance type with every number of components."""
    data, config = model._prepare_fit(X, sample_weight)
    check_n_components(data.n_rows, max(sizes))
    candidates = []
    for k in sizes:
        candidate, _ = fit_candidate(data, config, k, model.covariance_type)
        if folds is not None:
            candidate["cv"] = _cross_validate(folds, k, model, sample_weight)
        candidates.append(candidate)
    return candidates


def _make_folds(X: Any, n_folds: int, seed: int) -> _Folds:
    if is_dask(X) or is_scan(X):
        raise ValueError(
            "cv requires rows in memory, got a scan or a Dask collection: leave cv at 0."
        )
    table = X if isinstance(X, Table) else Table.of(X)
    n = len(table)
    if n < 2 * n_folds:
        raise ValueError(f"cv={n_folds} requires n_samples >= {2 * n_folds}, got {n}.")
    fold = np.empty(n, np.int64)
    fold[np.random.default_rng(seed).permutation(n)] = np.arange(n) % n_folds
    return table, fold


def _cross_validate(folds: _Folds, k: int, model: GaussianMixture, sample_weight: Any) -> float:
    """Compute the mean log density of held-out rows."""
    table, fold_of_row = folds
    n = len(table)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = 0.0
    for fold in range(fold_of_row.max() + 1):
        held_out = fold_of_row == fold
        one = clone(model).set_params(n_components=k)
        with warnings.catch_warnings():  # the fit to all rows warns already
            warnings.simplefilter("ignore")
            one.fit(table.take(np.flatnonzero(~held_out)), sample_weight=weight[~held_out])
        densities = one.score_samples(table.take(np.flatnonzero(held_out)))
        total += float(densities @ weight[held_out])
    return total / float(weight.sum())
