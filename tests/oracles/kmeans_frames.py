"""Compare a traced fit with loops; each iteration is checked alone because of ties."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba._typing import Array
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import ones


def assert_frames(model: Any, X: Array, weight: Array | None, close: float = 1e-9) -> None:
    """Check that every frame follows from its centers, and the next by one naive iteration.

    The last frame is the model: one more than iterations, unless the last one moved nothing.
    """
    rows, weights = X.tolist(), ones(X, weight)
    assert len(model.trace_) - model.n_iter_ in (0, 1)
    np.testing.assert_array_equal(model.trace_[-1]["centers"], model.cluster_centers_)
    before: list[int] | None = None
    for frame, following in zip(model.trace_, [*model.trace_[1:], None], strict=True):
        centers = frame["centers"].tolist()
        own = naive.labels(rows, centers)
        assert frame["counts"].tolist() == [own.count(c) for c in range(len(centers))]
        assert frame["inertia"] == pytest.approx(naive.inertia(rows, weights, centers), rel=close)
        assert frame["moved"] == moved(own, before)
        if following is not None or len(model.trace_) == model.n_iter_:
            assigned = naive.relocate(rows, weights, own, centers)
            expected = naive.means(rows, weights, assigned, centers)
            found = model.cluster_centers_ if following is None else following["centers"]
            np.testing.assert_allclose(found, expected, rtol=close, atol=close * np.abs(X).max())
        before = own


def moved(own: list[int], before: list[int] | None) -> int:
    """Number of rows that changed their cluster; all rows in the first iteration."""
    if before is None:
        return len(own)
    return sum(a != b for a, b in zip(own, before, strict=True))
