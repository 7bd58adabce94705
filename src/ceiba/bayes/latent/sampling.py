"""Random rows of a mixture."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.model import NetworkModel


def draw_codes(model: NetworkModel, n: int, seed: int) -> tuple[Array, Array]:
    """Draw category codes of ``n`` rows, in the order of their components, and these."""
    random = np.random.default_rng(seed)
    families = model.families
    weights = np.exp(model.network.bias)
    counts = random.multinomial(n, weights / weights.sum())
    labels = np.repeat(np.arange(len(counts)), counts)
    theta = np.where(families.is_known[:, None], np.exp(model.network.table), 0.0)
    codes = np.zeros((n, len(families.sizes)), np.int64)
    for family, feature in enumerate(families.structure.features):
        parents = families.structure.parents[family]
        rows = families.view(theta, family)[tuple(codes[:, p] for p in parents)]
        # Without parents `rows` has the table of all rows, otherwise one for each row.
        distribution = rows[:, labels].T if not parents else rows[np.arange(n), :, labels]
        reached = np.cumsum(distribution, axis=1)
        drawn = random.random(n) * reached[:, -1]
        codes[:, feature] = (reached <= drawn[:, None]).sum(axis=1)
    return codes, labels
