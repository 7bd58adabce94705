"""Hyper-parameters of latent class mixtures."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between, parameter
from ceiba.bayes.discretize.config import MAX_BINS, MIN_BINS
from ceiba.bayes.parameters import DiscretizationParameters


class LatentParameters(DiscretizationParameters):
    """Number of components, structure, and runs of EM."""

    n_components: Annotated[
        Annotated[int, AtLeast(1)] | Literal["bic", "aic"],
        "Number of components, or the criterion that chooses it, from 1 to max_components.",
    ] = parameter(2, kw_only=False)
    max_components: Annotated[
        int, AtLeast(1), "Maximum number of components where a criterion chooses n_components."
    ] = 9
    structure: Annotated[
        Literal["independent", "tree"],
        "Dependence of the columns given the component: none, or a tree, learned in every step of "
        "EM as the maximum spanning tree of the mutual information given the component.",
    ] = "independent"
    alpha: Annotated[
        float,
        AtLeast(0.0),
        "Pseudo-count of each category, and of each component; 0 for maximum likelihood.",
    ] = 1.0
    discretization: Annotated[
        Literal["equal_frequency", "equal_width", "kmeans"],
        "Thresholds of numeric columns, learned in every fit: intervals of equal weight or width, "
        "or between the centers of k-means.",
    ] = "equal_frequency"
    n_bins: Annotated[
        int,
        Between(MIN_BINS, MAX_BINS),
        "Intervals of each numeric column without thresholds.",
    ] = 5
    missing: Annotated[
        Literal["marginal", "category"],
        "Missing values are summed over, or are a category of their own in columns that have some "
        "in training.",
    ] = "marginal"
    init: Annotated[
        Literal["k-means++", "random_from_data", "random"],
        "Start of a run: components around rows that are drawn far from one another, or drawn "
        "independently, or random posteriors of all rows.",
    ] = "k-means++"
    n_init: Annotated[int, AtLeast(1), "Number of runs, of which the best is kept."] = 5
    max_iter: Annotated[int, AtLeast(1), "Maximum number of iterations of a run."] = 300
    tol: Annotated[
        float,
        AtLeast(0.0),
        "A run ends when an iteration gains less than this fraction of the objective.",
    ] = 1e-6
    refinement: Annotated[
        Literal["information"] | None,
        "Experimental: 'information' moves the fitted mixture towards a larger mutual information "
        "of component and row (see the notes); None for EM alone.",
    ] = None
    tau: Annotated[
        float,
        Above(0.0),
        "Weight of the joint log-likelihood of EM's counts in the refinement: how much it keeps to "
        "the fitted mixture.",
    ] = 0.3
    trace: Annotated[bool, "Keep each iteration of EM in ``trace_``."] = False
    random_state: Annotated[
        int | RandomState | Generator | None, "Seed of the initialization and of ``sample``."
    ] = 0
    n_jobs: Annotated[int | None, "Number of threads; None or -1 uses every core allowed."] = None
