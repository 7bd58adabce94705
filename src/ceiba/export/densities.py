"""Normal columns of a model, as other libraries and languages need them."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.export.errors import NotExpressibleError


def normal_terms(densities: GaussianColumns, where: str) -> tuple[Array, Array, Array]:
    """Return mean, factor and constant of each class and column, in the columns' own units.

    The log density is ``constant - ((x - mean) * factor) ** 2``. Raise NotExpressibleError, which
    begins with ``where``, if float64 cannot hold them.
    """
    mean, factor, constant = densities.terms
    scaling = densities.scaling
    with np.errstate(over="ignore", under="ignore"):
        own_mean, own_factor = scaling.from_units(mean), np.ldexp(factor, scaling.exponents)
    representable = (
        np.isfinite(own_mean) & np.isfinite(own_factor) & ((own_factor > 0) | (factor == 0))
    )
    if scaling.origins.any() or not representable.all():
        raise NotExpressibleError(
            f"{where} requires normal columns in the range and precision of float64, got columns "
            "beyond: rescale X before the fit."
        )
    return own_mean, own_factor, constant
