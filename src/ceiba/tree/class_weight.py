"""Class weights: a factor of the weights of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.stats import TargetSummary
from ceiba.stats.points import WEIGHT_RANGE


def class_weight_factors(class_weight: Any, summary: TargetSummary) -> Array | None:
    """Return the factors of the class weights, in the order of the classes; None if all are 1."""
    if class_weight is None:
        return None
    if isinstance(class_weight, list):
        raise ValueError(
            "class_weight must be a mapping or 'balanced' for one target, got a list of "
            f"{len(class_weight)}: a list has a mapping for each of several targets."
        )
    is_balanced = isinstance(class_weight, str) and class_weight == "balanced"
    if not is_balanced and not isinstance(class_weight, Mapping):
        raise ValueError(
            "class_weight must be 'balanced', a mapping or None for each target, got "
            f"{class_weight!r}."
        )
    classes, counts = summary.classes, summary.class_counts
    assert classes is not None
    assert counts is not None
    if is_balanced:
        # A class without rows has no share of the weight; its factor of 1 is not used.
        has_rows = counts > 0
        balanced = summary.n_rows / (np.count_nonzero(has_rows) * np.maximum(counts, 1))
        return np.where(has_rows, balanced, 1.0)
    return _mapped_weights(class_weight, classes)


def _mapped_weights(class_weight: Mapping[Any, float], classes: Array) -> Array:
    known = classes.tolist()
    factors = np.array([float(class_weight.get(label, 1.0)) for label in known])
    unknown = [key for key in class_weight if key not in known]
    # A fold may lack a class that is named; an unnamed class beside an unknown one is a typo.
    if unknown and not all(label in class_weight for label in known):
        raise ValueError(
            f"The keys of class_weight must be classes of y ({known!r}), got {unknown[0]!r}."
        )
    low, high = WEIGHT_RANGE  # the products of weights in this range are far from overflow
    if not ((factors >= low) & (factors <= high)).all():
        raise ValueError(
            f"The values of class_weight must be positive numbers in [{low:g}, {high:g}], got "
            f"{class_weight!r}: leave rows out by sample_weight."
        )
    return factors
