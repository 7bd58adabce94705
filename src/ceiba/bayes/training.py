"""Steps of a fit that all network classifiers share: class priors, settings and report of training.

Training itself is in `ceiba.bayes.discriminative.train`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.base import check_unused, seed_of
from ceiba.bayes.coding import CodedData
from ceiba.bayes.discriminative.train import TrainingConfig, TrainingResult, unbounded_cells
from ceiba.bayes.explain import category_label
from ceiba.bayes.families import Families
from ceiba.bayes.network import MIN_PROBABILITY, ClassTable
from ceiba.data.warn import warn_user
from ceiba.mixture.covariance import check_probabilities

# Fitted attributes of discriminative training, which other fits do not set.
TRAINING_ATTRIBUTES = ("conditional_log_likelihood_", "separable_", "unbounded_cells_", "trace_")
# Weight of the joint likelihood without and with arcs, by measurement on ten tables with missing
# values (2 x 5 folds, mean log-loss): naive Bayes .425 (0.03), .408 (0.1), .417 (0.3), .447 (1);
# TAN .489 (0.1), .440 (0.3), .419 (1), .415 (3), of which 1 has the best accuracy.
_TAU = {False: 0.1, True: 1.0}


class UnboundedWeightsWarning(UserWarning):
    """Without a penalty the conditional likelihood has no maximum: weights grow without bound."""


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """Result of a fit.

    Parameters
    ----------
    attributes : dict
        Fitted attributes, ``model_`` among them.
    training : TrainingResult or None
        Of discriminative training.
    """

    attributes: dict[str, Any]
    training: TrainingResult | None = None


def class_log_priors(priors: Any, classes: Array, class_count: Array, smoothed: Array) -> Array:
    """Return the logarithms of the class probabilities.

    Parameters
    ----------
    priors : array-like, mapping or None
        As the hyper-parameter; None for the smoothed frequencies of the classes that have rows.
    classes : ndarray of shape (n_classes,)
    class_count : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    smoothed : ndarray of shape (n_classes,)
        Logarithms of the smoothed frequencies.
    """
    has_rows = class_count > 0
    if priors is not None:
        return given_log_priors(priors, classes)
    if has_rows.all():
        return smoothed
    # A class without weight counts as absent: it has no pseudo-count either.
    frequencies = np.where(has_rows, np.exp(smoothed), 0.0)
    return np.asarray(np.log(np.maximum(frequencies / frequencies.sum(), MIN_PROBABILITY)))


def given_log_priors(priors: Any, classes: Array) -> Array:
    """Return the logarithms of class probabilities that are given as a hyper-parameter."""
    labels = classes.tolist()
    if isinstance(priors, Mapping):
        absent = [label for label in labels if label not in priors]
        if absent:
            raise ValueError(
                f"priors must have an entry for every class, got none for {absent[0]!r}."
            )
        unknown = [label for label in priors if label not in labels]
        if unknown:
            raise ValueError(
                f"priors must have entries for the classes {labels} only, got {unknown[0]!r}: "
                "leave it out."
            )
        priors = [priors[label] for label in labels]
    shares = check_probabilities(priors, len(labels), "priors")
    return np.log(np.maximum(shares, MIN_PROBABILITY))


def training_config(parameters: Any, sums_missing: bool, has_arcs: bool = False) -> TrainingConfig:
    """Return the settings of discriminative training from the hyper-parameters."""
    tau = _TAU[has_arcs] if parameters.tau is None else parameters.tau
    config = TrainingConfig.of(
        parameters.solver,
        parameters.penalty,
        tau,
        sums_missing=sums_missing,
        max_iter=parameters.max_iter,
        tol=parameters.tol,
        early_stopping=parameters.early_stopping,
        seed=seed_of(parameters.random_state),
    )
    if config.tau == 0.0:
        when = f"penalty={parameters.penalty!r} and solver={parameters.solver!r}"
        check_unused(parameters, ["tau"], when if sums_missing else f"{when} on complete rows")
    return config


def training_attributes(
    result: TrainingResult, families: Families, counts: ClassTable, data: CodedData
) -> dict[str, Any]:
    """Return the fitted attributes that describe discriminative training."""
    attributes: dict[str, Any] = {
        "conditional_log_likelihood_": result.log_likelihood,
        "n_iter_": result.n_iter,
        "separable_": result.is_separable,
        "unbounded_cells_": _name_cells(data, families, counts) if result.unpenalized else [],
    }
    return attributes if result.trace is None else attributes | {"trace_": result.trace}


def _name_cells(data: CodedData, families: Families, counts: ClassTable) -> list[tuple[str, ...]]:
    """Return the categories and the class of the counts whose weights have no bound."""
    cells = unbounded_cells(families, counts)
    named = []
    for row, c in cells.tolist():
        family = int(np.searchsorted(families.offsets, row, side="right")) - 1
        codes = np.unravel_index(row - families.offsets[family], families.shapes[family])
        members = families.members(family)
        parts = tuple(
            f"{data.encoding.names[j]}={category_label(data.encoding, j, int(code))}"
            for j, code in zip(members, codes, strict=True)
        )
        named.append((*parts, str(data.classes[c])))
    return named


def warn_training(result: TrainingResult, n_unbounded: int, early_stopping: bool) -> None:
    """Warn if training has not converged, or has no maximum to converge to.

    ``n_unbounded`` is the number of cells whose weights have no bound (`training_attributes`).
    """
    if not result.converged:
        warn_user(
            f"Discriminative training did not converge in {result.n_iter} iterations: "
            "increase max_iter or tol, or use another solver.",
            ConvergenceWarning,
        )
    if result.unpenalized and (result.is_separable or n_unbounded):
        cause = (
            "the classes are separable"
            if result.is_separable
            else f"{n_unbounded} combinations of a category and a class have no "
            "rows (unbounded_cells_)"
        )
        remedies = "Use penalty='auto' with solver='lbfgs', or penalty='generative'"
        if not early_stopping:
            remedies += ", or early_stopping=True"
        warn_user(
            f"Without a penalty the conditional likelihood has no maximum, since {cause}: its "
            f"weights grow as long as training goes on. {remedies}.",
            UnboundedWeightsWarning,
        )
