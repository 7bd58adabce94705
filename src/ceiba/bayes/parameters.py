"""Hyper-parameters of Bayesian network classifiers, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between, Parameters
from ceiba.bayes.discretize.config import MAX_BINS, MIN_BINS

Thresholds = Annotated[
    Mapping[Any, Any] | np.ndarray[Any, Any] | None,
    "Given thresholds of some numeric columns, by name or index, or a list with an entry (or None) "
    "for each column; a value at or above a threshold lies right of it.",
]


class SmoothingParameters(Parameters):
    """Pseudo-counts and class probabilities."""

    alpha: Annotated[
        float,
        AtLeast(0.0),
        "Pseudo-count of each category, and of each class, in the conditional distributions; 1 is "
        "Laplace's rule, 0 maximum likelihood. A Poisson rate gets so many rows with the mean of "
        "all classes.",
    ] = 1.0
    m_prior: Annotated[
        float | None,
        Above(0.0),
        "Weight of the m-estimate, which replaces alpha: each conditional distribution gets so "
        "many rows with the frequencies of the feature over all classes; None for alpha.",
    ] = None
    priors: Annotated[
        np.ndarray[Any, Any] | Mapping[Any, float] | None,
        "Prior probability of each class, in the order of ``classes_`` or by class; None for the "
        "smoothed frequencies of the classes.",
    ] = None
    class_weight: Annotated[
        Literal["balanced"] | Mapping[Any, float] | None,
        "Factor of each class's weights: a mapping (1 for classes that it leaves out), or "
        "'balanced' to give all classes the same number of rows.",
    ] = None


class DiscretizationParameters(Parameters):
    """How numeric columns become categories."""

    discretization: Annotated[
        Literal["mdl", "equal_width", "equal_frequency", "kmeans"],
        "Thresholds of numeric columns, learned in every fit: by the description length of Fayyad "
        "and Irani, by intervals of equal width or weight, or between the centers of k-means.",
    ] = "mdl"
    n_bins: Annotated[
        int,
        Between(MIN_BINS, MAX_BINS),
        "Intervals of the discretizations other than 'mdl'.",
    ] = 5
    thresholds: Thresholds = None


class TrainingParameters(Parameters):
    """Generative or discriminative training."""

    training: Annotated[
        Literal["ml", "tm"],
        "Generative: maximum likelihood of the joint distribution, by counting ('ml'). "
        "Discriminative: maximum conditional likelihood of the class given the features ('tm').",
    ] = "ml"
    solver: Annotated[
        Literal["lbfgs", "tm", "newton"],
        "Solver of discriminative training: L-BFGS with the metric of the TM algorithm, the TM "
        "algorithm itself, or Newton's method for small models.",
    ] = "lbfgs"
    penalty: Annotated[
        Annotated[float, AtLeast(0.0)] | Literal["auto", "generative"],
        "Penalty of discriminative training: a number is the strength of a ridge on the weights; "
        "'generative' adds tau times the joint log-likelihood. 'auto' is a ridge of 3, 0 with "
        "solver='tm', and 'generative' where missing values are summed over.",
    ] = "auto"
    tau: Annotated[
        float, Above(0.0), "Weight of the joint log-likelihood with penalty='generative'."
    ] = 0.1
    max_iter: Annotated[
        int | None,
        AtLeast(1),
        "Maximum number of iterations of discriminative training; None for 1000 (newton: 100). "
        "Generative training counts in one.",
    ] = None
    tol: Annotated[
        float | None,
        AtLeast(0.0),
        "Training ends when an iteration gains less: relative to the objective, None for 1e-9; "
        "with solver='tm' the gain itself, None for 0.001.",
    ] = None
    early_stopping: Annotated[
        bool,
        "Whether to train only so many iterations as maximize the conditional likelihood of "
        "held-out rows (median over five inner folds, without those whose other rows lack a "
        "class).",
    ] = False


class NetworkParameters(SmoothingParameters, DiscretizationParameters, TrainingParameters):
    """Hyper-parameters that all network classifiers share."""

    missing: Annotated[
        Literal["marginal", "category"],
        "Missing values are summed over, or are a category of their own in columns that have some "
        "in training.",
    ] = "marginal"
    trace: Annotated[bool, "Keep every iteration of discriminative training in ``trace_``."] = False
    random_state: Annotated[
        int | RandomState | Generator | None,
        "Seed of the inner folds of early_stopping; nothing else is random.",
    ] = 0
    n_jobs: Annotated[int | None, "Number of threads; None or -1 uses every core allowed."] = None
