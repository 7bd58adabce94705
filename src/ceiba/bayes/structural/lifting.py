"""Weights of a structure as those of a larger one with the same class posteriors: warm starts."""

from __future__ import annotations

import numpy as np

from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable


def lift(weights: ClassTable, families: Families, columns: tuple[int, ...],
         target: Families, target_columns: tuple[int, ...]) -> ClassTable:  # fmt: skip
    """Return weights of the target families with the log-linear sum of the given ones.

    The table of a pair is added to the table of the same pair in either direction, that of a
    single feature to any table of this feature. Tables without a counterpart in ``families`` are
    zero. What has no table in the target is left out.

    Parameters
    ----------
    weights, families
        The present weights, and the layout of their tables.
    columns, target_columns : tuple of int
        Names of the features of both layouts: column of all features for each of them.
    target : Families
    """
    table = np.zeros((target.n_table_rows, len(weights.bias)))
    targets = [_members(target, family, target_columns) for family in range(len(target.shapes))]
    for family in range(len(families.shapes)):
        members = _members(families, family, columns)
        for index, others in enumerate(targets):
            if set(members) <= set(others):
                view, values = target.view(table, index), families.view(weights.table, family)
                view += _aligned(values, members, others)
                break
    return ClassTable(table, weights.bias.copy())


def _members(families: Families, family: int, columns: tuple[int, ...]) -> tuple[int, ...]:
    structure = families.structure
    return tuple(columns[j] for j in (*structure.parents[family], structure.features[family]))


def _aligned(values: np.ndarray, members: tuple[int, ...], others: tuple[int, ...]) -> np.ndarray:
    """Return values with axes ``members`` (and the class) for broadcasting over axes ``others``."""
    kept = [member for member in others if member in members]
    ordered = np.transpose(values, (*(members.index(member) for member in kept), len(members)))
    shape = iter(ordered.shape)
    sizes = [next(shape) if member in members else 1 for member in others]
    return np.asarray(ordered.reshape(*sizes, ordered.shape[-1]))
