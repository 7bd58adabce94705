"""The gap statistic: within-cluster scatter against that of reference rows without clusters."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.selection.validity import observed_mean
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind


def draw_box(random: np.random.Generator, rows: Array, encoding: Encoding) -> Array:
    """Draw reference rows uniformly over the range of each column.

    Over the observed categories of a nominal column; missing values are those of the data.
    """
    drawn = np.empty_like(rows)
    for column, start, stop in zip(
        encoding.schema, encoding.offsets, encoding.offsets[1:], strict=False
    ):
        draw = _draw_categories if column.kind is Kind.NOMINAL else _draw_range
        drawn[:, start:stop] = draw(rows[:, start:stop], random)
    return np.where(np.isnan(rows), np.nan, drawn)


def draw_principal(random: np.random.Generator, rows: Array) -> Array:
    """Draw reference rows uniformly over the range of each principal component.

    A missing value counts as its column's mean when the components are computed.
    """
    missing = np.isnan(rows)
    mean = np.nan_to_num(observed_mean(rows))
    centered = np.where(missing, 0.0, rows - mean)
    _, axes = np.linalg.eigh(centered.T @ centered)
    drawn = _draw_range(centered @ axes, random) @ axes.T + mean
    return np.where(missing, np.nan, drawn)


def _draw_range(values: Array, random: np.random.Generator) -> Array:
    observed = ~np.isnan(values)
    low = np.min(values, axis=0, initial=np.inf, where=observed)
    high = np.max(values, axis=0, initial=-np.inf, where=observed)
    empty = ~observed.any(axis=0)
    low[empty] = high[empty] = 0.0
    return np.asarray(low + random.random(values.shape) * (high - low))


def _draw_categories(indicators: Array, random: np.random.Generator) -> Array:
    """Draw indicators of categories, with equal probability for each one observed."""
    size = np.max(np.nan_to_num(indicators), axis=0)
    found = np.flatnonzero(size)
    drawn = np.zeros_like(indicators)
    if len(found):
        category = found[random.integers(len(found), size=len(indicators))]
        drawn[np.arange(len(indicators)), category] = size[category]
    return drawn


def gap_statistic(log_inertia: Array, log_references: Array) -> tuple[Array, Array]:
    """Compute the gap and its standard error for each k, a column of ``log_references``.

    Logarithms are minus infinity where clusters are perfect; with those of a reference the gap is
    undefined, NaN. The error is sd * sqrt(1 + 1 / B), with the sd that divides by B.
    """
    usable = np.isfinite(log_references).all(axis=0)
    logs = np.where(usable, log_references, np.nan)
    error = logs.std(axis=0) * np.sqrt(1 + 1 / len(logs))
    return logs.mean(axis=0) - log_inertia, error


def one_error_rule(gap: Array, error: Array) -> int | None:
    """Return the index of the first gap not below the next one minus its error.

    The last defined index where every gap rises by more than that; None where none is defined.
    """
    enough = gap[:-1] >= gap[1:] - error[1:]
    if enough.any():
        return int(np.argmax(enough))
    defined = np.flatnonzero(~np.isnan(gap))
    return int(defined[-1]) if len(defined) else None
