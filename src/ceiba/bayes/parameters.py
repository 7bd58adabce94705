"""Hyper-parameters of Bayesian network classifiers, each declared once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between, Parameters
from ceiba.bayes.discretize.config import MAX_BINS, MIN_BINS
from ceiba.bayes.em import MAX_ITER, TOL

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
        "'generative' adds tau times the joint log-likelihood. 'auto' is 'generative' where "
        "missing values are summed over, and otherwise a ridge of 3, or 0 with solver='tm'.",
    ] = "auto"
    tau: Annotated[
        float | None,
        Above(0.0),
        "Weight of the joint log-likelihood with penalty='generative'; None for 0.1, or 1 where "
        "there are arcs between columns.",
    ] = None
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


class TANParameters(NetworkParameters):
    """Hyper-parameters of TAN: the structure, and EM where values are missing."""

    structure: Annotated[
        Literal["tree", "forest", "kdb", "aode"] | np.ndarray[Any, Any],
        "Arcs between the columns. 'tree': the maximum spanning tree of the mutual information "
        "given the class (Chow and Liu). 'forest': the same, with arcs only where the dependence "
        "is significant. 'kdb': max_parents parents of each column (k-dependence). 'aode': the "
        "average of all networks in which one column is the parent of all others. Or a list of "
        "arcs (parent, child), by names or indices of columns; further arcs are not learned.",
    ] = "tree"
    root: Annotated[
        int | str | None,
        AtLeast(0),
        "Column at the root of its tree, with structure='tree' or 'forest'; None for the first one "
        "of each tree.",
    ] = None
    significance: Annotated[
        float,
        Between(0, 1, closed="neither"),
        "Error probability of structure='forest', over all pairs together: an arc requires a G "
        "test of independence given the class with a p-value below significance / number of "
        "pairs (Bonferroni).",
    ] = 0.01
    max_parents: Annotated[
        int, AtLeast(1), "Number of parents of each column, besides the class, in 'kdb'."
    ] = 2
    min_frequency: Annotated[
        float,
        AtLeast(0),
        "Smallest weight of the training rows with the value of a parent in 'aode', where a weight "
        "of 1 is a row: networks whose parent has a rarer value in a row do not count for it. The "
        "paper has 30.",
    ] = 1.0
    em_max_iter: Annotated[
        int, AtLeast(1), "Maximum number of iterations of EM, where values are missing."
    ] = MAX_ITER
    em_tol: Annotated[
        float,
        AtLeast(0),
        "EM ends when an iteration gains less, relative to the log-likelihood of the observed "
        "values plus the logarithm of the smoothing prior.",
    ] = TOL
