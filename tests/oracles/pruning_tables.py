"""Tables on which branches are raised: weak columns, some of them nominal, and gaps."""

from __future__ import annotations

import numpy as np
import pandas as pd

LEVELS = list("abcdef")


def noisy(seed, gaps=0.2):
    """A frame, classes 0 to 2, and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    y = np.concatenate([np.arange(3), rng.integers(0, 3, size=n - 3)])
    columns = {f"x{j}": column(rng, y, j, gaps) for j in range(4)}
    return pd.DataFrame(columns), y, rng.integers(1, 4, n).astype(float)


def column(rng, y, place, gaps):
    """Told by the class in two of five rows, by chance in the others."""
    values = y + rng.integers(0, 3, len(y)) * (rng.random(len(y)) < 0.6)
    values = values + rng.integers(0, 4, len(y)) * (place % 2)
    holes = rng.random(len(y)) < gaps
    if place < 2:
        return np.where(holes, np.nan, values + (1 - place) * rng.normal(size=len(y)))
    labels = [None if hole else LEVELS[v % 6] for v, hole in zip(values, holes, strict=True)]
    return pd.Categorical(labels, categories=LEVELS)
