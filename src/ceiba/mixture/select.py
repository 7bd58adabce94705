"""Choosing components and form over a grid, in one call."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from ceiba._typing import Array
from ceiba.base.seed import seed_of
from ceiba.data.table import Table
from ceiba.mixture.gaussian_mixture import GaussianMixture, check_enough
from ceiba.mixture.selection import CRITERIA, MixtureChoice, Tried, attempt

FORMS = ("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE", "VEE", "EVV", "EEV", "VEV", "VVV")


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
    """Fit mixtures over a grid of sizes and forms and compare them by several criteria.

    Every start runs to its end, and ``spread`` tells how far apart the starts ended: where it could
    change the choice, the printed table says so.

    Parameters
    ----------
    X : array, frame, Table, list, scan or Dask collection
        Cross-validation needs rows in memory.
    n_components : iterable of int
    covariance_types : iterable of str
        As in `GaussianMixture`; ``ceiba.mixture.FORMS`` are mclust's.
    criterion : {"bic", "aic", "icl", "cv"}
        Which of them decides.
    n_init : int
        Starts of each mixture.
    cv : int
        Parts for the cross-validated likelihood; 0 leaves it out.
    sample_weight : array of shape (n_rows,), optional
    **parameters
        Other hyper-parameters of `GaussianMixture`.

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
        raise ValueError(f"criterion={criterion!r} must be one of {', '.join(map(repr, CRITERIA))}")
    if cv == 1 or cv < 0 or (criterion == "cv" and not cv):
        raise ValueError("cv must be the number of parts, 2 or more, for cross-validation")
    sizes, forms = _sizes_of(n_components), _forms_of(covariance_types)
    # One seed for all: the mixtures of a grid are compared on the same starts and parts.
    parameters["random_state"] = seed_of(parameters.get("random_state", 0))
    folds = _folds(X, cv, parameters["random_state"]) if cv else None
    tried = [
        one
        for form in forms
        for one in _tried(
            X, sizes, GaussianMixture(1, covariance_type=form, n_init=n_init, **parameters),
            sample_weight, folds,
        )
    ]  # fmt: skip
    return MixtureChoice.of(tried, criterion, n_init)


def _sizes_of(given: Any) -> list[int]:
    listed = [given] if isinstance(given, int | np.integer) else list(given)
    if not listed:
        raise ValueError("n_components is empty: give at least one number of components")
    for k in listed:
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise ValueError(f"n_components holds {k!r}: give whole numbers of 1 or more")
    return sorted({int(k) for k in listed})


def _forms_of(given: Any) -> list[Any]:
    listed = [given] if isinstance(given, str) else list(dict.fromkeys(given))
    if not listed:
        raise ValueError("covariance_types is empty: give at least one form")
    return listed


def _tried(
    X: Any, sizes: list[int], model: GaussianMixture, sample_weight: Any, folds: Folds | None
) -> list[Tried]:
    """One form, with every number of components."""
    data, plan = model._prepared(X, sample_weight)
    check_enough(data.n_rows, max(sizes))
    found = []
    for k in sizes:
        one, _ = attempt(data, plan, k, model.covariance_type)
        if folds is not None:
            one = replace(one, cv=_cross_validated(folds, k, model, sample_weight))
        found.append(one)
    return found


@dataclass(frozen=True, slots=True)
class Folds:
    """Rows, and the part of cross-validation in which each is left out."""

    table: Table
    part: Array
    n_parts: int


def _folds(X: Any, parts: int, seed: int) -> Folds:
    if type(X).__module__.partition(".")[0] == "dask" or (
        hasattr(X, "partitions") and not hasattr(X, "shape")
    ):
        raise ValueError(
            "cross-validation needs the rows in memory: leave cv out for a scan or a Dask "
            "collection"
        )
    table = X if isinstance(X, Table) else Table.of(X)
    n = len(table)
    if n < 2 * parts:
        raise ValueError(f"cv={parts} parts need at least {2 * parts} rows; there are {n}")
    part = np.empty(n, np.int64)
    part[np.random.default_rng(seed).permutation(n)] = np.arange(n) % parts
    return Folds(table, part, parts)


def _cross_validated(folds: Folds, k: int, model: GaussianMixture, sample_weight: Any) -> float:
    """Mean log density of rows under mixtures that did not see them."""
    n = len(folds.table)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    total = 0.0
    for part in range(folds.n_parts):
        out = folds.part == part
        one = clone(model).set_params(n_components=k)
        with warnings.catch_warnings():  # what happened to all rows together is told once
            warnings.simplefilter("ignore")
            one.fit(folds.table.take(np.flatnonzero(~out)), sample_weight=weight[~out])
        total += float(one.score_samples(folds.table.take(np.flatnonzero(out))) @ weight[out])
    return total / float(weight.sum())


__all__ = ["FORMS", "choose_components"]
