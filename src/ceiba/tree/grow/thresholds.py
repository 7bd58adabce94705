"""Where numeric columns may be cut: rules that name a few numbers, in a node or in the whole table.

The native search applies a rule at each node; here are what it needs to know of the codes, and the
same rules for the whole table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import INT, NOMINAL, ORDINAL, UNSIGNED, Coding, column_arrays
from ceiba.tree.model.tree import Tree

RULES = {
    "midpoint": 0, "value": 0, "quantile": 1, "equal_width": 2, "mean": 3, "median": 4, "random": 5,
}  # fmt: skip
GIVEN = 6
_STREAM = 0x63757473
_ROOT = 1  # the path of the root, which keys its draws


@dataclass(frozen=True, slots=True)
class CutRule:
    """A rule for cuts.

    Parameters
    ----------
    thresholds : str
        Its name.
    at : "node" or "root"
        Whether each node applies it to its own rows, or all use the cuts of the whole table.
    n_thresholds : int
        Cuts of a quantile, equal_width or random grid.
    seed : int
        Of random cuts.
    """

    thresholds: str
    at: str
    n_thresholds: int
    seed: int

    @property
    def every(self) -> bool:
        """Whether every gap between two values may be cut."""
        return RULES[self.thresholds] == 0

    @property
    def code(self) -> int:
        """The native name of the rule."""
        return GIVEN if self.at == "root" and not self.every else RULES[self.thresholds]

    def told(
        self,
        coding: Coding,
        worth: list[Array],
        arrays: Sequence[Array],
        gaps: Sequence[Array | None],
        weight: Array | None,
    ) -> Coding:
        """The coding with what codes are worth, and for ``at="root"`` the cuts of these rows."""
        if self.at == "node":
            return coding.with_worth(worth, None)
        kinds = coding.columns.types
        cuts = [
            self._cuts(j, kind, array, mask, weight)
            for j, (kind, array, mask) in enumerate(zip(kinds, arrays, gaps, strict=True))
        ]
        return coding.with_worth(worth, cuts)

    def _cuts(
        self, column: int, kind: int, array: Array, mask: Array | None, weight: Array | None
    ) -> Array:
        known = known_values(kind, array, mask)
        if kind == NOMINAL or not known.any():
            return np.empty(0)
        values, place = np.unique(array[known].astype(np.float64), return_inverse=True)
        heavy = None if weight is None else weight[known]
        cuts = self._of_values(column, values, np.cumsum(np.bincount(place, heavy)))
        return np.sort(cuts[~np.isnan(cuts)])

    def _of_values(self, column: int, values: Array, below: Array) -> Array:
        """Cuts of ascending different values, with the weight up to each."""
        n, least, most = self.n_thresholds, values[0], values[-1]
        grid = np.arange(1.0, n + 1)
        if self.thresholds == "quantile":
            wanted = grid * below[-1] / (n + 1)
            places = np.minimum(np.searchsorted(below, wanted), len(values) - 1)
            return np.asarray([_after(values, i) for i in np.unique(places)])
        if self.thresholds == "random":
            _native.uniforms(self.seed ^ _ROOT, _STREAM, column << 32, grid)
        if self.thresholds in ("equal_width", "random"):
            return _along(least, most, grid, n + 1 if self.thresholds == "equal_width" else 1)
        if self.thresholds == "mean":
            middle = _mean(values, np.diff(below, prepend=0.0))
        else:
            middle = _median(values, below)
        below_most = values[-2] if len(values) > 1 else most
        return np.array([below_most if middle >= most else max(middle, least)])


def _along(least: float, most: float, part: Array, parts: int) -> Array:
    """``part`` of ``parts`` of the way, which may be as far as numbers get."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = part * (most - least)
        shares = least * (1 - part / parts) + most * (part / parts)
        return np.where(np.isfinite(steps), least + steps / parts, shares)


def _after(values: Array, place: int) -> float:
    """Halfway to the next value."""
    if place + 1 == len(values):
        return float(values[place])
    return float(values[place] / 2 + values[place + 1] / 2)


def _mean(values: Array, weight: Array) -> float:
    with np.errstate(over="ignore", invalid="ignore"):
        total = float(values @ weight)
        # Shares cannot overflow, but are rounded.
        return (
            total / weight.sum() if np.isfinite(total) else float(values @ (weight / weight.sum()))
        )


def _median(values: Array, below: Array) -> float:
    place = int(np.searchsorted(below, below[-1] / 2))
    if below[place] != below[-1] / 2:
        return float(values[place])
    return _after(values, place)


def known_values(kind: int, array: Array, mask: Array | None) -> Array:
    """Which rows have a value in a column."""
    if kind in (NOMINAL, ORDINAL):
        return array >= 0
    if kind in (INT, UNSIGNED):
        return np.ones(len(array), bool) if mask is None else ~mask
    return ~np.isnan(array)


def exact_worth(coding: Coding, codes: Array, arrays: Sequence[Array]) -> list[Array]:
    """The value of every code, where codes are ranks; of levels their number."""
    worth = []
    for kind, n, own, array in zip(
        coding.columns.types, coding.n_codes.tolist(), codes, arrays, strict=True
    ):
        values = np.arange(n + 1, dtype=np.float64)
        if kind < ORDINAL:
            values[own] = array
        worth.append(values[:n])
    return worth


def binned_worth(coding: Coding) -> list[Array]:
    """The middle of every bin; the first and the last have but one edge."""
    assert coding.edges is not None
    worth = []
    for j, (kind, n) in enumerate(zip(coding.columns.types, coding.n_codes.tolist(), strict=True)):
        if kind >= ORDINAL or n < 2:
            worth.append(np.arange(n, dtype=np.float64))
            continue
        edges = coding.edges.numbers(coding.columns, j)
        middles = edges[:-1] / 2 + edges[1:] / 2
        # What lies above the last edge counts as just above it, what lies below the first as it.
        above = np.nextafter(edges[-1], np.inf)
        worth.append(np.concatenate([edges[:1], np.maximum(middles, edges[:-1]), [above]]))
    return worth


def at_values(tree: Tree, table: Table) -> Tree:
    """The tree with every threshold moved down to the largest value of the table not above it.

    Rows of the table take the same ways: C4.5 names thresholds that occur.
    """
    nodes = tree.nodes.copy()
    arrays, gaps = column_arrays(table, tree.columns)
    for column in np.unique(tree.column[(tree.test >= 1) & (tree.test <= 3)]).tolist():
        kind = tree.columns.types[column]
        here = np.flatnonzero((tree.column == column) & np.isfinite(tree.threshold))
        known = known_values(kind, arrays[column], gaps[column])
        dtype = {INT: np.int64, UNSIGNED: np.uint64}.get(kind, np.float64)
        values = np.unique(arrays[column][known].astype(dtype))
        cuts = nodes[here, 0].view(dtype)
        nodes[here, 0] = values[np.searchsorted(values, cuts, side="right") - 1].view(np.uint64)
    return replace(tree, nodes=nodes)
