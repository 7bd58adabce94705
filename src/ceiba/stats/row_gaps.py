"""Which values of a batch are missing, as the kernels of mixtures want to know it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.stats.moments import Moments
from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True)
class RowGaps:
    """Whether a batch has gaps and, if asked for, its rows in the order of what they miss."""

    any: bool
    order: Array | None = None
    starts: Array | None = None

    @classmethod
    def of(cls, batch: Any, full: bool) -> RowGaps:
        """The gaps of a batch of points; ``full`` covariances need the order. Refuses infinity.

        They are kept beside the rows where the engine keeps such things.
        """
        known: RowGaps | None = batch.scratch.get("gaps")
        needs_order = full and batch.rows.X.shape[1] > 1
        if known is None or (needs_order and known.any and known.order is None):
            known = _find(batch, needs_order)
            batch.scratch["gaps"] = known
        return known if needs_order or not known.any else RowGaps(True)

    def arguments(self) -> dict[str, Any]:
        """What crosses to the native kernels."""
        return {"gaps": self.any, "order": self.order, "starts": self.starts}


def _find(batch: Any, needs_order: bool) -> RowGaps:
    X = batch.rows.X
    # One sum tells in most cases, without a mask of all rows: it is finite if every value is.
    with np.errstate(all="ignore"):
        if np.isfinite(X.sum()):
            return RowGaps(False)
    if np.isinf(X).any():
        Moments.of(batch)  # says where
    if not np.isnan(X).any():
        return RowGaps(False)
    return RowGaps(True, *_native.gap_patterns(X)) if needs_order else RowGaps(True)
