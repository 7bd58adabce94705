"""Scores of a split by each column: information gain, gain ratio and Gini decrease."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.stats import LabeledRows, ToLabeledRows
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.compare.table import NamedRows, align_columns
from ceiba.tree.explain.conditions import format_threshold
from ceiba.tree.partition import partition_scores

_MISSING = -1
_HEADINGS = ("branches", "threshold", "entropy", "gini", "gain", "gain ratio", "gini decrease")


@dataclass(frozen=True, slots=True)
class ColumnScore:
    """Scores of the split of all rows by one column, or by several together.

    Parameters
    ----------
    name : str
        Name of the column; of several, joined by " & ".
    n_branches : int
    threshold : number, category, None or tuple
        Best threshold of a numeric or ordinal column; None for a nominal one; a tuple of these for
        several columns.
    entropy, gini : float
        Impurity of all rows with a value, before the split; entropy in bits.
    information_gain : float
        Decrease of the entropy, times the fraction of the weight that has a value.
    gain_ratio : float
        Gain divided by the entropy of the branches (C4.5), in which missing values are a branch of
        their own; 0 if there is a single branch.
    gini_decrease : float
        Decrease of the Gini impurity, times the same fraction.
    """

    name: str
    n_branches: int
    threshold: Any
    entropy: float
    gini: float
    information_gain: float
    gain_ratio: float
    gini_decrease: float

    def cells(self, threshold: str) -> list[str]:
        """Return the cells of a printed line."""
        numbers = (
            self.entropy, self.gini, self.information_gain, self.gain_ratio, self.gini_decrease,
        )  # fmt: skip
        return [
            self.name, str(self.n_branches), threshold, *(f"{number:.4f}" for number in numbers)
        ]  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class SplitScores(NamedRows):
    """Scores of all columns, in their order; prints as aligned text.

    ``scores["outlook"]`` is the row of a column.

    Parameters
    ----------
    rows : tuple of ColumnScore
    texts : tuple of str
        Thresholds as text.
    """

    texts: tuple[str, ...]

    def __str__(self) -> str:
        lines = [row.cells(text) for row, text in zip(self.rows, self.texts, strict=True)]
        return align_columns([["", *_HEADINGS], *lines], right=True)

    def to_pandas(self) -> Any:
        """Return the table as a pandas DataFrame, with the names as index."""
        import pandas as pd

        fields = [field for field in ColumnScore.__dataclass_fields__ if field != "name"]
        data = {field: [getattr(row, field) for row in self.rows] for field in fields}
        return pd.DataFrame(data, index=[row.name for row in self.rows])


def split_scores(
    X: Any,
    y: Any,
    *,
    joint: Sequence[str] | Sequence[Sequence[str]] | None = None,
    sample_weight: Any = None,
) -> SplitScores:
    """Score a split of all rows by each column.

    A nominal column has a branch for each of its categories that occurs. A numeric or ordinal
    column is split in two at the threshold of maximum information gain, which all its scores refer
    to. Rows without a value are left out of the impurities.

    Parameters
    ----------
    X : array, frame, Table or list
        Rows in memory.
    y : array of shape (n_rows,)
        Classes.
    joint : list of str, or list of lists of str, optional
        Columns to be tested together, in addition: a branch for each combination of their branches
        that occurs. ``joint=["outlook", "windy"]`` is one such test; a list of lists is several.
    sample_weight : array of shape (n_rows,), optional

    Returns
    -------
    SplitScores

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.tree import split_scores
    >>> weather = datasets.load("weather_nominal")
    >>> scores = split_scores(weather.table, weather.y, joint=["outlook", "windy"])
    >>> print(scores)
                     branches  threshold  entropy    gini    gain  gain ratio  gini decrease
    outlook                 3              0.9403  0.4592  0.2467      0.1564         0.1163
    temperature             3              0.9403  0.4592  0.0292      0.0188         0.0187
    humidity                2              0.9403  0.4592  0.1518      0.1518         0.0918
    windy                   2              0.9403  0.4592  0.0481      0.0488         0.0306
    outlook & windy         6              0.9403  0.4592  0.6007      0.2349         0.2925
    >>> round(scores["outlook"].information_gain, 4)
    0.2467

    References
    ----------
    Quinlan (1986), "Induction of decision trees", Machine Learning 1.
    """
    rows = ToLabeledRows("classification")(Chunk(Table.of(X), y, sample_weight))
    groups = _groups(joint, rows.table)
    columns = [_SplitColumn.of(rows, j) for j in range(len(rows.table.schema))]
    tests = [[column] for column in columns]
    tests += [[columns[j] for j in group] for group in groups]
    scores = tuple(_score(test, rows) for test in tests)
    return SplitScores(scores, tuple(", ".join(c.text for c in test if c.text) for test in tests))


@dataclass(frozen=True, slots=True, eq=False)
class _SplitColumn:
    """A column with the branch of each row, -1 where it has no value."""

    name: str
    branch: Array
    threshold: Any
    text: str

    @classmethod
    def of(cls, rows: LabeledRows, j: int) -> _SplitColumn:
        """Split a column: by categories, or at the threshold of maximum information gain."""
        table, column = rows.table, rows.table.schema[j]
        if column.kind is Kind.NOMINAL:
            return cls(column.name, table.column(j), None, "")
        missing = table.missing_mask(j)
        masks = {} if missing is None else {0: missing}
        single = Table.from_columns([table.column(j)], Schema((column,)), masks)
        # Missing values do not enter the gain of a fractional split.
        stump = DecisionTreeClassifier(criterion="entropy", max_depth=1, missing="fractional")
        stump.fit(single, rows.target.values, sample_weight=rows.weight)
        branch = np.maximum(stump.apply(single) - 1, 0)  # of the leaves 1 and 2, or the root 0
        if missing is not None:
            branch[missing] = _MISSING
        if stump.tree_.n_nodes == 1:
            return cls(column.name, branch, None, "")
        threshold = stump.tree_.split(0).threshold
        return cls(column.name, branch, threshold, format_threshold(threshold, column, 3))


def _score(columns: Sequence[_SplitColumn], rows: LabeledRows) -> ColumnScore:
    branches = np.stack([column.branch for column in columns])
    known = (branches >= 0).all(axis=0)
    _, branch = np.unique(branches[:, known], axis=1, return_inverse=True)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    assert rows.target.classes is not None
    shape = int(branch.max(initial=0)) + 1, len(rows.target.classes)
    cell = np.ravel_multi_index((branch.reshape(-1), rows.target.values[known]), shape)
    sums = np.bincount(cell, weight[known], minlength=shape[0] * shape[1])
    scores, total = partition_scores(sums.reshape(shape)), float(weight.sum())
    fraction = scores.weight / total
    gain = fraction * scores.information_gain
    shares = np.append(scores.branch_weights, total - scores.weight) / total
    split_entropy = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
    thresholds = tuple(column.threshold for column in columns)
    return ColumnScore(
        name=" & ".join(column.name for column in columns),
        n_branches=int((scores.branch_weights > 0).sum()),
        threshold=thresholds if len(columns) > 1 else thresholds[0],
        entropy=scores.root_entropy,
        gini=scores.root_gini,
        information_gain=gain,
        gain_ratio=gain / split_entropy if split_entropy > 0 else 0.0,
        gini_decrease=fraction * scores.gini_decrease,
    )


def _groups(joint: Any, table: Table) -> list[list[int]]:
    """Return the indices of the columns of each group that is tested together."""
    if joint is None:
        return []
    rule = "joint must be a list of at least two different columns, or a list of such lists"
    if isinstance(joint, str):
        raise ValueError(f"{rule}, got {joint!r}.")
    is_flat = all(isinstance(item, str | int | np.integer) for item in joint)
    groups = [[_index(name, table) for name in group] for group in ([joint] if is_flat else joint)]
    if any(len(group) < 2 or len(set(group)) < len(group) for group in groups):
        raise ValueError(f"{rule}, got {joint!r}.")
    return groups


def _index(name: Any, table: Table) -> int:
    names = table.schema.names
    if isinstance(name, str) and name in names:
        return names.index(name)
    if isinstance(name, int | np.integer) and 0 <= name < len(names):
        return int(name)
    raise ValueError(f"joint must have names or indices of columns of X, {names!r}, got {name!r}.")
