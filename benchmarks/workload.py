"""Workloads: the data, the implementations, and the checks that make results comparable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

Metrics = dict[str, float]


@dataclass(frozen=True)
class Implementation:
    """One library's way to do the work.

    Parameters
    ----------
    label : str
        Its name in the table.
    run : callable
        Does the work on the data of its group and returns the argument of ``Workload.quality``.
    group : str
        Only implementations of the same group are compared (same dtype, same settings).
    ours : bool
        Whether it is Ceiba's. Ratios refer to the first of ours in a group; the first peer of a
        group is the reference of its checks.
    module : str
        Top-level module it imports; without it, the status is "not installed".
    """

    label: str
    run: Callable[[Any], Any]
    group: str
    ours: bool = False
    module: str = "sklearn"

    def is_installed(self) -> bool:
        """Return whether its module can be found, without importing it."""
        return find_spec(self.module) is not None


@dataclass(frozen=True)
class Check:
    """A metric that must agree with the reference's within a tolerance.

    Parameters
    ----------
    metric : str
        Key of the metric in the result of ``Workload.quality``.
    tolerance : float or mapping
        The tolerance, or one per group.
    kind : {"equal", "at most", "at least"}
        Two-sided, or only not worse: "at most" for costs, "at least" for scores.
    relative : bool
        Whether the tolerance is a fraction of the reference's value or in the metric's own unit.
    """

    metric: str
    tolerance: float | Mapping[str, float]
    kind: Literal["equal", "at most", "at least"] = "equal"
    relative: bool = True

    def failure(self, group: str, value: float | None, reference: float | None) -> str:
        """Return why ``value`` fails, or an empty string. NaN and absent metrics fail."""
        if reference is None:
            return f"the reference has no {self.metric}"
        if value is None:
            return f"no {self.metric}"
        tolerance = self.tolerance if isinstance(self.tolerance, float) else self.tolerance[group]
        excess = value - reference
        error = {"equal": abs(excess), "at most": excess, "at least": -excess}[self.kind]
        # Written so that NaN fails: every comparison with it is false.
        if error <= tolerance * (abs(reference) if self.relative else 1.0):
            return ""
        unit = "relative" if self.relative else "absolute"
        return (
            f"{self.metric} {value:.9g}, reference {reference:.9g} (tolerance {tolerance:g} {unit})"
        )


@dataclass(frozen=True)
class Workload:
    """Data, the implementations to compare on it, and the checks of their results.

    Parameters
    ----------
    name : str
        As given on the command line; it starts with the family, as in ``kmeans-blobs``.
    title : str
        One line that describes the work, without the number of rows.
    make_data : callable
        ``make_data(seed, n_rows)`` returns a mapping from group to data.
    implementations : tuple of Implementation
        In the order of the table.
    quality : callable
        ``quality(result, data)`` returns the metrics that are printed and checked. Not timed.
    checks : tuple of Check
        The metrics that must agree.
    n_rows, quick_n_rows : int
        Size of the data, and its size with ``--quick``.
    n_calls : int
        Number of calls in one run; printed times are per call.
    quick_checks : tuple of Check, optional
        Checks that replace ``checks`` with ``--quick``, where fewer rows leave more to chance.
    """

    name: str
    title: str
    make_data: Callable[[int, int], Mapping[str, Any]]
    implementations: tuple[Implementation, ...]
    quality: Callable[[Any, Any], Metrics]
    checks: tuple[Check, ...]
    n_rows: int
    quick_n_rows: int
    n_calls: int = 1
    quick_checks: tuple[Check, ...] | None = None

    def size(self, quick: bool) -> int:
        """Return the number of rows."""
        return self.quick_n_rows if quick else self.n_rows

    def active_checks(self, quick: bool) -> tuple[Check, ...]:
        """Return the checks that apply."""
        return self.quick_checks if quick and self.quick_checks is not None else self.checks

    def find(self, label: str, group: str) -> Implementation:
        """Return the implementation with this label in this group."""
        for each in self.implementations:
            if (each.label, each.group) == (label, group):
                return each
        raise LookupError(f"Workload {self.name} has no {label!r} in group {group!r}.")
