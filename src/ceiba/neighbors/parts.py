"""Rows prepared for a search by one of four algorithms; an index is made of such parts.

- `BoxTree`: a tree of boxes over the rows, for sums and maxima over the columns.
- `ProductTree`: the same for Euclidean distances in many columns; products in float32 select
  candidates, within a bound of their rounding.
- `VantageTree`: a tree of distances to chosen rows, for any distance with the triangle inequality.
- `BruteForce`: no preparation; a search computes the distances to all rows.

Each is a record of plain arrays, which a model file maps from disk; the native object is made from
them when it is first needed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.neighbors.distance import Distance

# Rows of a leaf of products.
PRODUCT_LEAF_ROWS = 512

Found = tuple[Array, Array, Array]  # starts, distances, rows


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Rows whose neighbors are searched, all with the same missing columns.

    Parameters
    ----------
    X : ndarray of float64 of shape (n_queries, n_columns)
    columns : ndarray of uint32 or None
        Columns that a search uses, of those known in queries and rows; None for all.
    factor, offset : float
        What a sum over those columns is multiplied by, and what is added, for the others.
    excluded : ndarray of int64 of shape (n_queries,) or None
        Number of a row that each query must not find.
    """

    X: Array
    columns: Array | None = None
    factor: float = 1.0
    offset: float = 0.0
    excluded: Array | None = None

    @property
    def is_complete(self) -> bool:
        """Whether all columns are known, in queries and rows."""
        return self.columns is None

    @property
    def native(self) -> _native.Queries:
        """The queries for native searches."""
        return _native.Queries(self.X, self.columns, self.factor, self.offset, self.excluded)


