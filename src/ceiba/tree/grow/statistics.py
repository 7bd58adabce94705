"""Statistics of a growing tree: sums of the nodes at one depth, or the rows of open nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ceiba import _native
from ceiba._native import LeafReason
from ceiba._typing import Array
from ceiba.engine import AdditiveStatistic, Batch, ExactStatistic
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.config import GrowthConfig
from ceiba.tree.grow.encoding import ColumnEncoding
from ceiba.tree.grow.targets import FixedPointScale, TargetArrays


class GrowthState(NamedTuple):
    """A partly grown tree in the arrays of the kernels, which can be sent to workers.

    ``nodes`` are records in bytes, ``cells`` their sums, ``tables`` the branches of categories,
    ``gains`` and ``threshold_codes`` the best candidate of every node and column if these are
    kept, ``surrogates`` records in bytes.
    """

    nodes: Array
    cells: Array
    tables: Array
    gains: Array
    threshold_codes: Array
    surrogates: Array

    def open_nodes(self) -> Array:
        """Return the nodes that are neither split nor leaves yet."""
        return np.flatnonzero(_native.tree_reasons(self) == LeafReason.OPEN).astype(np.int32)

    def n_rows(self, nodes: Array, growth: GrowthConfig) -> int:
        """Return the number of rows of some nodes."""
        cells = self.cells.reshape(-1, growth.cell_size)[nodes]
        if growth.values["weighted"]:
            return int(cells[:, -1].sum())
        return int(cells.sum()) if growth.values["n_classes"] else int(cells[:, 0].sum())


@dataclass(frozen=True, slots=True, eq=False)
class DepthSums(ExactStatistic):
    """Sums of targets per (node, column, code), and extremes of the nodes' targets.

    The sums are integers: equal in every bit for any partitioning.
    """

    cells: Array
    squares: Array
    min_target: Array
    max_target: Array

    @classmethod
    def of(
        cls,
        batch: Batch[LabeledRows],
        encoding: ColumnEncoding,
        scale: FixedPointScale,
        growth: GrowthConfig,
        state: GrowthState | None,
        nodes: Array,
    ) -> DepthSums:
        """Sum the batch's rows in some nodes."""
        sums = cls(
            np.zeros(len(nodes) * encoding.total_codes * growth.cell_size, np.int64),
            np.zeros(len(nodes), np.int64),
            np.full(len(nodes), np.inf),
            np.full(len(nodes), -np.inf),
        )
        sums.add(batch, encoding, scale, growth, state, nodes)
        return sums

    def add(
        self,
        batch: Batch[LabeledRows],
        encoding: ColumnEncoding,
        scale: FixedPointScale,
        growth: GrowthConfig,
        state: GrowthState | None,
        nodes: Array,
    ) -> None:
        """Add the batch's rows to the sums of the same nodes."""
        codes = encoding.encode(batch.rows.table, batch.threads)
        node = nodes_of_rows(growth, state, codes, encoding)
        slot_of = np.full(max(nodes.max(), node.max(initial=0)) + 1, -1, np.int32)
        slot_of[nodes] = np.arange(len(nodes))
        _native.tree_depth_sums(
            growth.native, codes, encoding.native(), scale.targets(batch.rows).native(),
            slot_of[node], self.native(), batch.threads,
        )  # fmt: skip

    def native(self) -> _native.DepthSums:
        """Return the native view of the sums."""
        return _native.DepthSums(self.cells, self.squares, self.min_target, self.max_target)

    def merge(self, other: DepthSums) -> DepthSums:
        """Return the sums of both parts' rows."""
        return DepthSums(
            self.cells + other.cells,
            self.squares + other.squares,
            np.minimum(self.min_target, other.min_target),
            np.maximum(self.max_target, other.max_target),
        )


@dataclass(frozen=True, slots=True, eq=False)
class OpenRows(AdditiveStatistic):
    """Codes, targets and nodes of the rows in open nodes; without a state of all rows."""

    parts: tuple[tuple[Array, TargetArrays, Array | None], ...]

    @classmethod
    def of(
        cls,
        batch: Batch[LabeledRows],
        encoding: ColumnEncoding,
        scale: FixedPointScale,
        growth: GrowthConfig,
        state: GrowthState | None,
        ranks: bool = False,
    ) -> OpenRows:
        """Return the batch's rows in open nodes."""
        codes = encoding.encode(batch.rows.table, batch.threads)
        targets = scale.targets(batch.rows, ranks=ranks)
        if state is None:
            return cls(((codes, targets, None),))
        node = nodes_of_rows(growth, state, codes, encoding)
        is_open = _native.tree_reasons(state) == LeafReason.OPEN
        kept = np.flatnonzero(is_open[node])
        return cls(((np.ascontiguousarray(codes[:, kept]), targets.take(kept), node[kept]),))

    def concatenate(self) -> tuple[Array, TargetArrays, Array | None]:
        """Return codes, targets and nodes of all rows."""
        codes, targets, nodes = zip(*self.parts, strict=True)
        all_codes = codes[0] if len(codes) == 1 else np.concatenate(codes, axis=1)
        all_nodes = None if nodes[0] is None else np.concatenate(nodes)
        return all_codes, TargetArrays.concatenate(targets), all_nodes


def nodes_of_rows(
    growth: GrowthConfig, state: GrowthState | None, codes: Array, encoding: ColumnEncoding
) -> Array:
    """Return the node of every encoded row."""
    nodes = np.zeros(codes.shape[1], np.int32)
    if state is not None:
        _native.tree_nodes_of_rows(growth.native, state, codes, encoding.native(), nodes)
    return nodes
