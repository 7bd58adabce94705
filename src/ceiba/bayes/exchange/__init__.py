"""Discrete Bayesian networks, and their exchange with other programs."""

from ceiba.bayes.exchange.files import read_network, write_network
from ceiba.bayes.exchange.network import DiscreteNetwork

__all__ = ["DiscreteNetwork", "read_network", "write_network"]
