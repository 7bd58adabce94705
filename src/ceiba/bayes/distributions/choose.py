"""The distribution of each column of naive Bayes, from the parameter of the classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from ceiba.base import ParameterError
from ceiba.data.schema import Kind, Schema

Distribution = Literal["categorical", "discretized", "gaussian", "kernel", "mixture", "poisson"]
NAMES: tuple[str, ...] = get_args(Distribution)
# Distributions of category codes, which are tables of a network.
CODED = ("categorical", "discretized")


def choose_distributions(given: Any, schema: Schema) -> dict[int, str]:
    """Return the distribution of each column, by index.

    One name is that of all numeric columns; a mapping may leave columns out. Columns of categories
    are categorical, numeric ones discretized by default. Raise `ParameterError` for a distribution
    that the kind of a column does not have.
    """
    if isinstance(given, Mapping):
        named = by_column(given, schema, "distributions")
        for name in named.values():
            _check_name(name)
    else:
        _check_name(given)
        numeric = [j for j, column in enumerate(schema) if column.kind is Kind.NUMERIC]
        named = {} if given == "auto" else dict.fromkeys(numeric, given)
    return {j: _distribution(named.get(j, "auto"), column) for j, column in enumerate(schema)}


def by_column(given: Mapping[Any, Any], schema: Schema, parameter: str) -> dict[int, Any]:
    """Return a mapping from names or indices of columns as one from indices."""
    names = schema.names
    found = {}
    for key, value in given.items():
        if isinstance(key, str) and key not in names:
            raise ParameterError(
                f"The keys of {parameter} must be columns of X ({', '.join(names)}), got {key!r}."
            )
        index = names.index(key) if isinstance(key, str) else int(key)
        if not 0 <= index < len(names):
            raise ParameterError(
                f"The keys of {parameter} must be indices below {len(names)}, got {key!r}."
            )
        found[index] = value
    return found


def _check_name(name: Any) -> None:
    if name not in (*NAMES, "auto"):
        raise ParameterError(
            f"distributions must be 'auto', one of {', '.join(map(repr, NAMES))}, or a mapping "
            f"from columns to these, got {name!r}."
        )


def _distribution(name: str, column: Any) -> str:
    """Return the distribution of a column; raise for one that its kind does not have."""
    if column.kind is Kind.NUMERIC:
        if name == "categorical":
            raise ParameterError(
                f"distributions must be 'discretized' or a density for column {column.name!r}, "
                "which is numeric, got 'categorical': declare the column as nominal "
                "(Table.of(X, kinds=...)) if its numbers are labels."
            )
        return "discretized" if name == "auto" else name
    if name not in ("auto", "categorical"):
        raise ParameterError(
            f"distributions must be 'categorical' for column {column.name!r}, which is "
            f"{column.kind.value}, got {name!r}."
        )
    return "categorical"
