"""Blocks of a Dask collection with its weights and target, partitioned in the same way.

Dask's optimizer reads several small files as one partition, and how many depends on the columns
that are used. Columns of one frame are therefore optimized together, and other collections keep the
partitions that they declare.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def aligned_blocks(X: Any, weight: Any = None, target: Any = None) -> list[tuple[Any, ...]]:
    """Return the Delayed objects of each partition: rows, weights, target; or one for all three.

    Parameters
    ----------
    X : Dask array or DataFrame
    weight, target : Dask series or 1-D array, optional
        None, or partitioned like ``X``.
    """
    others = {"sample_weight": weight, "y": target}
    given = {name: values for name, values in others.items() if values is not None}
    for name, values in given.items():
        _check(name, values, X)
    if not given:
        return [(block, None, None) for block in _delayed(X, optimized=True)]
    frames = [X, *given.values()]
    if all(hasattr(frame, "expr") for frame in frames) and _have_one_source(frames):
        together = _optimized_together(X, given)
        if together is not None:
            return [(block,) for block in together]
    columns = [_declared_blocks(values) for values in (X, weight, target)]
    n_partitions = _n_partitions(X)
    return list(zip(*(column or [None] * n_partitions for column in columns), strict=True))


def _check(name: str, values: Any, X: Any) -> None:
    if not hasattr(values, "to_delayed") or values.ndim != 1:
        raise TypeError(
            f"{name} must be a Dask series or a 1D Dask array partitioned like X, because X is a "
            f"Dask collection, got {type(values).__name__}: pass a column of the same frame, or "
            "beside an array use dask.array.from_array(values, chunks=X.chunks[0])."
        )
    if _n_partitions(values) != _n_partitions(X):
        raise ValueError(
            f"{name} must have as many partitions as X ({_n_partitions(X)}), got "
            f"{_n_partitions(values)}: use a column of the same frame, or rechunk or repartition."
        )


def _n_partitions(collection: Any) -> int:
    """Return the number of row blocks that a collection declares."""
    return int(
        collection.numblocks[0] if hasattr(collection, "numblocks") else collection.npartitions
    )


def _delayed(collection: Any, *, optimized: bool) -> list[Any]:
    return list(np.ravel(collection.to_delayed(optimize_graph=optimized)))


def _declared_blocks(collection: Any) -> list[Any]:
    """Return as many blocks as a collection declares; none for None."""
    if collection is None:
        return []
    blocks = _delayed(collection, optimized=True)
    if len(blocks) == _n_partitions(collection):
        return blocks
    return _delayed(collection, optimized=False)


def _have_one_source(frames: list[Any]) -> bool:
    """Return whether all frames are computed from the same files, or the same data."""
    sources = [
        {node._name for node in frame.expr.walk() if not node.dependencies()} for frame in frames
    ]
    return all(names == sources[0] for names in sources)


def _optimized_together(X: Any, given: dict[str, Any]) -> list[Any] | None:
    """Return one block per partition, of rows, weights and target; None if Dask cannot."""
    import dask.dataframe as dd

    collect: Callable[..., Any] = _collect_both
    if len(given) == 1:
        collect = _collect_target if "y" in given else _collect_weight
    frame = dd.map_partitions(
        collect,
        X,
        *given.values(),
        meta=(None, object),
        align_dataframes=False,
        enforce_metadata=False,
    )
    blocks = _delayed(frame, optimized=True)
    return blocks if blocks and _has_all_dependencies(blocks[0].__dask_graph__()) else None


def _collect_both(rows: Any, weight: Any, target: Any) -> tuple[Any, Any, Any]:
    return rows, weight, target


def _collect_weight(rows: Any, weight: Any) -> tuple[Any, Any, Any]:
    return rows, weight, None


def _collect_target(rows: Any, target: Any) -> tuple[Any, Any, Any]:
    return rows, None, target


# The functions that put the rows, weights and target of a partition together.
COLLECT_FUNCTIONS = (_collect_both, _collect_weight, _collect_target)


def _has_all_dependencies(graph: Any) -> bool:
    """Return whether a graph has all tasks that its tasks depend on.

    It has not if the optimizer merged the partitions of one frame and not those of another.
    """
    from dask._task_spec import convert_legacy_graph
    from distributed import Future

    raw_tasks = dict(graph)
    persisted = {value.key for value in raw_tasks.values() if isinstance(value, Future)}
    tasks = convert_legacy_graph(raw_tasks)
    known = persisted.union(raw_tasks)
    return all(known.issuperset(task.dependencies) for task in tasks.values())
