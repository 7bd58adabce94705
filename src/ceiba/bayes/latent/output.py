"""Random rows of a mixture, and its conditional distributions as data frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.joint import MISSING_STATE
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


def table_frames(model: NetworkModel, encoding: CategoryEncoding) -> dict[str, Any]:
    """Return a data frame for each feature, with a column for each component."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'conditional_tables_ requires pandas: pip install "ceiba[files]", or use model_.'
        ) from error
    families, frames = model.families, {}
    for family, feature in enumerate(families.structure.features):
        members = families.members(family)
        # A category for missing values follows the others.
        labels = [
            [*encoding.category_labels(j), MISSING_STATE][: families.sizes[j] - 1] for j in members
        ]
        names = [encoding.names[j] for j in members]
        index: Any = pd.Index(labels[0], name=names[0])
        if len(members) > 1:
            index = pd.MultiIndex.from_product(labels, names=names)
        view = families.view(np.exp(model.network.table), family)
        known = view[tuple(slice(0, len(names)) for names in labels)]
        columns = pd.RangeIndex(view.shape[-1], name="component")
        frames[encoding.names[feature]] = pd.DataFrame(
            known.reshape(-1, view.shape[-1]), index=index, columns=columns
        )
    return dict(sorted(frames.items(), key=lambda item: encoding.names.index(item[0])))
