"""The distribution of each column of naive Bayes, from the parameter of the classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from ceiba.base import ParameterError
from ceiba.bayes.columns import by_column
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
        for name in given.values():
            _check_name(name)
        named = by_column(given, schema.names, "distributions")
    else:
        _check_name(given)
        numeric = [j for j, column in enumerate(schema) if column.kind is Kind.NUMERIC]
        named = {} if given == "auto" else dict.fromkeys(numeric, given)
    return {j: _distribution(named.get(j, "auto"), column) for j, column in enumerate(schema)}


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


def distributions_by_name(schema: Schema, distributions: dict[int, str]) -> dict[str, str]:
    """Return the distribution of each column by its name."""
    return {column.name: distributions[j] for j, column in enumerate(schema)}
