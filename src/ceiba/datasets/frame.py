"""Tables and targets as pandas frames and series, levels as categories."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.datasets.entry import Task


def to_frame(table: Table) -> Any:
    """The table as a DataFrame: float64 columns and categoricals, ordered where ordinal."""
    pandas = _pandas()
    columns = {
        column.name: table.column(place)
        if column.kind is Kind.NUMERIC
        else pandas.Categorical.from_codes(
            table.column(place),
            categories=list(column.levels),
            ordered=column.kind is Kind.ORDINAL,
        )
        for place, column in enumerate(table.schema)
    }
    return pandas.DataFrame(columns)


def to_series(target: np.ndarray[Any, Any], name: str, task: Task) -> Any:
    """The target as a Series: a categorical of class labels, or float64 numbers."""
    pandas = _pandas()
    values = pandas.Categorical(target) if task is Task.CLASSIFICATION else target
    return pandas.Series(values, name=name)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as error:
        raise ImportError(
            'as_frame=True needs pandas: pip install "ceiba[files]", or load arrays.'
        ) from error
    return pandas
