"""What happened to components during a fit: which one, which rows, what was done."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_MOST_ROWS = 10


class CollapsedComponentWarning(UserWarning):
    """A component lost its rows or shrank onto a few of them; the account says what was done."""


class DegenerateColumnWarning(UserWarning):
    """A column is constant: its variance is the floor's choice, and so is the density's level."""


class StartsDisagreeWarning(UserWarning):
    """Another start would have led to another choice of components."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened to one component.

    Parameters
    ----------
    kind : str
        ``"reseeded"``, ``"dropped"`` or ``"held"`` (at the floor, in the end).
    step : int
        The step of the run.
    component : int
        Its number at that time, within its group.
    weight : float
        Weight of the rows that it had.
    rows : tuple of int
        Where it was started again, or whom it holds: the rows most its own, ten at most.
    group : int
        The group of rows: the place of the class, in a classifier.
    name : str
        The class, in a classifier; empty otherwise.
    """

    kind: str
    step: int
    component: int
    weight: float
    rows: tuple[int, ...] = ()
    group: int = 0
    name: str = ""

    def __str__(self) -> str:
        who = f"component {self.component}" + (f" of class {self.name}" if self.name else "")
        rows = ", ".join(str(row) for row in self.rows)
        if self.kind == "reseeded":
            return (
                f"step {self.step}: {who} was left with rows of weight {self.weight:.3g}; it was "
                f"started again at row {rows}, which the mixture described worst"
            )
        if self.kind == "dropped":
            return (
                f"step {self.step}: {who} was left with rows of weight {self.weight:.3g}; it was "
                "dropped"
            )
        more = ", ..." if len(self.rows) == _MOST_ROWS else ""
        several = len(self.rows) > 1
        whose = f"most its own {'are the rows' if several else 'is row'} {rows}{more}"
        whose = whose if rows else "no row is mostly its own"
        return (
            f"end: {who} (rows of weight {self.weight:.3g}) has shrunk and is held at the floor; "
            f"{whose}"
        )


@dataclass(frozen=True, slots=True)
class Account(Sequence[Event]):
    """The events of a fit, in order; printed, one sentence each.

    Examples
    --------
    >>> print(Account((Event("dropped", 3, 1, 0.001),)))
    step 3: component 1 was left with rows of weight 0.001; it was dropped
    >>> print(Account())
    nothing happened: every component kept its rows and its extent
    """

    events: tuple[Event, ...] = ()

    def __getitem__(self, place: Any) -> Any:
        return self.events[place]

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)

    def __str__(self) -> str:
        if not self.events:
            return "nothing happened: every component kept its rows and its extent"
        return "\n".join(str(event) for event in self.events)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file."""
        return {"events": [{**asdict(e), "rows": list(e.rows)} for e in self.events]}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Account:
        """The account that `to_json` wrote."""
        events = [{**event, "rows": tuple(event["rows"])} for event in record["events"]]
        return cls(tuple(Event(**event) for event in events))
