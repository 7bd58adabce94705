"""Rules that the parts of a discrete network obey: names, arcs and probability tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from ceiba._typing import Array

#: Largest number of parents of a variable: NumPy's arrays have up to 32 axes in all its versions.
MAX_PARENTS = 31

# Printed decimals: sums that deviate by more are errors, by less than the second are kept as given.
_MAX_DEVIATION = 0.01
_ROUNDING = 1e-12


def check_table(
    name: str,
    states: Sequence[str],
    parents: Sequence[tuple[str, Sequence[str]]],
    table: Array,
) -> Array:
    """Return a conditional probability table as normalized, read-only float64.

    ``parents`` are the names and states of the parents.

    Raises
    ------
    ValueError
        If the shape is wrong, a value is not finite or negative, or a distribution does not sum
        to 1; the message names the variable and the states of its parents.
    """
    shape = (*(len(labels) for _, labels in parents), len(states))
    if table.shape != shape:
        raise ValueError(f"the table of {name!r} must have shape {shape}, got {table.shape}.")

    def where(index: Iterable[int]) -> str:
        given = [f"{p}={labels[i]!r}" for (p, labels), i in zip(parents, index, strict=False)]
        return f"{name!r}" + (f" given {', '.join(given)}" if given else "")

    invalid = ~(np.isfinite(table) & (table >= 0))
    if invalid.any():
        index = np.argwhere(invalid)[0]
        raise ValueError(
            f"the probabilities of {where(index)} must be finite and not negative, got "
            f"{table[tuple(index)]}."
        )
    sums = table.sum(axis=-1)
    deviation = np.abs(sums - 1)
    if (deviation > _MAX_DEVIATION).any():
        index = np.argwhere(deviation > _MAX_DEVIATION)[0]
        raise ValueError(
            f"the probabilities of {where(index)} must sum to 1, got {sums[tuple(index)]:.6g}."
        )
    # A sum that is 1 up to rounding is kept, so that a table that is written and read is equal.
    divisor = np.where(deviation > _ROUNDING, sums, 1.0)[..., np.newaxis]
    checked: Array = np.ascontiguousarray(table / divisor + 0.0)  # no negative zeros
    checked.flags.writeable = False
    return checked


def check_names(names: Sequence[str], field: str, noun: str) -> None:
    """Raise ValueError unless the names are different texts, and there are some."""
    if not names:
        raise ValueError(f"{field} must name at least one {noun}, got none.")
    seen = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"{field} must be texts that are not empty, got {name!r}.")
        if name in seen:
            raise ValueError(f"{field} must be different, got {name!r} twice.")
        seen.add(name)


def check_arcs(variables: Sequence[str], parents: Sequence[Sequence[int]]) -> None:
    """Raise ValueError unless the parents are indices of variables and form no cycle."""
    for name, indices in zip(variables, parents, strict=True):
        for index in indices:
            if not 0 <= index < len(variables):
                raise ValueError(
                    f"parents of {name!r} must be indices in [0, {len(variables) - 1}], got "
                    f"{index}."
                )
        if len(set(indices)) < len(indices):
            raise ValueError(f"parents of {name!r} must be different, got {list(indices)}.")
        if len(indices) > MAX_PARENTS:
            raise ValueError(f"{name!r} must have up to {MAX_PARENTS} parents, got {len(indices)}.")
    cycle = _find_cycle(parents)
    if cycle:
        shown = " -> ".join(variables[index] for index in cycle)
        raise ValueError(f"the arcs must not form a cycle, got {shown}.")


def _find_cycle(parents: Sequence[Sequence[int]]) -> list[int]:
    """Return the variables of a cycle in the direction of its arcs, empty if there is none."""
    n_parents = list(map(len, parents))
    children: list[list[int]] = [[] for _ in parents]
    for child, indices in enumerate(parents):
        for parent in indices:
            children[parent].append(child)
    ready = [index for index, number in enumerate(n_parents) if not number]
    for variable in ready:  # grows while it is traversed
        for child in children[variable]:
            n_parents[child] -= 1
            if not n_parents[child]:
                ready.append(child)
    if len(ready) == len(parents):
        return []
    # Every variable that is left has a parent that is left: go back until one comes again.
    left = set(range(len(parents))) - set(ready)
    path: dict[int, None] = {}
    variable = min(left)
    while variable not in path:
        path[variable] = None
        variable = next(parent for parent in parents[variable] if parent in left)
    visited = list(path)
    return [variable, *visited[visited.index(variable) :][::-1]]
