"""The gap statistic: how far within-cluster scatter falls below that of rows without clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.selection.validity import observed_mean
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind


class Reference(Protocol):
    """A distribution without clusters that has the spread of the data."""

    def draw(self, random: np.random.Generator) -> Array:
        """As many rows as the data have, with gaps where the data have them."""
        ...


@dataclass(frozen=True, slots=True)
class BoxReference:
    """Uniform over the range of each column; over the levels found, for a nominal column."""

    rows: Array
    encoding: Encoding

    def draw(self, random: np.random.Generator) -> Array:
        """Rows with independent columns."""
        drawn = np.empty_like(self.rows)
        for column, start, stop in zip(
            self.encoding.schema, self.encoding.offsets, self.encoding.offsets[1:], strict=False
        ):
            values = self.rows[:, start:stop]
            draw = _draw_levels if column.kind is Kind.NOMINAL else _draw_range
            drawn[:, start:stop] = draw(values, random)
        return np.where(np.isnan(self.rows), np.nan, drawn)


@dataclass(frozen=True, slots=True)
class PrincipalReference:
    """Uniform over the range of each principal component, turned back to the columns.

    A gap counts as its column's mean when the components are found.
    """

    rows: Array

    def draw(self, random: np.random.Generator) -> Array:
        """Rows whose principal components are independent."""
        gaps = np.isnan(self.rows)
        middle = np.nan_to_num(observed_mean(self.rows))
        centred = np.where(gaps, 0.0, self.rows - middle)
        _, axes = np.linalg.eigh(centred.T @ centred)
        drawn = _draw_range(centred @ axes, random) @ axes.T + middle
        return np.where(gaps, np.nan, drawn)


def _draw_range(values: Array, random: np.random.Generator) -> Array:
    seen = ~np.isnan(values)
    least = np.min(values, axis=0, initial=np.inf, where=seen)
    most = np.max(values, axis=0, initial=-np.inf, where=seen)
    empty = ~seen.any(axis=0)
    least[empty] = most[empty] = 0.0
    drawn: Array = least + random.random(values.shape) * (most - least)
    return drawn


def _draw_levels(indicators: Array, random: np.random.Generator) -> Array:
    """Indicators of levels drawn evenly from those that some row has."""
    size = np.max(np.nan_to_num(indicators), axis=0)
    found = np.flatnonzero(size)
    drawn = np.zeros_like(indicators)
    if len(found):
        level = found[random.integers(len(found), size=len(indicators))]
        drawn[np.arange(len(indicators)), level] = size[level]
    return drawn


def gap_statistic(log_inertia: Array, log_references: Array) -> tuple[Array, Array]:
    """Gap and its standard error for each k.

    Parameters
    ----------
    log_inertia : array of shape (n_ks,)
        Minus infinity where the clusters are perfect.
    log_references : array of shape (n_references, n_ks)

    Returns
    -------
    gap, error : arrays of shape (n_ks,)
        NaN where a reference's clusters are perfect: there is nothing to compare with. The error
        is sd * sqrt(1 + 1 / B), with the sd that divides by B.
    """
    usable = np.isfinite(log_references).all(axis=0)
    logs = np.where(usable, log_references, np.nan)
    error = logs.std(axis=0) * np.sqrt(1 + 1 / len(logs))
    return logs.mean(axis=0) - log_inertia, error


def one_error_rule(gap: Array, error: Array) -> int | None:
    """Place of the first gap not below the next one less its error; None where none is defined.

    Where every gap rises by more than that, the last defined place.
    """
    enough = gap[:-1] >= gap[1:] - error[1:]
    if enough.any():
        return int(np.argmax(enough))
    defined = np.flatnonzero(~np.isnan(gap))
    return int(defined[-1]) if len(defined) else None
