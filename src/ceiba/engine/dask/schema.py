"""The first pass over partitions that do not say what they hold: kinds, levels and number types."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba.data.categories import MAX_LEVELS
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.engine.contract import Batch


@dataclass(frozen=True, slots=True)
class Survey:
    """The schema found in some rows; ``blank`` columns, all gaps, may still become anything."""

    schema: Schema
    blank: tuple[bool, ...]

    @classmethod
    def of(cls, batch: Batch[Chunk]) -> Survey:
        """What one partition holds."""
        table = batch.rows.table
        for column in table.schema:
            _check_levels(column)
        gaps = (table.gaps(j) for j in range(len(table.schema)))
        return cls(table.schema, tuple(mask is not None and bool(mask.all()) for mask in gaps))

    def merge(self, other: Survey) -> Survey:
        """What both hold: levels united, number types widened; different kinds are refused."""
        self.schema.check_names(other.schema.names)
        columns = tuple(
            mine if blank else theirs if mine_blank else _united(mine, theirs)
            for mine, theirs, mine_blank, blank in zip(
                self.schema, other.schema, self.blank, other.blank, strict=True
            )
        )
        blank = tuple(a and b for a, b in zip(self.blank, other.blank, strict=True))
        return Survey(replace(self.schema, columns=columns), blank)


def _united(mine: Column, theirs: Column) -> Column:
    if mine == theirs:
        return mine
    if mine.kind is not theirs.kind:
        raise ValueError(
            f"column {mine.name!r} is {mine.kind} in one partition and {theirs.kind} in another: "
            "convert it to one type with astype"
        )
    if mine.kind is Kind.NUMERIC:
        return replace(mine, dtype=_wider(mine, theirs))
    if mine.kind is Kind.ORDINAL and _is_text(mine.levels + theirs.levels):
        raise ValueError(
            f"the levels of the ordinal column {mine.name!r} differ between partitions, so their "
            "order is unknown: declare them once, in astype(pandas.CategoricalDtype(levels, "
            "ordered=True))"
        )
    levels = tuple(sorted({*mine.levels, *theirs.levels}))
    return _check_levels(replace(mine, levels=levels))


def _wider(mine: Column, theirs: Column) -> str:
    if mine.temporal or theirs.temporal:
        raise ValueError(
            f"column {mine.name!r} holds {mine.dtype} in one partition and {theirs.dtype} in "
            "another: convert it to one type with astype"
        )
    return np.promote_types(mine.dtype, theirs.dtype).name


def _is_text(levels: tuple[Any, ...]) -> bool:
    return any(isinstance(level, str) for level in levels)


def _check_levels(column: Column) -> Column:
    if len(column.levels) > MAX_LEVELS:
        raise ValueError(
            f"column {column.name!r} has more than {MAX_LEVELS:,} different labels, as an "
            "identifier has: drop it, or convert it to numbers"
        )
    return column
