"""Mixtures of networks with a hidden class."""

from ceiba.bayes.latent.choice import LatentChoice
from ceiba.bayes.latent.mixture import LatentClassMixture

__all__ = ["LatentChoice", "LatentClassMixture"]
