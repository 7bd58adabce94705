"""What a tree that is being grown asks of its rows: sums of a level, or the rows of open nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.tree.grow.encoding import Coding
from ceiba.tree.grow.targets import FixedPoint, TargetArrays

OPEN = 12  # the reason of a node that nobody has decided about


class State(NamedTuple):
    """A tree that is being grown, as the kernels hand it over: it can travel.

    ``nodes`` are records in bytes, ``cells`` their sums, ``tables`` branches of levels, ``gains``
    and ``cuts`` the best candidate of every node and column where these are kept, ``surrogates``
    records in bytes.
    """

    nodes: Array
    cells: Array
    tables: Array
    gains: Array
    cuts: Array
    surrogates: Array


@dataclass(frozen=True, slots=True, eq=False)
class TreeRules:
    """How a tree is grown, in plain numbers that travel: see `native`."""

    settings: dict[str, Any]

    def native(self) -> Any:
        """The parameter struct of the kernels."""
        rules = _native.TreeRules()
        for name, value in self.settings.items():
            setattr(rules, name, value)
        return rules

    @property
    def cell(self) -> int:
        """Numbers of a cell."""
        classes, weighted = self.settings["classes"], self.settings["weighted"]
        return int((classes or 2) + weighted)


@dataclass(frozen=True, slots=True, eq=False)
class LevelSums:
    """Sums of targets for every (node, column, code), and extremes of the nodes' targets.

    The sums are whole numbers: equal in every bit for any partitioning.
    """

    cells: Array
    squares: Array
    least: Array
    most: Array

    @classmethod
    def of(
        cls,
        batch: Any,
        coding: Coding,
        fixed: FixedPoint,
        rules: TreeRules,
        state: State | None,
        nodes: Array,
    ) -> LevelSums:
        """Sum the batch's rows that have come to one of ``nodes``."""
        codes = coding.codes(batch.rows.table, batch.threads)
        places = places_of(rules, state, codes, coding)
        slots = np.full(int(nodes.max()) + 1, -1, np.int32)
        slots[nodes] = np.arange(len(nodes), dtype=np.int32)
        slot = np.where(places < len(slots), slots[np.minimum(places, len(slots) - 1)], -1)
        sums = cls(
            np.zeros(len(nodes) * coding.total_codes * rules.cell, np.int64),
            np.zeros(len(nodes), np.int64),
            np.full(len(nodes), np.inf),
            np.full(len(nodes), -np.inf),
        )
        _native.tree_level_sums(
            rules.native(),
            codes,
            coding.native(),
            fixed.targets(batch.rows).native(),
            slot.astype(np.int32),
            sums.cells,
            sums.squares,
            sums.least,
            sums.most,
            batch.threads,
        )
        return sums

    def merge(self, other: LevelSums) -> LevelSums:
        """The sums of both parts' rows."""
        return LevelSums(
            self.cells + other.cells,
            self.squares + other.squares,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
        )


@dataclass(frozen=True, slots=True, eq=False)
class OpenRows:
    """The rows of nodes that are still open, coded, with their targets and nodes.

    Without a state these are all rows, of the root.
    """

    parts: tuple[tuple[Array, TargetArrays, Array | None], ...]

    @classmethod
    def of(
        cls,
        batch: Any,
        coding: Coding,
        fixed: FixedPoint,
        rules: TreeRules,
        state: State | None,
        ranks: bool = False,
    ) -> OpenRows:
        """The batch's rows of open nodes."""
        codes = coding.codes(batch.rows.table, batch.threads)
        targets = fixed.targets(batch.rows, ranks=ranks)
        if state is None:
            return cls(((codes, targets, None),))
        places = places_of(rules, state, codes, coding)
        reasons = _native.tree_reasons(state)
        kept = np.flatnonzero(reasons[places] == OPEN)
        return cls(((np.ascontiguousarray(codes[:, kept]), targets.take(kept), places[kept]),))

    def merge(self, other: OpenRows) -> OpenRows:
        """Both parts' rows, in order."""
        return OpenRows(self.parts + other.parts)

    def joined(self) -> tuple[Array, TargetArrays, Array | None]:
        """Codes, targets and nodes of all rows."""
        codes, targets, places = zip(*self.parts, strict=True)
        every = codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1)
        nodes = None if places[0] is None else np.concatenate(places)
        return every, TargetArrays.joined(targets), nodes


def places_of(rules: TreeRules, state: State | None, codes: Array, coding: Coding) -> Array:
    """The node that every coded row has come to."""
    places = np.zeros(codes.shape[1], np.int32)
    if state is not None:
        _native.tree_places(rules.native(), state, codes, coding.native(), places)
    return places
