"""A traced fit beside loops: each step checked alone, so that one broken tie spoils no other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba._typing import Array
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import ones


def assert_frames(model: Any, X: Array, weight: Array | None, close: float = 1e-9) -> None:
    """Every frame holds what its centres say, and one naive step leads from each to the next.

    The last frame is the model: one more than there were steps, unless the last step moved nothing.
    """
    rows, weights = X.tolist(), ones(X, weight)
    assert len(model.trace_) - model.n_iter_ in (0, 1)
    np.testing.assert_array_equal(model.trace_[-1]["centres"], model.cluster_centers_)
    before: list[int] | None = None
    for frame, following in zip(model.trace_, [*model.trace_[1:], None], strict=True):
        centres = frame["centres"].tolist()
        own = naive.labels(rows, centres)
        assert frame["counts"].tolist() == [own.count(c) for c in range(len(centres))]
        assert frame["inertia"] == pytest.approx(naive.inertia(rows, weights, centres), rel=close)
        assert frame["moved"] == moved(own, before)
        if following is not None or len(model.trace_) == model.n_iter_:
            step = naive.repair(rows, weights, own, centres)
            expected = naive.means(rows, weights, step, centres)
            found = model.cluster_centers_ if following is None else following["centres"]
            np.testing.assert_allclose(found, expected, rtol=close, atol=close * np.abs(X).max())
        before = own


def moved(own: list[int], before: list[int] | None) -> int:
    """How many rows changed their cluster; all in the first step."""
    if before is None:
        return len(own)
    return sum(a != b for a, b in zip(own, before, strict=True))
