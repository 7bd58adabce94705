"""Gaussian mixtures: densities, clusters, classes, and how many components there are."""

from ceiba.mixture.classifier import GaussianMixtureClassifier
from ceiba.mixture.events import (
    Account,
    CollapsedComponentWarning,
    DegenerateColumnWarning,
    Event,
    StartsDisagreeWarning,
)
from ceiba.mixture.gaussian_mixture import GaussianMixture
from ceiba.mixture.prior import ConjugatePrior
from ceiba.mixture.select import FORMS, choose_components
from ceiba.mixture.selection import MixtureChoice

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
