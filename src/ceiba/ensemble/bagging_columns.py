"""Some columns of a table or frame, in any order; a column drawn twice gets a second name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.stats.points import Array


def take_columns(data: Any, columns: Array) -> Any:
    """Columns of an array, a frame or a table, by their numbers."""
    from sklearn.utils import _safe_indexing

    if isinstance(data, Table):
        return table_columns(data, columns)
    if is_frame(data) and len(set(columns.tolist())) < len(columns):
        return _frame_columns(data, columns)
    return _safe_indexing(data, columns, axis=1)


def table_columns(table: Table, columns: Array) -> Table:
    """A table of some columns of another, with the names that they have there.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table.of([{"size": 1.5, "colour": "red"}, {"size": 2.0, "colour": None}])
    >>> table_columns(table, np.array([1, 0, 1])).schema.names
    ['colour', 'size', 'colour (2)']
    """
    chosen = columns.tolist()
    names = told_apart([table.schema[j].name for j in chosen])
    schema = Schema(
        tuple(replace(table.schema[j], name=name) for j, name in zip(chosen, names, strict=True)),
        table.schema.named,
    )
    if table.block is not None:
        return Table(schema, len(table), table.block[:, columns])
    arrays = tuple(table.column(j) for j in chosen)
    gaps = {place: untold_gaps(table, j) for place, j in enumerate(chosen)}
    masks = {place: mask for place, mask in gaps.items() if mask is not None}
    return Table(schema, len(table), None, arrays, masks)


def told_apart(names: list[str]) -> list[str]:
    """The names, with a number behind each that was there before."""
    given, used = set(names), dict[str, None]()
    for name in names:
        number, other = 1, name
        while other in used or (number > 1 and other in given):
            number += 1
            other = f"{name} ({number})"
        used[other] = None
    return list(used)


def is_frame(data: Any) -> bool:
    """Whether it is a pandas, polars or pyarrow frame, or one that narwhals knows beside them."""
    from narwhals.stable.v2.dependencies import is_into_dataframe

    return bool(is_into_dataframe(data))


def untold_gaps(table: Table, j: int) -> Array | None:
    """Gaps that the numbers of a column do not tell themselves."""
    told = table.schema[j].kind is not Kind.NUMERIC or table.column(j).dtype.kind == "f"
    return None if told else table.gaps(j)


def _frame_columns(data: Any, columns: Array) -> Any:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data)
    names = [frame.columns[j] for j in columns.tolist()]
    apart = told_apart([str(name) for name in names])
    series = [frame.get_column(name).alias(other) for name, other in zip(names, apart, strict=True)]
    return frame.select(*series).to_native()
