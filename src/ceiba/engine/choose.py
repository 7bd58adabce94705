"""Which engine runs a fit: decided by what is passed to it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, InMemory, Partition, Source
from ceiba.data.table import Table
from ceiba.engine.chunks import ChunksEngine
from ceiba.engine.contract import Engine
from ceiba.engine.local import LocalEngine
from ceiba.engine.threads import effective_threads


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
    """The engine for what ``X`` is, and ``X`` as a source of partitions.

    Parameters
    ----------
    X : array, frame, list, scan, Dask array or Dask DataFrame
        A Dask collection runs on the cluster of the current client, a scan in chunks, anything
        else in memory.
    sample_weight : array of shape (n_rows,), optional
        For a Dask collection a Dask series or array partitioned alike. A scan names its column
        of weights itself.
    y : array, series or list of length n_rows, optional
        The target, where the learner is supervised: for a Dask collection a Dask series or array
        partitioned alike. A scan names its target column itself.
    supervised : bool
        Whether there must be a target; otherwise ``y`` is not looked at.
    n_jobs : int, optional
        Threads on this machine; None for all. On a Dask cluster its workers decide.
    schema : Schema, optional
        Follow this schema, as at prediction, instead of learning one.
    kinds : mapping, optional
        Kinds of columns that differ from what ``X`` says, as in `Table.of`.

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
    scanned = _is_source(X)
    if supervised:
        _check_target(X, y, scanned)
    else:
        y = None
    if _is_dask(X):
        from ceiba.engine.dask.engine import DaskEngine

        cluster = DaskEngine()
        return cluster, cluster.source(X, sample_weight, schema, kinds, y=y)
    for name, given in (("sample_weight", sample_weight), ("y", y)):
        if _is_dask(given):
            raise TypeError(f"{name} is a Dask collection and X is not: X must be one too")
    threads = effective_threads(n_jobs)
    if scanned:
        return ChunksEngine(threads), _scanned(X, sample_weight, schema, kinds)
    table = Table.of(X, schema, kinds=kinds)
    return LocalEngine(threads), InMemory(Chunk(table, y, sample_weight))


def _is_dask(thing: Any) -> bool:
    """By the name of its module, so that dask is only imported where it is in use already."""
    return type(thing).__module__.partition(".")[0] == "dask"


def _is_source(X: Any) -> bool:
    # A frame may have columns called "partitions" and "schema"; it has a shape as well.
    return hasattr(X, "partitions") and hasattr(X, "schema") and not hasattr(X, "shape")


def _check_target(X: Any, y: Any, scanned: bool) -> None:
    """Refuse rows without a target, and a scan with two."""
    if not scanned and y is None:
        raise ValueError("This learner requires y to be passed, but the target y is None.")
    if scanned and y is not None:
        raise ValueError(
            "the target of a scan is one of its columns: name it in ceiba.scan(..., target=...) "
            "instead of giving y"
        )
    if scanned and getattr(X, "target", None) is None:
        raise ValueError(
            "the scan names no target, which this learner requires: name its column in "
            "ceiba.scan(..., target=...)"
        )


def _scanned(
    scan: Source, sample_weight: Any, schema: Schema | None, kinds: Mapping[str, Any] | None
) -> Source:
    if sample_weight is not None:
        raise ValueError(
            "the rows of a scan are weighted by one of its columns: name it in "
            "ceiba.scan(..., weight=...) instead of giving sample_weight"
        )
    if kinds:
        raise ValueError("give kinds to ceiba.scan(..., kinds=...), which reads the columns")
    return scan if schema is None or schema == scan.schema else Following(scan, schema)


@dataclass(frozen=True, slots=True)
class Following:
    """A source read with another schema than its own: levels are matched by label."""

    source: Source
    schema: Schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """The same partitions, each brought to the schema when it is loaded."""
        return [_FollowingPartition(part, self.schema) for part in self.source.partitions]


@dataclass(frozen=True, slots=True)
class _FollowingPartition:
    partition: Partition
    schema: Schema

    @property
    def name(self) -> str:
        return self.partition.name

    def load(self) -> Chunk:
        chunk = self.partition.load()
        return replace(chunk, table=Table.of(chunk.table, self.schema))
