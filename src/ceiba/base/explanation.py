"""One record for the explanation of a prediction, whatever the learner."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from math import floor, isfinite, log10
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.engine.choose import check_in_memory

FORMAT = "ceiba-explanation-1"
# Columns that a printed explanation shows, with their contributions and shares of distances.
_MAX_COLUMNS, _MAX_SHARES = 12, 6
# Of the cells of a line of neighbors (row, distance, weight, target), the one that is aligned left.
_TARGET_CELL = 3
_MAX_WHOLE = 9  # digits of a whole number that are read more easily than an exponent
_MAX_FIXED, _MAX_DECIMALS = 15, 6  # decimal exponents of contributions without an exponent


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
        Conditions that the row satisfies, from the root of a tree.
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
            values[name] = _array(values[name])
        if (neighbors := values["neighbors"]) is not None:
            values["neighbors"] = Neighbors(
                rows=np.array(neighbors["rows"], np.int64),
                distances=np.array(neighbors["distances"], np.float64),
                weights=np.array(neighbors["weights"], np.float64),
                targets=np.array(neighbors["targets"]),
                votes=None if neighbors["votes"] is None else dict(neighbors["votes"]),
                contributions=_array(neighbors["contributions"]),
            )
        return cls(**values)

    def __str__(self) -> str:
        parts = [self._heading(), *self._path_lines(), *self._contribution_lines()]
        if self.neighbors is not None:
            parts += neighbor_lines(self.neighbors, self.columns)
        # The distances of a mixture are those to the means of its components.
        is_mixture = self.responsibilities is not None
        heading = "component  Mahalanobis distance" if is_mixture else "center  distance"
        parts += _table_lines("component  responsibility", self.responsibilities, descending=True)
        parts += _table_lines(heading, self.distances, descending=False)
        return "\n".join(parts)

    def _heading(self) -> str:
        head = f"prediction: {self.prediction_text()}"
        if self.neighbors is not None and self.neighbors.votes is not None:
            votes = self.neighbors.votes.items()
            return head + f" (votes: {', '.join(f'{c!r} {share:.3f}' for c, share in votes)})"
        if self.probabilities is not None:
            pairs = zip(self.outputs, self.probabilities.tolist(), strict=True)
            return head + f" ({', '.join(f'{c!r} {p:.3f}' for c, p in pairs)})"
        return head

    def _path_lines(self) -> list[str]:
        if not self.path:
            return []
        return ["path:", *(f"  {text}" for text in self.path)]

    def score_name(self, output: int) -> str:
        """Return the name of a score: "log-odds of 'yes'"."""
        return f"{self.score} of {self.outputs[output]!r}" if self.outputs else self.score

    def score_digits(self, output: int) -> int:
        """Return how many digits distinguish a score from its base value, at least four."""
        if self.contributions is None or self.base is None or self.scores is None:
            return 4
        changes, ends = self.contributions[:, output], (self.base[output], self.scores[output])
        return 4 + max(_exponent(ends) - _exponent(changes), 0)

    def prediction_text(self) -> str:
        """Return the prediction as text, a number with as many digits as its score needs."""
        if isinstance(self.prediction, float):
            return format_number(self.prediction, self.score_digits(self.predicted_output))
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
            (self.columns[j], _text(self.values[j], plain=True), float(added[j]))
            for j in shown.tolist()
        ]
        if len(rest):
            others = f"{len(rest)} other column{'s'[: len(rest) - 1]}"
            largest.append((others, "", float(added[rest].sum())))
        return largest

    def _contribution_lines(self) -> list[str]:
        if self.contributions is None or self.base is None or self.scores is None:
            return []
        k = self.predicted_output
        name = self.score_name(k)
        pairs = [
            ("base value", self.base[k]),
            *(
                (f"{column} = {text}" if text else column, value)
                for column, text, value in self.largest_contributions(k, _MAX_COLUMNS)
            ),
            (name, self.scores[k]),
        ]
        form = _contribution_format(self.contributions[:, k], (self.base[k], self.scores[k]))
        width = max(len(text) for text, _ in pairs)
        return [f"contributions to the {name}:"] + [
            f"  {text:<{width}}  {value:{form}}" for text, value in pairs
        ]


def _table_lines(heading: str, numbers: Array | None, *, descending: bool) -> list[str]:
    """Return the numbers of components or centers, the most important ones first."""
    if numbers is None:
        return []
    order = np.argsort(-numbers if descending else numbers, kind="stable")
    return [heading, *(f"  {k:>4}  {numbers[k]:.4g}" for k in order[:_MAX_COLUMNS].tolist())]


def neighbor_lines(neighbors: Neighbors, columns: list[str]) -> list[str]:
    """Return a table of the neighbors, with the shares of up to six columns."""
    names, cells = ["row"], [[str(row)] for row in neighbors.rows]
    for name, numbers, form in (
        ("distance", neighbors.distances, "{:.4g}".format),
        ("weight", neighbors.weights, "{:.3f}".format),
        ("target", neighbors.targets, _text),
    ):
        names.append(name)
        for line, value in zip(cells, numbers.tolist(), strict=True):
            line.append(form(value))
    if (shares := neighbors.contributions) is not None:
        order = np.argsort(-shares.sum(axis=0), kind="stable")
        shown, others = np.sort(order[:_MAX_SHARES]), order[_MAX_SHARES:]
        names += [columns[j] for j in shown] + ["others"] * bool(len(others))
        for line, row_shares in zip(cells, shares, strict=True):
            rest = [row_shares[others].sum()] if len(others) else []
            line += [f"{100 * share:.1f}%" for share in (*row_shares[shown], *rest)]
    lines = [names, *cells]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return [
        "  " + "  ".join(
            cell.ljust(width) if j == _TARGET_CELL else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]  # fmt: skip


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


def _array(value: Any) -> Array | None:
    return None if value is None else np.array(value, np.float64)


def format_number(value: float, digits: int = 4) -> str:
    """Format a number with so many significant digits, and below 1e9 all those of its whole part.

    Examples
    --------
    >>> format_number(1_419_234.5), format_number(0.123456), format_number(1.000123e12, 7)
    ('1419234', '0.1235', '1.000123e+12')
    """
    exponent = _exponent([value])
    return f"{value:.{max(digits, exponent + 1) if exponent < _MAX_WHOLE else digits}g}"


def _exponent(values: Iterable[float]) -> int:
    """Return the decimal exponent of the largest finite number; 0 without one that is not 0."""
    largest = max((abs(value) for value in values if isfinite(value)), default=0.0)
    return floor(log10(largest)) if largest else 0


def _contribution_format(changes: Array, ends: tuple[float, float]) -> str:
    """Return one format for contributions, base value and score, in which they add up.

    Four decimals would hide contributions below 0.001, and 1e12 needs none.
    """
    exponent = _exponent(changes)
    if _exponent(ends) > _MAX_FIXED or exponent < -_MAX_DECIMALS:
        return f"+.{max(_exponent(ends) - exponent, 0) + 3}e"
    return f"+.{4 if -4 < exponent < 4 else max(3 - exponent, 0)}f"


def _text(value: Any, *, plain: bool = False) -> str:
    if isinstance(value, float):
        return format_number(value)
    if value is None and plain:
        return "missing"
    return str(value) if plain else repr(value)
