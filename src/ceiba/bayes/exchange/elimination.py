"""Exact posteriors by variable elimination, in the log domain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod

import numpy as np

from ceiba._typing import Array

#: Cells of the largest table that elimination may need: 1 GiB of memory.
MAX_CELLS = 1 << 27


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """Logarithms of a nonnegative function of the variables ``scope``, one axis for each."""

    scope: tuple[int, ...]
    log_values: Array

    def reduce(self, evidence: Mapping[int, int]) -> Factor:
        """Return the factor with the variables of the evidence fixed to their codes."""
        index = tuple(evidence.get(variable, slice(None)) for variable in self.scope)
        scope = tuple(variable for variable in self.scope if variable not in evidence)
        return Factor(scope, self.log_values[index])

    def aligned(self, scope: Sequence[int]) -> Array:
        """Return the values with the axes of ``scope``, of size 1 for other variables."""
        present = [variable for variable in scope if variable in self.scope]
        ordered = self.log_values.transpose([self.scope.index(variable) for variable in present])
        sizes = iter(ordered.shape)
        return ordered.reshape([next(sizes) if v in self.scope else 1 for v in scope])

    def multiply(self, other: Factor) -> Factor:
        """Return the product of two factors."""
        scope = tuple(dict.fromkeys((*self.scope, *other.scope)))
        return Factor(scope, self.aligned(scope) + other.aligned(scope))

    def sum_out(self, variable: int) -> Factor:
        """Return the sum over a variable."""
        axis = self.scope.index(variable)
        scope = self.scope[:axis] + self.scope[axis + 1 :]
        return Factor(scope, log_sum(self.log_values, axis))


def log_sum(log_values: Array, axis: int | None = None) -> Array:
    """Compute the logarithm of a sum of exponentials, -inf for a sum of zero."""
    largest = log_values.max(axis=axis, keepdims=True)
    shift = np.where(np.isneginf(largest), 0.0, largest)
    with np.errstate(divide="ignore"):
        summed = np.log(np.exp(log_values - shift).sum(axis=axis))
    total: Array = summed + shift.reshape(np.shape(summed))
    return total


def eliminate(factors: Sequence[Factor], kept: Sequence[int], sizes: Sequence[int]) -> Factor:
    """Multiply the factors and sum out all variables but ``kept``, which give the axes' order.

    Raises
    ------
    ValueError
        If a table would have more than ``MAX_CELLS`` cells, before any is computed.
    """
    remaining = list(factors)
    for variable in elimination_order([factor.scope for factor in factors], kept, sizes):
        inside = [factor for factor in remaining if variable in factor.scope]
        remaining = [factor for factor in remaining if variable not in factor.scope]
        remaining.append(_multiply_all(inside).sum_out(variable))
    product = _multiply_all([*remaining, Factor((), np.zeros(()))])
    return Factor(tuple(kept), product.aligned(kept))


def _multiply_all(factors: Sequence[Factor]) -> Factor:
    product, *others = sorted(factors, key=lambda factor: factor.log_values.size)
    for factor in others:
        product = product.multiply(factor)
    return product


def elimination_order(
    scopes: Iterable[Collection[int]], kept: Collection[int], sizes: Sequence[int]
) -> list[int]:
    """Order the variables greedily: fewest added arcs first (min-fill), then the smallest table."""
    _check_cells(prod(float(sizes[v]) for v in kept))
    neighbors: dict[int, set[int]] = {}
    for scope in scopes:
        for variable in scope:
            neighbors.setdefault(variable, set()).update(scope)
    for variable, others in neighbors.items():
        others.discard(variable)

    def cost(variable: int) -> tuple[int, float, int]:
        around = neighbors[variable]
        fill = sum(b not in neighbors[a] for a, b in combinations(sorted(around), 2))
        return fill, prod(float(sizes[v]) for v in (variable, *around)), variable

    costs = {variable: cost(variable) for variable in neighbors if variable not in kept}
    order = []
    while costs:
        variable = min(costs, key=costs.__getitem__)
        _check_cells(costs.pop(variable)[1])
        order.append(variable)
        around = neighbors.pop(variable)
        for other in around:
            neighbors[other] |= around - {other}
            neighbors[other].discard(variable)
        # The number of added arcs changes only for neighbors, and where an arc joins two of them.
        for changed in around.union(*(neighbors[other] for other in around)):
            if changed in costs:
                costs[changed] = cost(changed)
    return order


def _check_cells(n_cells: float) -> None:
    if n_cells > MAX_CELLS:
        raise ValueError(
            f"the posterior requires a table of {n_cells:.3g} cells, more than {MAX_CELLS:,}: the "
            "network is too densely connected for exact inference. Give more evidence."
        )
