"""Sums over the missing values of rows in networks that are no forests: variable elimination.

The tables of the families, at the observed values of a row, are factors of the hidden features. To
sum over a feature, the factors that contain it are multiplied and replaced by the sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from ceiba._typing import Array
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable

# Numbers of the largest table for one row, and of all rows that are computed together.
MAX_ENTRIES = 2**22


@dataclass(frozen=True, eq=False)
class _Factor:
    """A table of shape (n_rows, *categories of the hidden features, n_classes)."""

    hidden: tuple[int, ...]
    values: Array


def log_joint(families: Families, network: ClassTable, codes: Array) -> Array:
    """Return log p(c, observed values) of each row, exactly, for any structure.

    Rows with the same missing features are computed together. A missing feature without observed
    descendants is left out, since its probabilities add up to 1; the others are summed over one
    after another, the one with the smallest table first.

    Parameters
    ----------
    families : Families
    network : ClassTable
        Log probabilities.
    codes : ndarray of shape (n_rows, n_features)
    """
    structure = families.structure
    last = np.array([families.sizes[f] - 1 for f in structure.features], np.int64)
    is_missing = codes[:, list(structure.features)] == last
    patterns, index = np.unique(is_missing, axis=0, return_inverse=True)
    found = np.empty((len(codes), len(network.bias)))
    for number, pattern in enumerate(patterns):
        rows = np.flatnonzero(index.ravel() == number)
        missing = {f for f, absent in zip(structure.features, pattern, strict=True) if absent}
        order, entries = _plan(families, missing, len(network.bias))
        step = max(MAX_ENTRIES // entries, 1)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            found[part] = _eliminate(families, network, codes[part], missing, order)
    return found


def _relevant(families: Families, missing: set[int]) -> list[int]:
    """Return the families with an observed feature among themselves and their descendants."""
    structure = families.structure
    needed: set[int] = set()
    for feature, parents in zip(
        reversed(structure.features), reversed(structure.parents), strict=True
    ):
        if feature not in missing or feature in needed:
            needed |= {feature, *parents}
    return [family for family, f in enumerate(structure.features) if f in needed]


def _plan(families: Families, missing: set[int], n_classes: int) -> tuple[list[int], int]:
    """Return the order in which hidden features are summed over, and the largest table of a row."""
    scopes = [set(families.members(f)) & missing for f in _relevant(families, missing)]
    left = set().union(*scopes) if scopes else set()
    order, largest = [], n_classes

    def size(scope: set[int]) -> int:
        entries = n_classes
        for feature in scope:
            entries *= families.sizes[feature] - 1
        return entries

    def joined(feature: int) -> set[int]:
        return set().union(*(scope for scope in scopes if feature in scope))

    while left:
        feature = min(left, key=lambda f: (size(joined(f)), f))
        scope = joined(feature)
        largest = max(largest, size(scope))
        if largest > MAX_ENTRIES:
            raise ValueError(
                f"The sum over {len(missing)} missing values of a row needs a table with more than "
                f"{MAX_ENTRIES:,} entries: use missing='category', or fewer parents of each column."
            )
        scopes = [other for other in scopes if feature not in other] + [scope - {feature}]
        left.remove(feature)
        order.append(feature)
    return order, largest


def _eliminate(
    families: Families, network: ClassTable, codes: Array, missing: set[int], order: list[int]
) -> Array:
    """Return the log joint of rows with the same missing features."""
    factors = [
        _condition(families, network, codes, family, missing)
        for family in _relevant(families, missing)
    ]
    for feature in order:
        containing = [factor for factor in factors if feature in factor.hidden]
        factors = [factor for factor in factors if feature not in factor.hidden]
        factors.append(_sum_out(containing, feature))
    total = np.tile(network.bias, (len(codes), 1))
    for factor in factors:
        total += factor.values
    return total


def _condition(
    families: Families, network: ClassTable, codes: Array, family: int, missing: set[int]
) -> _Factor:
    """Return the table of a family at the observed values of the rows."""
    members = families.members(family)
    hidden = tuple(sorted(set(members) & missing))
    index = []
    for feature in members:
        shape = [1] * (1 + len(hidden))
        if feature in missing:
            axis = 1 + hidden.index(feature)
            shape[axis] = families.sizes[feature] - 1
            index.append(np.arange(shape[axis]).reshape(shape))
        else:
            shape[0] = len(codes)
            index.append(codes[:, feature].astype(np.int64).reshape(shape))
    return _Factor(hidden, families.view(network.table, family)[tuple(index)])


def _sum_out(factors: list[_Factor], feature: int) -> _Factor:
    """Return the sum over a feature of the product of the factors that contain it."""
    scope = tuple(sorted(set().union(*(factor.hidden for factor in factors))))
    product: Array | float = 0.0
    for factor in factors:
        missing = [1 + axis for axis, other in enumerate(scope) if other not in factor.hidden]
        product = product + np.expand_dims(factor.values, tuple(missing))
    summed = logsumexp(product, axis=1 + scope.index(feature))
    return _Factor(tuple(other for other in scope if other != feature), np.asarray(summed))
