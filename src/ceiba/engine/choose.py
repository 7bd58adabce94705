"""Choose the engine of a fit from the type of its data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Partition, Source
from ceiba.data.table import Table
from ceiba.engine.chunks import ChunksEngine
from ceiba.engine.contract import Engine
from ceiba.engine.local import InMemory, LocalEngine, effective_threads


def choose_engine(
    X: Any,
    sample_weight: Any = None,
    *,
    y: Any = None,
    supervised: bool = False,
    n_jobs: int | None = None,
    schema: Schema | None = None,
    kinds: Mapping[str, Any] | None = None,
) -> tuple[Engine, Source]:
    """Return the engine for ``X``, and ``X`` as a source of partitions.

    Parameters
    ----------
    X : array, frame, list, scan, Dask array or Dask DataFrame
        A Dask collection runs on the cluster of the current client, a scan in chunks, anything
        else in memory.
    sample_weight : array of shape (n_rows,), optional
        For a Dask collection a Dask series or array partitioned like it. The weights of a scan
        are one of its columns.
    y : array, series or list of length n_rows, optional
        Target of a supervised learner; for a Dask collection a Dask series or array partitioned
        like it. The target of a scan is one of its columns.
    supervised : bool
        Whether a target is required; otherwise ``y`` is ignored.
    n_jobs : int, optional
        Number of threads on this machine; None for all. Ignored on a Dask cluster.
    schema : Schema, optional
        Read ``X`` with this schema, as at prediction, instead of inferring one.
    kinds : mapping, optional
        Kinds of columns that override the inferred ones, as in `Table.of`.

    Returns
    -------
    engine : Engine
    source : Source

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.engine import choose_engine
    >>> engine, source = choose_engine(np.eye(3))
    >>> engine.name, len(source.partitions), source.schema.names
    ('local', 1, ['x0', 'x1', 'x2'])
    """
    is_scan = _is_scan(X)
    if supervised:
        _check_target(X, y, is_scan)
    else:
        y = None
    if _is_dask(X):
        from ceiba.engine.dask.engine import DaskEngine

        cluster = DaskEngine()
        return cluster, cluster.source(X, sample_weight, schema, kinds, y=y)
    for name, value in (("sample_weight", sample_weight), ("y", y)):
        if _is_dask(value):
            raise TypeError(
                f"X must be a Dask collection because {name} is one, got {type(X).__name__}."
            )
    threads = effective_threads(n_jobs)
    if is_scan:
        return ChunksEngine(threads), _scan_source(X, sample_weight, schema, kinds)
    table = Table.of(X, schema, kinds=kinds)
    return LocalEngine(threads), InMemory(Chunk(table, y, sample_weight))


def _is_dask(value: Any) -> bool:
    # By the module name, because importing dask takes long.
    return type(value).__module__.partition(".")[0] == "dask"


def _is_scan(X: Any) -> bool:
    # A frame may have columns called "partitions" and "schema"; it has a shape as well.
    return hasattr(X, "partitions") and hasattr(X, "schema") and not hasattr(X, "shape")


def _check_target(X: Any, y: Any, is_scan: bool) -> None:
    """Raise unless there is one target: ``y``, or a column of a scan."""
    if not is_scan and y is None:
        raise ValueError("This learner requires y to be passed, but the target y is None.")
    if is_scan and y is not None:
        raise ValueError(
            "y must be None for a scan, whose target is one of its columns: use "
            "ceiba.scan(..., target=...)."
        )
    if is_scan and getattr(X, "target", None) is None:
        raise ValueError(
            "This learner requires a target: name its column in ceiba.scan(..., target=...)."
        )


def _scan_source(
    scan: Source, sample_weight: Any, schema: Schema | None, kinds: Mapping[str, Any] | None
) -> Source:
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be None for a scan, whose weights are one of its columns: use "
            "ceiba.scan(..., weight=...)."
        )
    if kinds:
        raise ValueError("kinds must be None for a scan: use ceiba.scan(..., kinds=...).")
    return scan if schema is None or schema == scan.schema else SchemaSource(scan, schema)


@dataclass(frozen=True, slots=True)
class SchemaSource:
    """Convert the partitions of a source to another schema, by category labels."""

    source: Source
    schema: Schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """The same partitions, each converted to the schema when it is loaded."""
        return [_SchemaPartition(part, self.schema) for part in self.source.partitions]


@dataclass(frozen=True, slots=True)
class _SchemaPartition:
    partition: Partition
    schema: Schema

    @property
    def name(self) -> str:
        return self.partition.name

    def load(self) -> Chunk:
        chunk = self.partition.load()
        return replace(chunk, table=Table.of(chunk.table, self.schema))
