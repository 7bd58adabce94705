"""A Dask array or DataFrame as a source: one partition for each of its blocks of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class Reader:
    """Makes a chunk of a concrete block, following a schema or learning it. Travels to workers."""

    schema: Schema | None = None
    kinds: Mapping[str, Any] | None = None

    def __call__(self, block: Any, weight: Any = None, target: Any = None) -> Chunk:
        """The chunk of a NumPy or pandas block and of its weights and target, if there are some."""
        table = Table.of(block, self.schema, kinds=self.kinds)
        return Chunk(table, target, None if weight is None else np.asarray(weight))


def check_alike(block: Any, weight: Any, target: Any) -> None:
    """Refuse weights or targets that are not as many as the rows beside which they stand."""
    for name, what, values in (("sample_weight", "weights", weight), ("y", "targets", target)):
        if values is not None and len(values) != len(block):
            raise ValueError(
                f"{len(values)} {what} for {len(block)} rows: {name} must be partitioned as X is"
            )


@dataclass(frozen=True, slots=True)
class DaskPartition:
    """One block of a Dask collection, as the recipe (a Delayed) that makes it again and again."""

    name: str
    reader: Reader
    recipe: Any
    weight: Any = None
    target: Any = None

    def load(self) -> Chunk:
        """Bring the rows here from the cluster."""
        import dask

        parts = dask.compute(self.recipe, self.weight, self.target)
        check_alike(*parts)
        return self.reader(*parts)


@dataclass(frozen=True, slots=True)
class DaskSource:
    """The partitions of a Dask collection and the schema they are read with."""

    schema: Schema
    partitions: tuple[DaskPartition, ...]


def dask_partitions(
    X: Any, reader: Reader, weight: Any = None, target: Any = None
) -> tuple[DaskPartition, ...]:
    """The blocks of rows of a Dask array or DataFrame, and of what is partitioned alike."""
    if _is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    recipes = np.ravel(X.to_delayed(optimize_graph=True)).tolist()
    weights = _beside("sample_weight", weight, len(recipes))
    targets = _beside("y", target, len(recipes))
    word = "array" if _is_array(X) else "DataFrame"
    return tuple(
        DaskPartition(f"{place} of the Dask {word}", reader, *parts)
        for place, parts in enumerate(zip(recipes, weights, targets, strict=True))
    )


def known_schema(X: Any) -> Schema | None:
    """The schema that a collection's own description tells; None if the rows must be looked at."""
    if _is_array(X):
        plain = X.dtype.kind in "fiub"
        return Table.of(np.zeros((1, X.shape[1]), X.dtype)).schema if plain else None
    plain = all(_tells_all(dtype) for dtype in X.dtypes)
    return Table.of(X._meta_nonempty).schema if plain else None


def check_collection(X: Any) -> None:
    """Refuse what is neither a DataFrame nor a 2-D array of known width."""
    ndim = getattr(X, "ndim", None)
    if not (isinstance(ndim, int) and ndim == 2):
        raise ValueError(
            f"expected a Dask DataFrame or a Dask array of two dimensions, got {type(X).__name__}: "
            "X.to_frame() makes a table of a series, X.reshape(-1, 1) of an array"
        )
    if _is_array(X) and np.isnan(X.shape[1]):
        raise ValueError(
            "the Dask array does not know its number of columns: call X.compute_chunk_sizes()"
        )


def _is_array(X: Any) -> bool:
    return hasattr(X, "numblocks")


def _tells_all(dtype: Any) -> bool:
    """Whether a dtype says what a column is: a number or time, or a category with its levels."""
    from dask.dataframe.utils import UNKNOWN_CATEGORIES

    if hasattr(dtype, "categories"):
        return UNKNOWN_CATEGORIES not in dtype.categories
    return dtype.kind in "fiubmM"


def _beside(name: str, values: Any, partitions: int) -> list[Any]:
    """The recipes of one value a row, one for each partition; `check_alike` compares lengths."""
    if values is None:
        return [None] * partitions
    if not hasattr(values, "to_delayed") or values.ndim != 1:
        raise TypeError(
            f"X is a Dask collection, so {name} must be a Dask series or a one-dimensional "
            "Dask array partitioned as X is, like dask.array.from_array(values, "
            "chunks=X.chunks[0])"
        )
    recipes: list[Any] = np.ravel(values.to_delayed(optimize_graph=True)).tolist()
    if len(recipes) != partitions:
        raise ValueError(
            f"{name} has {len(recipes)} partitions and X has {partitions}: partition both "
            "alike, with rechunk or repartition"
        )
    return recipes
