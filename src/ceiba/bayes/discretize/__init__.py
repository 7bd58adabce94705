"""Discretization: thresholds of numeric columns, and tables as category codes."""

from ceiba.bayes.discretize.config import DiscretizationConfig
from ceiba.bayes.discretize.discretizer import Discretizer
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.learn import learn_encoding

__all__ = ["CategoryEncoding", "DiscretizationConfig", "Discretizer", "learn_encoding"]
