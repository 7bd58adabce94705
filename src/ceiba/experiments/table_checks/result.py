"""Results of the checks of a table: plain records that JSON can hold."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ceiba.data.target import Task

Severity = Literal["note", "warning"]
# Names that a sentence lists, and characters of a name that it has.
_MAX_NAMES, _MAX_NAME = 5, 40


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found, and what to do.

    Parameters
    ----------
    check : str
        Name of the check, such as ``"constant"``.
    severity : {"note", "warning"}
        A warning may make every result on the table wrong or useless.
    columns : tuple of str
        The columns that it is about; empty for the whole table or the target.
    text : str
        One or two sentences.

    Examples
    --------
    >>> print(Finding("constant", "note", ("a",), "Column 'a' has one value: leave it out."))
    note: Column 'a' has one value: leave it out.
    """

    check: str
    severity: Severity
    columns: tuple[str, ...]
    text: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.text}"


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """One column of a table.

    Parameters
    ----------
    name : str
    kind : {"numeric", "nominal", "ordinal"}
    dtype : str
        As in `ceiba.data.Column`.
    n_missing, n_distinct : int
        Missing values, and different known values.
    is_identifier : bool
        Whether learners leave the column out, because no category of it can occur again.
    skill : float or None
        How well a small tree of this column alone predicts the target in cross-validation: 0 like
        the most frequent class or the mean, 1 without error. None if it was not computed.
    """

    name: str
    kind: str
    dtype: str
    n_missing: int
    n_distinct: int
    is_identifier: bool = False
    skill: float | None = None


@dataclass(frozen=True, slots=True)
class ClassCount:
    """The number of rows of one class."""

    label: str
    n_rows: int


@dataclass(frozen=True, slots=True)
class TableChecks:
    """The columns of a table, its target, and what the checks found.

    Parameters
    ----------
    target_name : str
    task : {"classification", "regression"}
    n_rows : int
        All rows, those without a target included.
    n_missing_target : int
        Rows without a target, which no check uses.
    columns : tuple of ColumnSummary
    classes : tuple of ClassCount
        Classes with the largest first; empty for a regression.
    findings : tuple of Finding
        Warnings first.
    n_sampled : int
        Rows that predictions and linear dependence were checked on.
    """

    target_name: str
    task: Task
    n_rows: int
    n_missing_target: int
    columns: tuple[ColumnSummary, ...]
    classes: tuple[ClassCount, ...]
    findings: tuple[Finding, ...]
    n_sampled: int

    @property
    def n_known(self) -> int:
        """Rows with a target."""
        return self.n_rows - self.n_missing_target

    @property
    def max_folds(self) -> int:
        """Maximum number of folds in which every class can have a row."""
        return min((count.n_rows for count in self.classes), default=self.n_known)

    def of(self, check: str) -> list[Finding]:
        """Return the findings of one check."""
        return [finding for finding in self.findings if finding.check == check]

    def to_dict(self) -> dict[str, Any]:
        """Return plain dictionaries and lists."""
        return asdict(self)

    def to_json(self) -> str:
        """Return the checks as JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @property
    def sample_text(self) -> str:
        """Sentence on the sample of rows; empty if all rows were used."""
        if self.n_sampled >= self.n_known:
            return ""
        return (
            f"Predictions by one column and linear dependence were checked on a sample of "
            f"{self.n_sampled:,} rows."
        )

    def __str__(self) -> str:
        kinds = [column.kind for column in self.columns]
        counts = ", ".join(f"{kinds.count(kind):,} {kind}" for kind in dict.fromkeys(kinds))
        target = f"target {self.target_name!r}: {self.task}"
        if self.classes:
            target += f", {len(self.classes):,} classes"
        lines = [f"{self.n_rows:,} rows, {len(kinds):,} columns ({counts}); {target}"]
        lines += map(str, self.findings)
        return "\n".join([*lines, *filter(None, [self.sample_text])])


def count_text(n: int, noun: str) -> str:
    """Return a number and its noun: 1 row, 2,000 rows."""
    plural = "classes" if noun == "class" else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def quoted(name: Any) -> str:
    """Return a name in quotation marks, shortened."""
    text = str(name)
    return repr(text if len(text) <= _MAX_NAME else f"{text[: _MAX_NAME - 1]}…")


def listed(names: Sequence[Any], limit: int = _MAX_NAMES) -> str:
    """Return the first names of a list and the number of the others.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcdefg", limit=2)
    ("'a', 'b' and 'c'", "'a', 'b' and 5 more")
    """
    shown = [quoted(name) for name in names[:limit]]
    if len(names) > limit:
        return f"{', '.join(shown)} and {len(names) - limit:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def columns_text(names: Sequence[Any]) -> str:
    """Return text such as "Column 'a' has" or "Columns 'a' and 'b' have"."""
    return f"Column{'s' * (len(names) > 1)} {listed(names)} {'has' if len(names) == 1 else 'have'}"
