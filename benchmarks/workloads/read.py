"""Reading CSV and Parquet files into a table: pandas, polars and pyarrow."""

from __future__ import annotations

from benchmarks.read import peers, quality
from benchmarks.read.data import (
    Format,
    MakeColumns,
    data_maker,
    mixed_columns,
    numeric_columns,
)
from benchmarks.workload import Workload

MIXED_GROUPS = (peers.STRINGS, peers.CATEGORIES)
MIXED_TITLE = "10 numeric and 10 text columns, 5 % missing"


def workload(
    name: str, suffix: Format, make_columns: MakeColumns, title: str, groups: tuple[str, ...]
) -> Workload:
    """Return the workload of reading one file."""
    return Workload(
        name=name,
        title=title,
        make_data=data_maker(make_columns, suffix, groups),
        implementations=tuple(
            each for group in groups for each in peers.implementations(suffix, group)
        ),
        quality=quality.score_table,
        checks=quality.CHECKS,
        n_rows=200_000,
        quick_n_rows=5_000,
    )


WORKLOADS = (
    workload(
        "read-csv-numeric", "csv", numeric_columns, "CSV, 20 numeric columns", (peers.NUMERIC,)
    ),
    workload("read-csv-mixed", "csv", mixed_columns, f"CSV, {MIXED_TITLE}", MIXED_GROUPS),
    workload("read-parquet", "parquet", mixed_columns, f"Parquet, {MIXED_TITLE}", MIXED_GROUPS),
)
