"""One record for the explanation of a prediction, whatever the learner."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base.explanation_text import (
    decimal_exponent,
    explanation_text,
    format_significant,
    value_text,
)
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.engine.choose import check_in_memory

FORMAT = "ceiba-explanation-1"


@dataclass(frozen=True, slots=True, eq=False)
class Neighbors:
    """The nearest training rows of a row.

    Parameters
    ----------
    rows : ndarray of int64 of shape (k,)
        Numbers of the neighbors among the training rows.
    distances : ndarray of shape (k,)
    weights : ndarray of shape (k,)
        Of the neighbors; they add up to 1, unless no neighbor has a known column in common with
        the row.
    targets : ndarray of shape (k,)
        Classes or numbers of the neighbors.
    votes : dict or None
        Share of the votes of each class; None for a regression.
    contributions : ndarray of shape (k, n_columns) or None
        Share of each column in the sum that the distance is, after powers; rows add up to 1, and
        to 0 at distance zero. None where the distance is not a sum over the columns, or where the
        training rows stay in files.
    """

    rows: Array
    distances: Array
    weights: Array
    targets: Array
    votes: dict[Any, float] | None = None
    contributions: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """What a prediction for one row comes from.

    Fields that have no meaning for a learner are None, or empty lists or texts.
    ``base + contributions.sum(axis=0)`` equals ``scores``, up to rounding.

    Parameters
    ----------
    learner : str
        Name of the class.
    prediction : object
        The predicted class or number; number of the cluster or component.
    columns : list of str
    values : list
        The row: numbers, categories, None where missing.
    score : str
        What the scores are, such as "probability"; empty without scores.
    outputs : list
        Class, component or cluster of each score; empty for a single number.
    scores : ndarray of shape (n_outputs,) or None
        Of trees and their ensembles, the predicted probabilities, numbers or raw scores; of other
        learners, the base value and the contributions added up.
    base : ndarray of shape (n_outputs,) or None
        Score before any column is known.
    contributions : ndarray of shape (n_columns, n_outputs) or None
        What each column adds to the scores.
    probabilities : ndarray of shape (n_outputs,) or None
    path : list of str
        Conditions that the row satisfies, from the root of a tree; a missing value, or a category
        that was not seen in training, satisfies "... or missing".
    neighbors : Neighbors or None
    responsibilities : ndarray of shape (n_components,) or None
        Probability of each component.
    distances : ndarray of shape (n_clusters,) or None
        Distance to each center; of a mixture, Mahalanobis distance to each component's mean.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> weather = datasets.load("weather_nominal")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(weather.table, weather.y)
    >>> explanation = model.explain(weather.table.take([0]))
    >>> explanation.prediction, len(explanation.path)
    ('no', 2)
    >>> Explanation.from_json(explanation.to_json()).prediction
    'no'
    """

    learner: str
    prediction: Any
    columns: list[str]
    values: list[Any]
    score: str = ""
    outputs: list[Any] = field(default_factory=list)
    scores: Array | None = None
    base: Array | None = None
    contributions: Array | None = None
    probabilities: Array | None = None
    path: list[str] = field(default_factory=list)
    neighbors: Neighbors | None = None
    responsibilities: Array | None = None
    distances: Array | None = None

    @classmethod
    def of(cls, learner: Any, table: Table, prediction: Any, **parts: Any) -> Self:
        """Return the explanation of a learner's prediction for the only row of a table."""
        return cls(
            learner=type(learner).__name__,
            prediction=prediction.item() if isinstance(prediction, np.generic) else prediction,
            columns=list(table.schema.names),
            values=row_values(table),
            **parts,
        )

    @property
    def predicted_output(self) -> int:
        """Index of the score of the prediction; 0 for a single number."""
        return self.outputs.index(self.prediction) if self.prediction in self.outputs else 0

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values of JSON; the keys are the same for all learners."""
        values = {entry.name: _plain(getattr(self, entry.name)) for entry in fields(self)}
        if self.neighbors is not None:
            values["neighbors"] = {
                entry.name: _plain(getattr(self.neighbors, entry.name))
                for entry in fields(self.neighbors)
            }
        return {"format": FORMAT, **values}

    def to_json(self, **options: Any) -> str:
        """Return the explanation as JSON text; options are those of `json.dumps`.

        The score of a class that is impossible is written as -Infinity, as `json` does.
        """
        return json.dumps(self.to_dict(), **options)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the explanation that `to_json` wrote; raise ValueError for other text."""
        values = json.loads(text)
        names = {entry.name for entry in fields(cls)}
        if not isinstance(values, dict) or values.pop("format", None) != FORMAT:
            raise ValueError(f"text must be an explanation with format {FORMAT!r}.")
        if values.keys() != names:
            different = ", ".join(sorted(values.keys() ^ names))
            raise ValueError(
                f"text must have the fields of an Explanation, differs in {different}."
            )
        for name in (
            "scores", "base", "contributions", "probabilities", "responsibilities", "distances"
        ):  # fmt: skip
            values[name] = _read(name, values[name], _array)
        if values["neighbors"] is not None:
            values["neighbors"] = _read_neighbors(values["neighbors"])
        return cls(**values)

    def __str__(self) -> str:
        return explanation_text(self)

    def score_name(self, output: int) -> str:
        """Return the name of a score: "log-odds of 'yes'"."""
        return f"{self.score} of {self.outputs[output]!r}" if self.outputs else self.score

    def score_digits(self, output: int) -> int:
        """Return how many digits distinguish a score from its base value, at least four."""
        if self.contributions is None or self.base is None or self.scores is None:
            return 4
        changes, ends = self.contributions[:, output], (self.base[output], self.scores[output])
        return 4 + max(decimal_exponent(ends) - decimal_exponent(changes), 0)

    def prediction_text(self) -> str:
        """Return the prediction as text, a number with as many digits as its score needs."""
        if isinstance(self.prediction, float):
            return format_significant(self.prediction, self.score_digits(self.predicted_output))
        return repr(self.prediction)

    def largest_contributions(self, output: int, max_columns: int) -> list[tuple[str, str, float]]:
        """Return what columns add to one score: name, text of the value, and number.

        The largest are first. Columns that add nothing are left out, and those after
        ``max_columns`` are summed.
        """
        assert self.contributions is not None
        added = self.contributions[:, output]
        order = np.argsort(-np.abs(added), kind="stable")
        order = order[added[order] != 0]
        shown, rest = order[:max_columns], order[max_columns:]
        largest = [
            (self.columns[j], value_text(self.values[j], plain=True), float(added[j]))
            for j in shown.tolist()
        ]
        if len(rest):
            others = f"{len(rest)} other column{'s'[: len(rest) - 1]}"
            largest.append((others, "", float(added[rest].sum())))
        return largest


