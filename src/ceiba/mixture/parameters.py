"""Hyper-parameters that mixture learners share, each declared once."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import AtLeast, Between
from ceiba.mixture.prior import ConjugatePrior

CovarianceType = Annotated[
    Literal[
        "full", "tied", "diag", "spherical", "ppca", "EII", "VII", "EEI", "VEI", "EVI", "VVI",
        "EEE", "VEE", "EVV", "EEV", "VEV", "VVV",
    ],
    "Form of the covariances: a matrix for each component, one for all, variances, one variance "
    "each, or probabilistic principal components; or mclust's letters for volume, shape and "
    "orientation, each equal (E), varying (V) or the identity (I).",
]  # fmt: skip
Latent = Annotated[int, AtLeast(1), "Latent dimensions of 'ppca'; less than the columns."]
Tol = Annotated[
    float,
    AtLeast(0.0),
    "A run ends when a step changes the log-likelihood (of columns in units of their standard "
    "deviations, with the prior) by less than this share of it. 0 makes exactly max_iter steps, "
    "unless the floor would lower it.",
]
RegCovar = Annotated[
    float, AtLeast(0.0), "Added to every variance, in the columns' own units; a last resort."
]
FloorShare = Annotated[
    float,
    Between(0.0, 1.0, closed="neither"),
    "No component has less than this share of the data's variance in any direction: below it, it "
    "would shrink onto a few rows without end.",
]
Prior = Annotated[
    ConjugatePrior | Literal["default"] | None,
    "A normal-inverse-Wishart prior on every component, for the greatest posterior instead of the "
    "greatest likelihood.",
]
MaxIter = Annotated[int, AtLeast(1), "Most steps of a run."]
NInit = Annotated[
    int,
    AtLeast(1),
    "Starts, of which the best is kept; at least three where a criterion chooses n_components.",
]
ShortIter = Annotated[
    int | None,
    AtLeast(1),
    "With several starts each makes only so many steps, and the best of them goes on; None runs "
    "all of them to their ends.",
]
InitParams = Annotated[
    Literal["kmeans", "k-means++", "random_from_data", "random"],
    "How to start: from clusters of k-means, from its seeds, from random rows (rows then belong to "
    "the nearest), or from random responsibilities.",
]
Empty = Annotated[
    Literal["reseed", "drop"],
    "What is done with a component that is left with less than a hundredth of a row: started again "
    "at the row that the mixture describes worst (at most n_components times a run, then dropped), "
    "or dropped. ``account_`` tells.",
]
MaxComponents = Annotated[
    int, AtLeast(1), "Most components that are tried where a criterion chooses their number."
]
LearningDecay = Annotated[
    float,
    Between(0.5, 1.0, closed="right"),
    "How fast ``partial_fit`` trusts new rows less: a batch counts by its share of all weight so "
    "far, to this power. 1 weighs all batches alike, less forgets older ones sooner.",
]
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of the starts and of ``sample``: the same number gives the same model; None draws a "
    "fresh one.",
]
Jobs = Annotated[int | None, "Threads; None or -1 uses every core allowed."]