@dataclass(frozen=True, eq=False)
class Part(Record):
    """Base of the prepared rows.

    Parameters
    ----------
    row_numbers : ndarray of int64 of shape (n_rows,)
        Number of each row in the order of this part; -1 for rows that were removed.
    """

    algorithm: ClassVar[str]

    row_numbers: Annotated[Array, ArrayOf("int64", "n_rows")]

    @classmethod
    def of(cls, X: Array, row_numbers: Array, distance: Distance, threads: int) -> Self:
        """Prepare rows."""
        raise NotImplementedError

    @cached_property
    def native(self) -> Any:
        """The object that searches."""
        raise NotImplementedError

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "native"}

    @property
    def n_bytes(self) -> int:
        """Memory of the arrays."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def search(self, metric: Any, queries: Queries, nearest: Any, threads: int) -> int:
        """Update the nearest rows of each query; return the number of distances."""
        return int(self.native.search(metric, queries.native, nearest, threads))

    def within(self, metric: Any, queries: Queries, radius: float, threads: int) -> Found:
        """Return the rows within a radius of each query."""
        found: Found = self.native.radius(metric, queries.native, radius, threads)
        return found

    def check(self) -> None:
        """Raise ValueError if the arrays are not those of such a part."""
        _ = self.native

    def renumbered(self, numbers: Array) -> Self:
        """Return this part with other row numbers."""
        return replace(self, row_numbers=numbers)


@dataclass(frozen=True, eq=False)
class BruteForce(Part):
    """Rows as they are."""

    algorithm: ClassVar[str] = "brute"

    X: Annotated[Array, ArrayOf("f", "n_rows", "n_columns")]

    @classmethod
    def of(cls, X: Array, row_numbers: Array, distance: Distance, threads: int) -> BruteForce:
        """Keep the rows."""
        return cls(row_numbers, X)

    def check(self) -> None:
        """Do nothing: rows and numbers alone cannot contradict each other."""

    def search(self, metric: Any, queries: Queries, nearest: Any, threads: int) -> int:
        """Update the nearest rows of each query; return the number of distances."""
        if callable(metric):
            return _native.neighbors_search_function(
                self.X, self.row_numbers, metric, queries.native, nearest
            )
        return _native.neighbors_search(
            self.X, self.row_numbers, metric, queries.native, nearest, threads
        )

    def within(self, metric: Any, queries: Queries, radius: float, threads: int) -> Found:
        """Return the rows within a radius of each query."""
        if callable(metric):
            return _native.neighbors_radius_function(
                self.X, self.row_numbers, metric, queries.native, radius
            )
        return _native.neighbors_radius(
            self.X, self.row_numbers, metric, queries.native, radius, threads
        )


@dataclass(frozen=True, eq=False)
class BoxTree(Part):
    """Rows in the leaves of a tree of boxes, whose nodes have eight children.

    Parameters
    ----------
    row_numbers : ndarray of int64 of shape (n_rows,)
    leaf_rows : int
        Maximum number of rows of a leaf; shape and size of the tree follow from it.
    order : ndarray of uint32 of shape (n_rows,)
        Rows by leaf.
    boxes : ndarray of float64 of shape (n_nodes, 2, n_columns, 8)
        Smallest and largest values of the children of each node.
    tiles : ndarray of shape (n_tiles, n_columns, 16)
        The rows of the leaves, 16 in the lanes of vectors.
    """

    algorithm: ClassVar[str] = "kd_tree"

    leaf_rows: Annotated[int, AtLeast(1)]
    order: Annotated[Array, ArrayOf("uint32", "n_rows")]
    boxes: Annotated[Array, ArrayOf("float64", "n_nodes", 2, "n_columns", 8)]
    tiles: Annotated[Array, ArrayOf("f", "n_tiles", "n_columns", 16)]

    @classmethod
    def of(cls, X: Array, row_numbers: Array, distance: Distance, threads: int) -> BoxTree:
        """Build the tree."""
        # With 16 instead of 32, a search of two columns takes 0.9 times as long, one of four to
        # eight columns as long, and one of 16 columns in clusters 1.2 times as long.
        leaf_rows = 16 if X.shape[1] <= 4 else 32
        order, boxes = _native.neighbors_build(X, leaf_rows, distance.mismatch, threads)
        tiles: Any = _native.neighbors_tiles(X, leaf_rows, order, threads)
        return cls(row_numbers[order], leaf_rows, order, boxes, tiles)

    @cached_property
    def native(self) -> Any:
        """The object that searches."""
        tree: Any = _native.BoxTree if self.tiles.dtype == np.float64 else _native.FloatBoxTree
        return tree(
            None, self.leaf_rows, self.order, self.row_numbers, self.boxes, self.tiles, None
        )


@dataclass(frozen=True, eq=False)
class ProductTree(Part):
    """Rows in the leaves of a tree of boxes, relative to the centers of the leaves.

    Parameters
    ----------
    row_numbers, leaf_rows, order, boxes
        As in `BoxTree`.
    X : ndarray of shape (n_rows, n_columns)
        The rows, from which the distances of candidates are computed.
    tiles : ndarray of float32 of shape (n_tiles, n_columns, 16)
        Rows minus the center of their leaf.
    half_squares : ndarray of float32 of shape (n_tiles, 16)
        Half of their squared norms.
    centers, radii : ndarray of float64 of shape (n_leaves, n_columns) and (n_leaves,)
        Centers of the leaves, and the largest norm of a row about them.
    """

    algorithm: ClassVar[str] = "products"

    leaf_rows: Annotated[int, AtLeast(1)]
    order: Annotated[Array, ArrayOf("uint32", "n_rows")]
    X: Annotated[Array, ArrayOf("f", "n_rows", "n_columns")]
    boxes: Annotated[Array, ArrayOf("float64", "n_nodes", 2, "n_columns", 8)]
    tiles: Annotated[Array, ArrayOf("float32", "n_tiles", "n_columns", 16)]
    half_squares: Annotated[Array, ArrayOf("float32", "n_tiles", 16)]
    centers: Annotated[Array, ArrayOf("float64", "n_leaves", "n_columns")]
    radii: Annotated[Array, ArrayOf("float64", "n_leaves")]

    @classmethod
    def of(cls, X: Array, row_numbers: Array, distance: Distance, threads: int) -> ProductTree:
        """Build the tree."""
        # The products of more rows leave the cache.
        leaf_rows = PRODUCT_LEAF_ROWS
        order, boxes = _native.neighbors_build(X, leaf_rows, distance.mismatch, threads)
        products = _native.neighbors_products(X, leaf_rows, order, threads)
        return cls(row_numbers[order], leaf_rows, order, X, boxes, *products)

    @cached_property
    def native(self) -> Any:
        """The object that searches."""
        tree: Any = _native.BoxTree if self.X.dtype == np.float64 else _native.FloatBoxTree
        products = (self.tiles, self.half_squares, self.centers, self.radii)
        return tree(
            self.X, self.leaf_rows, self.order, self.row_numbers, self.boxes, None, products
        )

    def search(self, metric: Any, queries: Queries, nearest: Any, threads: int) -> int:
        """Update the nearest rows of each query; return the number of distances."""
        if queries.is_complete:
            return super().search(metric, queries, nearest, threads)
        return _brute_force(self).search(metric, queries, nearest, threads)

    def within(self, metric: Any, queries: Queries, radius: float, threads: int) -> Found:
        """Return the rows within a radius of each query."""
        return _brute_force(self).within(metric, queries, radius, threads)


@dataclass(frozen=True, eq=False)
class VantageTree(Part):
    """Rows in a vantage-point tree, 16 to a leaf.

    Parameters
    ----------
    row_numbers, order, X
        As in `ProductTree`.
    vantage : ndarray of uint32 of shape (n_nodes,)
        The row of each node from which distances are taken.
    bounds : ndarray of float64 of shape (n_nodes, 4)
        Smallest and largest distance from it, of the rows in either half of the node.

    Yianilos (1993), "Data structures and algorithms for nearest neighbor search in general metric
    spaces", SODA.
    """

    algorithm: ClassVar[str] = "vp_tree"

    order: Annotated[Array, ArrayOf("uint32", "n_rows")]
    X: Annotated[Array, ArrayOf("f", "n_rows", "n_columns")]
    vantage: Annotated[Array, ArrayOf("uint32", "n_nodes")]
    bounds: Annotated[Array, ArrayOf("float64", "n_nodes", 4)]

    @classmethod
    def of(cls, X: Array, row_numbers: Array, distance: Distance, threads: int) -> VantageTree:
        """Build the tree."""
        metric = distance.native(complete=True)
        order, vantage, bounds = _native.neighbors_build_vantage(X, metric, threads)
        return cls(row_numbers[order], order, X, vantage, bounds)

    @cached_property
    def native(self) -> Any:
        """The object that searches."""
        single = self.X.dtype == np.float32
        tree: Any = _native.FloatVantageTree if single else _native.VantageTree
        return tree(self.X, self.order, self.row_numbers, self.vantage, self.bounds)

    def search(self, metric: Any, queries: Queries, nearest: Any, threads: int) -> int:
        """Update the nearest rows of each query; return the number of distances."""
        if queries.is_complete:
            return super().search(metric, queries, nearest, threads)
        return _brute_force(self).search(metric, queries, nearest, threads)

    def within(self, metric: Any, queries: Queries, radius: float, threads: int) -> Found:
        """Return the rows within a radius of each query."""
        if queries.is_complete:
            return super().within(metric, queries, radius, threads)
        return _brute_force(self).within(metric, queries, radius, threads)


def _brute_force(part: ProductTree | VantageTree) -> BruteForce:
    """Return the rows of a tree that bounds distances of all columns only."""
    # Row numbers are in the order of the leaves.
    numbers = np.empty_like(part.row_numbers)
    numbers[part.order] = part.row_numbers
    return BruteForce(numbers, part.X)
