"""Bayesian network classifiers, generative or discriminative, discretization and network files."""

from ceiba.bayes.discretize import (
    CategoryEncoding,
    DiscretizationConfig,
    Discretizer,
    learn_encoding,
)
from ceiba.bayes.exchange import DiscreteNetwork, read_network, write_network
from ceiba.bayes.latent import LatentChoice, LatentClassMixture
from ceiba.bayes.naive_bayes import NaiveBayesClassifier
from ceiba.bayes.structural import SearchPath, StructuralTMClassifier
from ceiba.bayes.structure.aode import InfrequentParentsWarning
from ceiba.bayes.tan import TANClassifier
from ceiba.bayes.training import UnboundedWeightsWarning

__all__ = [
    "CategoryEncoding",
    "DiscreteNetwork",
    "DiscretizationConfig",
    "Discretizer",
    "InfrequentParentsWarning",
    "LatentChoice",
    "LatentClassMixture",
    "NaiveBayesClassifier",
    "SearchPath",
    "StructuralTMClassifier",
    "TANClassifier",
    "UnboundedWeightsWarning",
    "learn_encoding",
    "read_network",
    "write_network",
]
