"""Families of a Bayesian network classifier, and the layout of their tables.

The class C is a parent of every feature of the model. A *family* is a feature with its feature
parents. Its table has a row for each combination of their values and a column for each class, so
that the log joint of a row x of data is a sum of table rows::

    log p(c, x) = bias[c] + sum over the families of weights[row of x in the family's table, c]

The tables of all families lie one below the other in one array of shape (n_table_rows, n_classes).
Within a table the value of the feature changes fastest: the rows of one conditional distribution
``p(feature | parents, c)`` are consecutive and are called a *group*.

A feature of r categories has the codes 0 to r, where r stands for a missing value. Table rows
with a missing value are not part of a conditional distribution. Where values are summed over, such
a row has the weight 0 if only the feature is missing and it has no children (its probabilities add
up to 1), and NaN otherwise, which makes the native passes send messages along the forest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ceiba._native import Families as NativeFamilies
from ceiba._typing import Array

# Rows of all tables of a network: with two classes 256 MB.
MAX_TABLE_ROWS = 2**24


@dataclass(frozen=True)
class Structure:
    """Features of the model in topological order, each with its feature parents.

    Parameters
    ----------
    features : tuple of int
        Columns of the codes; a parent comes before its children.
    parents : tuple of tuple of int
        Feature parents of each feature, in the order of ``features``.
    """

    features: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]

    @classmethod
    def naive(cls, n_features: int) -> Structure:
        """Return the structure of naive Bayes: all features, no arcs between them."""
        return cls(tuple(range(n_features)), ((),) * n_features)

    @classmethod
    def of_arcs(cls, features: tuple[int, ...], arcs: list[tuple[int, int]]) -> Structure:
        """Return the structure with the given (parent, child) arcs; raise if they have a cycle."""
        parents: dict[int, list[int]] = {feature: [] for feature in features}
        for parent, child in arcs:
            parents[child].append(parent)
        order: list[int] = []
        placed: set[int] = set()
        left = list(features)
        while left:
            ready = [f for f in left if placed.issuperset(parents[f])]
            if not ready:
                raise ValueError(f"arcs must not have a cycle, got one among the features {left}.")
            order += ready
            placed.update(ready)
            left = [f for f in left if f not in placed]
        return cls(tuple(order), tuple(tuple(sorted(parents[f])) for f in order))

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Arcs between features, as (parent, child)."""
        pairs = zip(self.features, self.parents, strict=True)
        return [(parent, child) for child, parents in pairs for parent in parents]

    @property
    def is_forest(self) -> bool:
        """Whether no feature has more than one feature parent."""
        return all(len(parents) <= 1 for parents in self.parents)

    @property
    def is_decomposable(self) -> bool:
        """Whether the parents of each family lie in the table of one other family."""
        return all(self.has_containing_family(family) for family in range(len(self.features)))

    def has_containing_family(self, family: int) -> bool:
        """Return whether `containing_family` finds the parents of a family in one table."""
        parents = self.parents[family]
        return not parents or self._find_containing_family(parents) is not None

    def _find_containing_family(self, parents: tuple[int, ...]) -> int | None:
        for parent in parents:
            index = self.features.index(parent)
            if set(parents) - {parent} <= set(self.parents[index]):
                return index
        return None

    def containing_family(self, family: int) -> int | None:
        """Return the family whose table contains the parents of a family; None without parents.

        It is the family of a parent that is itself a child of all the other parents. Raise
        ValueError where there is none: the conditional likelihood can then have local maxima, and
        tables of expected counts are not those of a network (Roos et al. 2005).
        """
        parents = self.parents[family]
        if not parents:
            return None
        found = self._find_containing_family(parents)
        if found is not None:
            return found
        raise ValueError(
            f"training='tm' requires that feature {self.features[family]} has a parent that is a "
            f"child of its other parents, got the parents {list(parents)} without arcs between "
            "them."
        )


