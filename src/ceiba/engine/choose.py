"""Choose the engine of a fit from the type of its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ceiba.data.arrays import is_dask, is_dask_scan, is_scan
from ceiba.data.categories import find_categories
from ceiba.data.column import UnseenCategories
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Chunk, Partition, PartitionedSource, Source
from ceiba.data.sparse import open_sparse
from ceiba.data.table import Table, warn_unseen
from ceiba.engine.chunks import ChunksEngine
from ceiba.engine.contract import Engine
from ceiba.engine.local import InMemorySource, LocalEngine, effective_threads


def choose_engine(
    X: Any,
    sample_weight: Any = None,
    *,
    y: Any = None,
    supervised: bool = False,
    n_jobs: int | None = None,
    schema: Schema | None = None,
    kinds: Mapping[str, Any] | None = None,
    keep_sparse: bool = False,
) -> tuple[Engine, Source]:
    """Return the engine for ``X``, and ``X`` as a source of partitions.

    Parameters
    ----------
    X : array, frame, list, scan, Dask array or Dask DataFrame
        A Dask collection, or a scan of one, runs on the cluster of the current client, a scan of
        files in chunks, anything else in memory.
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
        Read ``X`` with this schema, as at prediction, instead of inferring one. In an inferred one
        identifiers have no categories: all their values are missing.
    kinds : mapping, optional
        Kinds of columns that override the inferred ones, as in `Table.of`.
    keep_sparse : bool
        Whether a sparse matrix becomes a `SparseTable`, instead of a dense one.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba.engine import choose_engine
    >>> engine, source = choose_engine(np.eye(3))
    >>> engine.name, len(source.partitions), source.schema.names
    ('local', 1, ['x0', 'x1', 'x2'])
    """
    if supervised:
        _check_target(X, y)
    else:
        y = None
    if is_dask_scan(X):
        _check_beside_scan(sample_weight, kinds)
        kinds = X.kinds if schema is None else None
        X, target, sample_weight = X.split()
        y = target if supervised else None
    if is_dask(X):
        from ceiba.engine.dask.engine import DaskEngine

        cluster = DaskEngine()
        return cluster, cluster.source(X, sample_weight, schema, kinds, y=y)
    for name, value in (("sample_weight", sample_weight), ("y", y)):
        if is_dask(value):
            raise TypeError(
                f"X must be a Dask collection because {name} is one, got {type(X).__name__}."
            )
    threads = effective_threads(n_jobs)
    if is_scan(X):
        return ChunksEngine(threads), _scan_source(X, sample_weight, schema, kinds)
    if keep_sparse and hasattr(X, "tocsr"):
        table = open_sparse(X, schema)
    else:
        table = Table.of(X, schema, kinds=kinds)
    if schema is None:
        table = Table.of(table, table.schema.without_identifiers())
    return LocalEngine(threads), InMemorySource(Chunk(table, y, sample_weight))


def check_in_memory(learner: str, *inputs: Any) -> None:
    """Raise for scans and Dask collections, whose rows are not in memory."""
    for value in inputs:
        if is_dask(value) or is_scan(value):
            got, remedy = "a scan", "read the files with ceiba.read"
            if is_dask(value):
                got, remedy = "a Dask collection", "compute it first, X.compute()"
            raise ValueError(f"{learner} requires rows in memory, got {got}: {remedy}.")


def _check_target(X: Any, y: Any) -> None:
    """Raise unless there is one target: ``y``, or a column of a scan."""
    if not is_scan(X):
        if y is None:
            raise ValueError("This learner requires y to be passed, but the target y is None.")
        return
    if y is not None:
        raise ValueError(
            "y must be None for a scan, whose target is one of its columns: use "
            "ceiba.scan(..., target=...)."
        )
    if getattr(X, "target", None) is None:
        raise ValueError(
            "This learner requires a target: name its column in ceiba.scan(..., target=...)."
        )


def _scan_source(
    scan: Source, sample_weight: Any, schema: Schema | None, kinds: Mapping[str, Any] | None
) -> Source:
    _check_beside_scan(sample_weight, kinds)
    if schema is None:
        schema = scan.schema.without_identifiers()
    elif unseen := list(_unseen_categories(scan.schema, schema)):
        warn_unseen(unseen)
    if schema == scan.schema:
        return scan
    return PartitionedSource(schema, [_SchemaPartition(part, schema) for part in scan.partitions])


def _check_beside_scan(sample_weight: Any, kinds: Mapping[str, Any] | None) -> None:
    """Raise for weights and kinds beside a scan, which has its own."""
    if sample_weight is not None:
        raise ValueError(
            "sample_weight must be None for a scan, whose weights are one of its columns: use "
            "ceiba.scan(..., weight=...)."
        )
    if kinds:
        raise ValueError("kinds must be None for a scan: use ceiba.scan(..., kinds=...).")


def _unseen_categories(found: Schema, expected: Schema) -> Iterator[UnseenCategories]:
    """Yield the categories of a scan that a schema lacks; their rows are not counted."""
    # Other numbers of columns are refused when the first partition is read.
    for column, other in zip(found, expected, strict=False):
        if column.kind is not Kind.NUMERIC and other.categories:
            indices = find_categories(column.categories, other.categories, column.name)
            pairs = zip(column.categories, indices, strict=True)
            if labels := tuple(label for label, index in pairs if index < 0):
                yield UnseenCategories(column.name, labels)


@dataclass(frozen=True, slots=True)
class _SchemaPartition:
    """Convert the rows of a partition to another schema, by category labels."""

    partition: Partition
    schema: Schema

    @property
    def name(self) -> str:
        return self.partition.name

    def load(self) -> Chunk:
        chunk = self.partition.load()
        return replace(chunk, table=Table.of(chunk.table, self.schema, warn=False))
