"""Bayesian network classifiers, and discretization."""

from ceiba.bayes.discretize import (
    CategoryEncoding,
    DiscretizationConfig,
    Discretizer,
    learn_encoding,
)

__all__ = ["CategoryEncoding", "DiscretizationConfig", "Discretizer", "learn_encoding"]