@dataclass(frozen=True)
class Families:
    """Layout of the tables of a structure.

    Parameters
    ----------
    structure : Structure
    sizes : tuple of int
        Number of codes of each column, the one for a missing value included.
    """

    structure: Structure
    sizes: tuple[int, ...]

    @classmethod
    def naive(cls, sizes: tuple[int, ...]) -> Families:
        """Return the layout of naive Bayes: a table for each column alone."""
        return cls(Structure.naive(len(sizes)), sizes)

    @classmethod
    def empty(cls, sizes: tuple[int, ...]) -> Families:
        """Return the layout without tables, for passes that need sums over the classes only."""
        return cls(Structure((), ()), sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the cached layout, which cannot be pickled.
        return type(self), (self.structure, self.sizes)

    def members(self, family: int) -> tuple[int, ...]:
        """Return the features of a family in the order of its axes: parents, then the feature."""
        return (*self.structure.parents[family], self.structure.features[family])

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shape of each table without the class: sizes of the parents, then of the feature."""
        n_families = len(self.structure.features)
        return [tuple(self.sizes[j] for j in self.members(f)) for f in range(n_families)]

    @cached_property
    def offsets(self) -> Array:
        """First row of each table, and the number of all rows at the end."""
        lengths = [math.prod(shape) for shape in self.shapes]
        if sum(lengths) > MAX_TABLE_ROWS:
            largest = lengths.index(max(lengths))
            raise ValueError(
                f"The tables of a network must have at most {MAX_TABLE_ROWS:,} rows, got "
                f"{sum(lengths):,}, of which the feature {self.structure.features[largest]} with "
                f"its {len(self.structure.parents[largest])} parents has {lengths[largest]:,}: "
                "give it fewer parents, or merge categories."
            )
        return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    @property
    def n_table_rows(self) -> int:
        """Number of rows of all tables."""
        return int(self.offsets[-1])

    @cached_property
    def native(self) -> NativeFamilies:
        """The layout for the native passes."""
        counts = [len(parents) for parents in self.structure.parents]
        strides = [np.cumprod((1, *shape[:0:-1]))[:0:-1] for shape in self.shapes]
        return NativeFamilies(
            np.array(self.structure.features, np.int32),
            np.array([shape[-1] for shape in self.shapes], np.int32),
            self.offsets,
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
            np.array([p for parents in self.structure.parents for p in parents], np.int32),
            np.concatenate([*strides, []]).astype(np.int64),
        )

    def table_rows(self, codes: Array) -> Iterator[Array]:
        """Iterate over the families: the table row of each row of ``codes``."""
        for family, shape in enumerate(self.shapes):
            members = tuple(codes[:, j].astype(np.int64) for j in self.members(family))
            yield self.offsets[family] + np.ravel_multi_index(members, shape)

    @cached_property
    def group_sizes(self) -> Array:
        """Number of rows of each group."""
        n_groups = [int(np.prod(shape[:-1])) for shape in self.shapes]
        sizes = np.array([shape[-1] for shape in self.shapes], np.int64)
        return np.repeat(sizes, n_groups)

    @cached_property
    def _group_starts(self) -> Array:
        return np.concatenate([[0], np.cumsum(self.group_sizes)[:-1]])

    @cached_property
    def is_known(self) -> Array:
        """Whether all codes of each row are categories, none of them missing."""
        return self._mask(lambda family, codes: [code < n - 1 for code, n in codes])

    @cached_property
    def is_summed(self) -> Array:
        """Whether messages are needed to sum over the missing values of each row."""
        has_children = {parent for parents in self.structure.parents for parent in parents}
        features = self.structure.features

        def is_plain(family: int, codes: list[tuple[Array, int]]) -> list[Array]:
            *parents, (of_feature, n) = codes
            known = [code < size - 1 for code, size in parents]
            return [*known, (of_feature < n - 1) | (features[family] not in has_children)]

        return ~self._mask(is_plain)

    def _mask(self, tests: Callable[[int, list[tuple[Array, int]]], list[Array]]) -> Array:
        """Return for each row whether all tests of the codes of its family hold.

        ``tests(family, codes)`` gets the codes along each axis of the family's table, with their
        number.
        """
        masks = []
        for family, shape in enumerate(self.shapes):
            codes = [(np.arange(n), n) for n in shape]
            grid = np.meshgrid(*tests(family, codes), indexing="ij")
            masks.append(np.logical_and.reduce(grid).ravel())
        return np.concatenate(masks) if masks else np.zeros(0, bool)

    def group_sums(self, table: Array) -> Array:
        """Sum each group, and repeat the sum for each of its rows."""
        if not len(table):
            return table
        sums = np.add.reduceat(table, self._group_starts, axis=0)
        return np.asarray(np.repeat(sums, self.group_sizes, axis=0))

    def group_maxima(self, table: Array) -> Array:
        """Return the maximum of each group, repeated for each of its rows; 0 for -inf."""
        if not len(table):
            return table
        maxima = np.maximum.reduceat(table, self._group_starts, axis=0)
        maxima[~np.isfinite(maxima)] = 0.0
        return np.asarray(np.repeat(maxima, self.group_sizes, axis=0))

    def view(self, table: Array, family: int) -> Array:
        """Return the table of a family, of shape (*parents, feature, class), without a copy."""
        rows = table[self.offsets[family] : self.offsets[family + 1]]
        return rows.reshape(*self.shapes[family], table.shape[1])

    def parent_axes(self, family: int) -> tuple[int, tuple[int, ...]] | None:
        """Return the family whose table contains the parents of a family, and their axes there.

        None without parents.
        """
        containing = self.structure.containing_family(family)
        if containing is None:
            return None
        members = self.members(containing)
        return containing, tuple(members.index(parent) for parent in self.structure.parents[family])

    def parent_marginal(self, table: Array, family: int) -> Array | None:
        """Return the margin over the parents of a family, from the table that contains them."""
        found = self.parent_axes(family)
        if found is None:
            return None
        containing, axes = found
        view = self.view(table, containing)
        others = tuple(axis for axis in range(view.ndim - 1) if axis not in axes)
        ordered = np.transpose(view, (*axes, *others, view.ndim - 1))
        return np.asarray(ordered.sum(axis=tuple(range(len(axes), len(axes) + len(others)))))

    def add_to_parents(self, table: Array, family: int, values: Array) -> bool:
        """Add a function of the parents of a family to the table that contains them.

        Return False without parents.
        """
        found = self.parent_axes(family)
        if found is None:
            return False
        containing, axes = found
        view = self.view(table, containing)
        others = tuple(axis for axis in range(view.ndim - 1) if axis not in axes)
        target = np.transpose(view, (*others, *axes, view.ndim - 1))
        target += values
        return True
