"""Structures given as arcs between columns, and conditions on structures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ceiba.base import ParameterError
from ceiba.bayes.columns import column_index
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.families import Structure


def given_structure(arcs: Iterable[Any], encoding: CategoryEncoding) -> Structure:
    """Return the structure of given (parent, child) arcs between columns.

    Arcs of columns with one category, which are left out of the model, are left out too.

    Parameters
    ----------
    arcs : iterable of pairs
        Names or indices of columns.
    encoding : CategoryEncoding
    """
    names = encoding.schema.names
    features = {column: j for j, column in enumerate(encoding.columns.tolist())}
    parents: dict[int, list[int]] = {}
    for arc in arcs:
        is_sequence = isinstance(arc, Sequence | np.ndarray) and not isinstance(arc, str)
        if not is_sequence or len(arc) != 2:
            raise ParameterError(
                f"structure must have pairs (parent, child) of columns as arcs, got {arc!r}."
            )
        parent, child = (column_index(column, names, "The arcs of structure") for column in arc)
        if parent in parents.setdefault(child, []):
            raise ParameterError(
                f"structure must have every arc once, got {names[parent]!r} -> {names[child]!r} "
                "twice."
            )
        parents[child].append(parent)
    _check_acyclic(parents, names)
    feature_arcs = [
        (features[parent], features[child])
        for child, several in parents.items()
        for parent in several
        if parent in features and child in features
    ]
    return Structure.of_arcs(tuple(range(encoding.n_features)), feature_arcs)


def _check_acyclic(parents: dict[int, list[int]], names: Sequence[str]) -> None:
    done: set[int] = set()
    for start in parents:
        path: list[int] = []
        stack = [(start, iter(parents[start]))]
        path.append(start)
        while stack:
            node, rest = stack[-1]
            parent = next(rest, None)
            if parent is None:
                stack.pop()
                path.pop()
                done.add(node)
            elif parent in path:
                cycle = [*path[path.index(parent) :], parent][::-1]
                raise ParameterError(
                    "structure must not have a cycle, got "
                    f"{' -> '.join(repr(names[j]) for j in cycle)}."
                )
            elif parent not in done:
                path.append(parent)
                stack.append((parent, iter(parents.get(parent, []))))


def check_graph_condition(structure: Structure, names: Sequence[str]) -> None:
    """Raise `ParameterError` unless discriminative training has no local maxima.

    Each feature must have a parent that is itself a child of its other parents (Roos et al. 2005).
    """
    for family, feature in enumerate(structure.features):
        if not structure.has_containing_family(family):
            parents = [names[parent] for parent in structure.parents[family]]
            raise ParameterError(
                f"training='tm' requires that one parent of column {names[feature]!r} is a child "
                f"of its other parents, got the parents {parents} without such arcs between them: "
                "add the arcs to structure, or use training='ml'."
            )


def check_forest(structure: Structure, names: Sequence[str]) -> None:
    """Raise ValueError unless missing values of training rows can be summed over."""
    for feature, parents in zip(structure.features, structure.parents, strict=True):
        if len(parents) > 1:
            raise ValueError(
                "missing='marginal' requires that every column has at most one parent where values "
                f"are missing in training, got {[names[p] for p in parents]} as parents of "
                f"{names[feature]!r}: use missing='category', or one parent per column."
            )
