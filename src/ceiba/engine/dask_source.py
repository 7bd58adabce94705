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

    def __call__(self, block: Any, weight: Any) -> Chunk:
        """The chunk of a NumPy or pandas block and of its weights, if there are some."""
        table = Table.of(block, self.schema, kinds=self.kinds)
        if weight is None:
            return Chunk(table)
        weights = np.asarray(weight)
        if len(weights) != len(table):
            raise ValueError(
                f"{len(weights)} weights for {len(table)} rows: sample_weight must be partitioned "
                "as X is"
            )
        return Chunk(table, weight=weights)


@dataclass(frozen=True, slots=True)
class DaskPartition:
    """One block of a Dask collection, as the recipe (a Delayed) that makes it again and again."""

    name: str
    reader: Reader
    recipe: Any
    weight: Any = None

    def load(self) -> Chunk:
        """Bring the rows here from the cluster."""
        import dask

        return self.reader(*dask.compute(self.recipe, self.weight))


@dataclass(frozen=True, slots=True)
class DaskSource:
    """The partitions of a Dask collection and the schema they are read with."""

    schema: Schema
    partitions: tuple[DaskPartition, ...]


def dask_partitions(X: Any, weight: Any, reader: Reader) -> tuple[DaskPartition, ...]:
    """The blocks of rows of a Dask array or DataFrame, and of weights partitioned alike."""
    if _is_array(X) and X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    recipes = np.ravel(X.to_delayed(optimize_graph=True)).tolist()
    weights = [None] * len(recipes) if weight is None else _weights(weight, len(recipes))
    word = "array" if _is_array(X) else "DataFrame"
    return tuple(
        DaskPartition(f"{place} of the Dask {word}", reader, recipe, weight)
        for place, (recipe, weight) in enumerate(zip(recipes, weights, strict=True))
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


def _weights(weight: Any, partitions: int) -> list[Any]:
    """The recipes of the weights, one for each partition; lengths are compared by the reader."""
    if not hasattr(weight, "to_delayed") or weight.ndim != 1:
        raise TypeError(
            "X is a Dask collection, so sample_weight must be a Dask series or a one-dimensional "
            "Dask array partitioned as X is, like dask.array.from_array(w, chunks=X.chunks[0])"
        )
    recipes: list[Any] = np.ravel(weight.to_delayed(optimize_graph=True)).tolist()
    if len(recipes) != partitions:
        raise ValueError(
            f"sample_weight has {len(recipes)} partitions and X has {partitions}: partition both "
            "alike, with rechunk or repartition"
        )
    return recipes
