"""Mixtures of networks with a latent class."""

from ceiba.bayes.latent.choice import LatentChoice
from ceiba.bayes.latent.mixture import LatentClassMixture

__all__ = ["LatentChoice", "LatentClassMixture"]
