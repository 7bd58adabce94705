"""What a user wishes for each class: numbers of components, prior probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ceiba.mixture.class_rows import ClassRows
from ceiba.stats.points import Array


def class_priors(given: Any, parts: ClassRows) -> Array:
    """Prior probabilities: the classes' shares of the weight, or those given."""
    if given is None:
        weights = np.array([part.weight for part in parts.parts])
        shares: Array = weights / weights.sum()
        return shares
    values = listed(given, parts.classes, "priors")
    try:
        priors = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        raise ValueError("priors must be one number for each class") from None
    if not np.isfinite(priors).all() or (priors < 0).any():
        raise ValueError("priors must be numbers of at least 0")
    if not np.isclose(priors.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"priors must sum to 1; they sum to {priors.sum():g}")
    scaled: Array = priors / priors.sum()
    return scaled


def listed(given: Any, classes: Array, name: str) -> list[Any]:
    """What is given for each class, by class or in their order or once for all, as a list."""
    labels = classes.tolist()
    if isinstance(given, Mapping):
        plain = {k.item() if isinstance(k, np.generic) else k: v for k, v in given.items()}
        missing = [label for label in labels if label not in plain]
        if missing:
            raise ValueError(f"{name} says nothing of class {missing[0]!r}: name every class")
        return [plain[label] for label in labels]
    if isinstance(given, int | np.integer):
        return [given] * len(labels)
    if np.ndim(given) > 1:
        raise ValueError(f"{name} must be a list, one entry for each class")
    values = list(given)
    if len(values) != len(labels):
        raise ValueError(f"{name} has {len(values)} entries for {len(labels)} classes")
    return values
