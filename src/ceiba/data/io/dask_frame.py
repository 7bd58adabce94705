"""Scans of Dask DataFrames: target and weight are columns, as in scans of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ceiba.data.io.selection import Selection


@dataclass(frozen=True, slots=True, repr=False)
class DaskScan:
    """A Dask DataFrame with a target column and a weight column, as `scan` returns it.

    The Dask engine reads it; kinds and categories are inferred at the beginning of a fit.
    """

    frame: Any
    selection: Selection
    kinds: Mapping[str, str | Sequence[Any]] | None = None

    @classmethod
    def of(
        cls,
        frame: Any,
        target: str | None,
        weight: str | None,
        columns: Sequence[str] | None,
        kinds: Mapping[str, str | Sequence[Any]] | None,
    ) -> DaskScan:
        """Validate the columns of a Dask DataFrame by its metadata."""
        if not hasattr(frame, "npartitions") or not hasattr(frame, "columns"):
            raise TypeError(
                "paths must be files or a Dask DataFrame, got a Dask "
                f"{type(frame).__name__}: pass an array to fit, with its target as y."
            )
        names = [str(name) for name in frame.columns]
        selection = Selection.of(names, Path("Dask DataFrame"), columns, target, weight, kinds)
        for name in (target, weight):
            if name is not None and name in (kinds or ()):
                raise ValueError(
                    f"kinds must not contain the target or the weight of a Dask DataFrame, got "
                    f"{name!r}: convert the column with astype."
                )
        return cls(frame, selection, kinds)

    @property
    def target(self) -> str | None:
        """Name of the target column."""
        return self.selection.target

    @property
    def weight(self) -> str | None:
        """Name of the weight column."""
        return self.selection.weight

    def split(self) -> tuple[Any, Any, Any]:
        """Return the attributes, the target and the weights, None for those not given."""
        of = {str(name): name for name in self.frame.columns}
        roles = (self.target, self.weight)
        target, weight = (None if name is None else self.frame[of[name]] for name in roles)
        return self.frame[[of[name] for name in self.selection.attributes]], target, weight

    def __repr__(self) -> str:
        roles = {"target": self.target, "weight": self.weight}
        parts = [f"{len(self.selection.attributes)} columns"]
        parts += [f"{role}={name!r}" for role, name in roles.items() if name is not None]
        parts.append(f"{self.frame.npartitions:,} partitions of a Dask DataFrame")
        return f"DaskScan({', '.join(parts)})"
