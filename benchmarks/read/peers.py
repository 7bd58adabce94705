"""Libraries that read CSV and Parquet files into a table."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.read.data import FileData, Format
from benchmarks.workload import Implementation

Run = Callable[[FileData], Any]

# What text columns become: strings, the default of all peers, or categories, as in Ceiba's tables.
STRINGS, CATEGORIES = "text as strings", "text as categories"
NUMERIC = "numeric"


def read_ceiba(data: FileData) -> Any:
    """Read by `ceiba.read`; text columns are nominal."""
    return import_module("ceiba").read(data.path)


def pandas_csv(engine: str, categories: bool) -> Run:
    """Return a run of ``pandas.read_csv`` with one of its engines."""

    def run(data: FileData) -> Any:
        read_csv = import_module("pandas").read_csv
        if not categories:
            return read_csv(data.path, engine=engine)
        dtype = dict.fromkeys(data.text_columns, "category")
        if engine == "pyarrow":
            # With dtype, this engine rejects missing values in the integer columns.
            return read_csv(data.path, engine=engine).astype(dtype)
        return read_csv(data.path, engine=engine, dtype=dtype)

    return run


def pandas_parquet(categories: bool) -> Run:
    """Return a run of ``pandas.read_parquet``."""

    def run(data: FileData) -> Any:
        frame = import_module("pandas").read_parquet(data.path, engine="pyarrow")
        if categories:
            frame = frame.astype(dict.fromkeys(data.text_columns, "category"))
        return frame

    return run


def polars_csv(categories: bool) -> Run:
    """Return a run of ``polars.read_csv``."""

    def run(data: FileData) -> Any:
        polars = import_module("polars")
        overrides = dict.fromkeys(data.text_columns, polars.Categorical) if categories else None
        return polars.read_csv(data.path, schema_overrides=overrides)

    return run


def polars_parquet(categories: bool) -> Run:
    """Return a run of ``polars.read_parquet``."""

    def run(data: FileData) -> Any:
        polars = import_module("polars")
        frame = polars.read_parquet(data.path)
        if categories:
            frame = frame.with_columns(polars.col(data.text_columns).cast(polars.Categorical))
        return frame

    return run


def pyarrow_csv(categories: bool) -> Run:
    """Return a run of ``pyarrow.csv.read_csv``, with missing values in text columns."""

    def run(data: FileData) -> Any:
        csv = import_module("pyarrow.csv")
        options = csv.ConvertOptions(strings_can_be_null=True, auto_dict_encode=categories)
        if categories:
            # The default keeps columns of more than 50 categories as strings.
            options.auto_dict_max_cardinality = 1_000_000
        return csv.read_csv(data.path, convert_options=options)

    return run


def pyarrow_parquet(categories: bool) -> Run:
    """Return a run of ``pyarrow.parquet.read_table``."""

    def run(data: FileData) -> Any:
        as_dictionary = data.text_columns if categories else None
        parquet = import_module("pyarrow.parquet")
        return parquet.read_table(data.path, read_dictionary=as_dictionary)

    return run


def csv_peers(categories: bool) -> dict[str, tuple[Run, str]]:
    """Return the run and the top-level module of each peer for CSV files."""
    return {
        "pandas, C engine": (pandas_csv("c", categories), "pandas"),
        "pandas, pyarrow engine": (pandas_csv("pyarrow", categories), "pandas"),
        "polars": (polars_csv(categories), "polars"),
        "pyarrow": (pyarrow_csv(categories), "pyarrow"),
    }


def parquet_peers(categories: bool) -> dict[str, tuple[Run, str]]:
    """Return the run and the top-level module of each peer for Parquet files."""
    return {
        "pandas": (pandas_parquet(categories), "pandas"),
        "polars": (polars_parquet(categories), "polars"),
        "pyarrow": (pyarrow_parquet(categories), "pyarrow"),
    }


PEERS = {"csv": csv_peers, "parquet": parquet_peers}


def implementations(suffix: Format, group: str) -> tuple[Implementation, ...]:
    """Return ours and the peers of one group."""
    ours = Implementation("ceiba", read_ceiba, group, ours=True, module="ceiba")
    peers = PEERS[suffix](group == CATEGORIES)
    return (
        ours,
        *(
            Implementation(label, run, group, module=module)
            for label, (run, module) in peers.items()
        ),
    )
