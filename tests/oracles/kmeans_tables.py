"""Tables that are hard to cluster: ties, duplicates, missing values, constant columns."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba._typing import Array

WHOLE = st.integers(-4, 4).map(float)
# Rounded, so that no squared difference underflows when all is scaled down.
REAL = st.floats(-100.0, 100.0, width=32).map(lambda value: round(value, 4))
WEIGHTS = st.one_of(st.just(0.0), st.integers(1, 3).map(float), st.floats(0.01, 100.0))


@st.composite
def matrices(draw: st.DrawFn, *, whole: bool = False, missing: bool = False) -> Array:
    """A matrix of at most 30 x 5; every row and every column has a value."""
    n, d = draw(st.integers(1, 30)), draw(st.integers(1, 5))
    # Few different rows make duplicates, and with integers exact ties.
    pool = draw(arrays(np.float64, (draw(st.integers(1, n)), d), elements=WHOLE if whole else REAL))
    X = pool[draw(arrays(np.intp, n, elements=st.integers(0, len(pool) - 1)))]
    if draw(st.booleans()):
        X[:, draw(st.integers(0, d - 1))] = X[0, 0]
    if missing:
        holes = draw(arrays(np.bool_, (n, d)))
        holes[np.arange(n), np.arange(n) % d] = False
        holes[0] = False
        X[holes] = np.nan
    return X


@st.composite
def problems(
    draw: st.DrawFn, *, whole: bool = False, missing: bool = False
) -> tuple[Array, Array | None, Array]:
    """A matrix, weights (at least one positive, or None), and centers."""
    X = draw(matrices(whole=whole, missing=missing))
    n, d = X.shape
    weight = None
    if draw(st.booleans()):
        weight = draw(arrays(np.float64, n, elements=WEIGHTS))
        weight[draw(st.integers(0, n - 1))] = 1.0
    k = draw(st.integers(1, 9))
    centers = draw(arrays(np.float64, (k, d), elements=WHOLE if whole else REAL))
    if draw(st.booleans()):
        # Centers on rows, as all initializations have them.
        chosen = X[draw(arrays(np.intp, k, elements=st.integers(0, n - 1)))]
        centers = np.where(np.isnan(chosen), centers, chosen)
    return X, weight, centers


def ones(X: Array, weight: Array | None) -> list[float]:
    """Weights as a list, 1 for each row where there are none."""
    return [1.0] * len(X) if weight is None else weight.tolist()


def groups(seed: int, n: int, d: int, k: int, spread: float = 1.0) -> Array:
    """Rows about ``k`` means; no two rows are equal and no distances tie."""
    rng = np.random.default_rng(seed)
    middles = rng.uniform(-8.0, 8.0, size=(k, d))
    return middles[rng.integers(k, size=n)] + spread * rng.normal(size=(n, d))
