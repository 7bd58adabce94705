"""Gaussian mixtures: density estimation, clustering, classification and model selection."""

from ceiba.mixture.choose import MCLUST_TYPES, choose_components
from ceiba.mixture.classifier import GaussianMixtureClassifier
from ceiba.mixture.events import (
    CollapsedComponentWarning,
    DegenerateColumnWarning,
    FitEvent,
    FitEvents,
    UnstableChoiceWarning,
)
from ceiba.mixture.gaussian_mixture import GaussianMixture
from ceiba.mixture.prior import ConjugatePrior
from ceiba.mixture.selection import MixtureChoice

__all__ = [
    "MCLUST_TYPES",
    "CollapsedComponentWarning",
    "ConjugatePrior",
    "DegenerateColumnWarning",
    "FitEvent",
    "FitEvents",
    "GaussianMixture",
    "GaussianMixtureClassifier",
    "MixtureChoice",
    "UnstableChoiceWarning",
    "choose_components",
]
