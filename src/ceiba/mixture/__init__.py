"""Gaussian mixtures: densities, clusters, classes, and how many components there are."""

from ceiba.mixture.account import (
    Account,
    CollapsedComponentWarning,
    DegenerateColumnWarning,
    Event,
    StartsDisagreeWarning,
)
from ceiba.mixture.choice import MixtureChoice
from ceiba.mixture.choose import FORMS, choose_components
from ceiba.mixture.classifier import GaussianMixtureClassifier
from ceiba.mixture.gaussian_mixture import GaussianMixture
from ceiba.mixture.prior import ConjugatePrior

__all__ = [
    "FORMS",
    "Account",
    "CollapsedComponentWarning",
    "ConjugatePrior",
    "DegenerateColumnWarning",
    "Event",
    "GaussianMixture",
    "GaussianMixtureClassifier",
    "MixtureChoice",
    "StartsDisagreeWarning",
    "choose_components",
]
