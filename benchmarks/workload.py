"""What is compared: a workload is data, contestants, and what makes their results equal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

Numbers = dict[str, float]


@dataclass(frozen=True)
class Contestant:
    """One way of doing the work.

    Parameters
    ----------
    label : str
        What the table calls it.
    run : callable
        Does the work on its group's data and returns whatever ``Workload.quality`` reads.
    group : str
        Contestants are compared only within a group (the same dtype, the same settings).
    ours : bool
        Ratios are told from the first of ours in a group; its first peer is the reference.
    needs : str
        Top-level module without which it is reported as not installed.
    """

    label: str
    run: Callable[[Any], Any]
    group: str
    ours: bool = False
    needs: str = "sklearn"

    def installed(self) -> bool:
        """Whether its module can be found; nothing is imported."""
        return find_spec(self.needs) is not None


@dataclass(frozen=True)
class Check:
    """A quality number that must agree with the reference's, within a tolerance.

    Parameters
    ----------
    number : str
        Name of the number in what ``Workload.quality`` returns.
    tolerance : float or mapping
        The tolerance, or one a group.
    kind : {"same", "no more", "no less"}
        Equal on both sides, or only not worse: "no more" for costs, "no less" for scores.
    relative : bool
        The tolerance is a share of the reference's number, or else in the number's own unit.
    """

    number: str
    tolerance: float | Mapping[str, float]
    kind: Literal["same", "no more", "no less"] = "same"
    relative: bool = True

    def complaint(self, group: str, value: float | None, reference: float | None) -> str:
        """Why ``value`` fails, or an empty string. NaN and a number left out fail."""
        if reference is None:
            return f"the reference gives no {self.number}"
        if value is None:
            return f"gives no {self.number}"
        allowed = self.tolerance if isinstance(self.tolerance, float) else self.tolerance[group]
        excess = value - reference
        off = {"same": abs(excess), "no more": excess, "no less": -excess}[self.kind]
        # Written so that NaN fails: every comparison with it is false.
        if off <= allowed * (abs(reference) if self.relative else 1.0):
            return ""
        unit = "relative" if self.relative else "absolute"
        return f"{self.number} {value:.9g} against {reference:.9g} (allowed: {allowed:g} {unit})"


@dataclass(frozen=True)
class Workload:
    """Data, peers and ours.

    Parameters
    ----------
    name : str
        As given on the command line; the family comes first, as in ``kmeans-groups``.
    title : str
        One line: what is done, without the number of rows.
    data : callable
        ``data(seed, rows)`` makes the data of every group: a mapping from group to data.
    contestants : tuple of Contestant
        In the order of the table.
    quality : callable
        ``quality(result, data)`` gives the numbers that are shown and checked. It is not timed.
    checks : tuple of Check
        Which of the numbers must agree.
    rows, quick_rows : int
        Size of the data, and its size under ``--quick``.
    calls : int
        How many calls one run makes; times are told a call.
    quick_checks : tuple of Check, optional
        What must agree under ``--quick`` instead, where fewer rows leave more to chance.
    """

    name: str
    title: str
    data: Callable[[int, int], Mapping[str, Any]]
    contestants: tuple[Contestant, ...]
    quality: Callable[[Any, Any], Numbers]
    checks: tuple[Check, ...]
    rows: int
    quick_rows: int
    calls: int = 1
    quick_checks: tuple[Check, ...] | None = None

    def size(self, quick: bool) -> int:
        """Rows of the data."""
        return self.quick_rows if quick else self.rows

    def checked(self, quick: bool) -> tuple[Check, ...]:
        """What must agree."""
        return self.quick_checks if quick and self.quick_checks is not None else self.checks

    def contestant(self, label: str, group: str) -> Contestant:
        """The contestant of that label and group."""
        for each in self.contestants:
            if (each.label, each.group) == (label, group):
                return each
        raise LookupError(f"workload {self.name} has no contestant {label!r} in group {group!r}")
