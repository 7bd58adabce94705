"""Events during a mixture fit: components that were reseeded, dropped or reached the floor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ceiba.base import Record

# Rows listed with an event.
MAX_EVENT_ROWS = 10


class CollapsedComponentWarning(UserWarning):
    """A component lost its rows or shrank onto a few of them; see ``fit_events_``."""


class DegenerateColumnWarning(UserWarning):
    """A column is constant: its variance, and so the density, is set by the covariance floor."""


class UnstableChoiceWarning(UserWarning):
    """Another initialization would have selected another number of components."""


@dataclass(frozen=True)
class FitEvent(Record):
    """One event of one component.

    Parameters
    ----------
    kind : {"reseeded", "dropped", "floored"}
        ``"floored"``: a variance of the final component is at the covariance floor.
    iteration : int
        Iteration of the run.
    component : int
        Index of the component at that time, within its group.
    weight : float
        Weight of its rows.
    rows : tuple of int
        The row at which it was reseeded, or the rows with the largest responsibilities of a
        floored component, at most ten.
    group : int
        Index of the group of rows: the class index, in a classifier.
    class_label : str
        The class, in a classifier; empty otherwise.
    """

    kind: Literal["reseeded", "dropped", "floored"]
    iteration: int
    component: int
    weight: float
    rows: tuple[int, ...] = ()
    group: int = 0
    class_label: str = ""

    def __str__(self) -> str:
        owner = f" of class {self.class_label}" if self.class_label else ""
        component = f"component {self.component}{owner}"
        rows = ", ".join(str(row) for row in self.rows)
        lost = f"iteration {self.iteration}: {component} lost its rows (weight {self.weight:.3g})"
        if self.kind == "reseeded":
            return f"{lost} and was reseeded at row {rows}, the row of lowest density"
        if self.kind == "dropped":
            return f"{lost} and was dropped"
        more = ", ..." if len(self.rows) == MAX_EVENT_ROWS else ""
        members = f"mainly row{'s' * (len(self.rows) > 1)} {rows}{more}" if rows else "no main row"
        return f"end: {component} (weight {self.weight:.3g}, {members}) is at the covariance floor"


@dataclass(frozen=True)
class FitEvents(Record, Sequence[FitEvent]):
    """Events of a fit, in order; ``print`` shows one sentence per event.

    Examples
    --------
    >>> print(FitEvents((FitEvent("dropped", 3, 1, 0.001),)))
    iteration 3: component 1 lost its rows (weight 0.001) and was dropped
    >>> print(FitEvents())
    no events: every component kept its rows and stayed above the covariance floor
    """

    events: tuple[FitEvent, ...] = ()

    def __getitem__(self, index: Any) -> Any:
        return self.events[index]

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[FitEvent]:
        return iter(self.events)

    def __str__(self) -> str:
        if not self.events:
            return "no events: every component kept its rows and stayed above the covariance floor"
        return "\n".join(str(event) for event in self.events)
