"""Conditional distributions of a mixture as data frames."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.model import NetworkModel


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
        members = (*families.structure.parents[family], feature)
        # A category for missing values follows the others.
        labels = [
            [*encoding.category_labels(j), "missing"][: families.sizes[j] - 1] for j in members
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
