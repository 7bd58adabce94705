"""Random sizes and scatters, the input of an M step."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array


def random_scatters(
    rng: np.random.Generator, k: int = 3, d: int = 3, n: int = 30
) -> tuple[Array, Array]:
    """Sizes (k,) of about ``n`` rows, and scatters (k, d, d) of different shapes."""
    sizes = rng.uniform(n / 2, n, size=k)
    roots = rng.normal(size=(k, n, d)) @ rng.normal(size=(k, d, d))
    return sizes, np.einsum("kni,knj->kij", roots, roots) * (sizes / n)[:, None, None]
