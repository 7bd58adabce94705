"""Distributions of the columns of naive Bayes, given the class."""

from ceiba.bayes.distributions.choose import CODED, Distribution, by_column, choose_distributions
from ceiba.bayes.distributions.fit import (
    Densities,
    DensityStatistics,
    count_densities,
    density_columns,
    mixtures_of,
)

__all__ = [
    "CODED",
    "Densities",
    "DensityStatistics",
    "Distribution",
    "by_column",
    "choose_distributions",
    "count_densities",
    "density_columns",
    "mixtures_of",
]
