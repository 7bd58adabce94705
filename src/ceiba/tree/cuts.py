"""Where a pruner cuts a tree, and how it came to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from ceiba.stats.points import Array
from ceiba.tree.ancestry import topmost
from ceiba.tree.structure import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Nodes of a grown tree that become leaves.

    Parameters
    ----------
    nodes : ndarray of int32
        The topmost of them, ascending: what stands below is gone.
    frames : tuple of dict
        For the trace: one frame for each node that became a leaf, in the order in which they did,
        with ``node``, what the pruner compared, and ``n_leaves`` of the tree after it.
    """

    nodes: Array
    frames: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, tree: Tree, frames: Iterable[dict[str, Any]]) -> Cuts:
        """The cuts of some frames."""
        listed = tuple(frames)
        return cls(topmost(tree, [frame["node"] for frame in listed]), listed)

    def __len__(self) -> int:
        return len(self.nodes)


def frames_of(columns: dict[str, Array]) -> list[dict[str, Any]]:
    """Frames of plain numbers, from one array for each of their names."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]