def explained_row(learner: Any, X: Any) -> Table:
    """Return one row under the schema of a fitted learner; raise for others, and for files."""
    check_is_fitted(learner)
    table, _ = explained_table(learner, X, "explain")
    check_one_row(table)
    return table


def explained_table(learner: Any, X: Any, name: str) -> tuple[Table, int]:
    """Return rows under the schema of a fitted learner, and the number of threads.

    ``name`` is that of the method or parameter in the error for rows that are not in memory.
    """
    check_in_memory(name, X)
    engine, source = learner._open_source(X, reset=False)
    return source.partitions[0].load().table, engine.threads


def check_one_row(table: Table) -> None:
    """Raise ValueError unless a table has one row."""
    if len(table) != 1:
        raise ValueError(f"X must be one row, got {len(table)}: pass X[i : i + 1].")


def row_values(table: Table) -> list[Any]:
    """Return the only row of a table: numbers, categories, None where missing."""
    values: list[Any] = []
    for j, column in enumerate(table.schema):
        cell, missing = table.column(j)[0], table.missing_mask(j)
        if column.kind is not Kind.NUMERIC:
            values.append(column.categories[int(cell)] if cell >= 0 else None)
        elif missing is not None and missing[0]:
            values.append(None)
        else:
            values.append(str(cell) if column.temporal else cell.item())
    return values


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, dict):  # keys may be numbers
        return [[_plain(key), _plain(entry)] for key, entry in value.items()]
    return [_plain(entry) for entry in value] if isinstance(value, list) else value


def _read_neighbors(values: Any) -> Neighbors:
    """Return neighbors from values of JSON; raise ValueError for other values."""
    names = [entry.name for entry in fields(Neighbors)]
    if not isinstance(values, dict) or set(values) != set(names):
        raise ValueError(f"neighbors must have the fields {', '.join(names)}, got {values!r:.60}.")
    readers: dict[str, Callable[[Any], Any]] = {
        "rows": _integers, "distances": _floats, "weights": _floats, "targets": np.array,
        "votes": _votes, "contributions": _array,
    }  # fmt: skip
    return Neighbors(**{name: _read(name, values[name], readers[name]) for name in names})


def _read(name: str, value: Any, reader: Callable[[Any], Any]) -> Any:
    """Return a field from a value of JSON; raise ValueError that names it for other values."""
    try:
        return reader(value)
    except (OverflowError, TypeError, ValueError):
        raise ValueError(f"{name} must be as to_json() writes it, got {value!r:.60}.") from None


def _array(value: Any) -> Array | None:
    return None if value is None else _floats(value)


def _floats(value: Any) -> Array:
    array = np.array(value, np.float64)
    if not array.ndim:
        raise ValueError("a number is not a list of numbers")
    return array


def _integers(value: Any) -> Array:
    array = np.array(value, np.int64)
    if array.ndim != 1:
        raise ValueError("row numbers must be a list of integers")
    return array


def _votes(value: Any) -> dict[Any, float] | None:
    return None if value is None else dict(value)
