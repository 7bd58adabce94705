"""Infer the schema of partitions whose dtypes do not determine it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba.data.categories import MAX_CATEGORIES
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.engine.contract import Batch


@dataclass(frozen=True, slots=True)
class SchemaSummary:
    """Schema of some rows; the kind of an ``all_missing`` column is not yet known."""

    schema: Schema
    all_missing: tuple[bool, ...]

    @classmethod
    def of(cls, batch: Batch[Chunk]) -> SchemaSummary:
        """Infer the schema of one partition."""
        table = batch.rows.table
        for column in table.schema:
            _check_categories(column)
        masks = (table.missing_mask(j) for j in range(len(table.schema)))
        return cls(table.schema, tuple(mask is not None and bool(mask.all()) for mask in masks))

    def merge(self, other: SchemaSummary) -> SchemaSummary:
        """Unite categories and widen number types; raise for columns of different kinds."""
        self.schema.check_names(other.schema.names)
        columns = tuple(
            left if right_unknown else right if left_unknown else _unite_columns(left, right)
            for left, right, left_unknown, right_unknown in zip(
                self.schema, other.schema, self.all_missing, other.all_missing, strict=True
            )
        )
        all_missing = tuple(
            a and b for a, b in zip(self.all_missing, other.all_missing, strict=True)
        )
        return SchemaSummary(replace(self.schema, columns=columns), all_missing)


def _unite_columns(left: Column, right: Column) -> Column:
    if left == right:
        return left
    if left.kind is not right.kind:
        raise ValueError(
            f"Column {left.name!r} must have one kind, got {left.kind} in one partition and "
            f"{right.kind} in another: convert it with astype."
        )
    if left.kind is Kind.NUMERIC:
        return replace(left, dtype=_common_dtype(left, right))
    if left.kind is Kind.ORDINAL and _is_text(left.categories + right.categories):
        raise ValueError(
            f"The ordinal column {left.name!r} must have the same categories in every partition, "
            "because their order is not known otherwise: declare them in "
            "astype(pandas.CategoricalDtype(categories, ordered=True))."
        )
    categories = tuple(sorted({*left.categories, *right.categories}))
    return _check_categories(replace(left, categories=categories))


def _common_dtype(left: Column, right: Column) -> str:
    if left.temporal or right.temporal:
        raise ValueError(
            f"Column {left.name!r} must have one dtype, got {left.dtype} in one partition and "
            f"{right.dtype} in another: convert it with astype."
        )
    return np.promote_types(left.dtype, right.dtype).name


def _is_text(categories: tuple[Any, ...]) -> bool:
    return any(isinstance(category, str) for category in categories)


def _check_categories(column: Column) -> Column:
    if len(column.categories) > MAX_CATEGORIES:
        raise ValueError(
            f"Column {column.name!r} must have at most {MAX_CATEGORIES:,} categories, got "
            f"{len(column.categories):,}, as an identifier has: drop it, or convert it to numbers."
        )
    return column
