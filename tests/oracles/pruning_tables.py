"""Tables on which branches are raised: weak columns, some nominal, with missing values."""

from __future__ import annotations

import numpy as np
import pandas as pd

CATEGORIES = list("abcdef")


def noisy(seed, missing=0.2):
    """Draw a frame, classes 0 to 2, and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(40, 120))
    y = np.concatenate([np.arange(3), rng.integers(0, 3, size=n - 3)])
    columns = {f"x{j}": column(rng, y, j, missing) for j in range(4)}
    return pd.DataFrame(columns), y, rng.integers(1, 4, n).astype(float)


def column(rng, y, index, missing):
    """Draw a column that depends on the class in two of five rows."""
    values = y + rng.integers(0, 3, len(y)) * (rng.random(len(y)) < 0.6)
    values = values + rng.integers(0, 4, len(y)) * (index % 2)
    mask = rng.random(len(y)) < missing
    if index < 2:
        return np.where(mask, np.nan, values + (1 - index) * rng.normal(size=len(y)))
    labels = [None if gone else CATEGORIES[v % 6] for v, gone in zip(values, mask, strict=True)]
    return pd.Categorical(labels, categories=CATEGORIES)
