"""Bayesian network classifiers, and discretization."""

from ceiba.bayes.discretize import CategoryEncoding, DiscretizationConfig, learn_encoding

__all__ = ["CategoryEncoding", "DiscretizationConfig", "learn_encoding"]
