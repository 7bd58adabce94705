"""Bayesian network classifiers, discretization, and network files of other systems."""

from ceiba.bayes.discretize import (
    CategoryEncoding,
    DiscretizationConfig,
    Discretizer,
    learn_encoding,
)
from ceiba.bayes.exchange import DiscreteNetwork, read_network, write_network

__all__ = [
    "CategoryEncoding",
    "DiscreteNetwork",
    "DiscretizationConfig",
    "Discretizer",
    "learn_encoding",
    "read_network",
    "write_network",
]
