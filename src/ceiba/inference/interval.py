"""An estimate and the interval in which the true number lies with a stated confidence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Parameters
    ----------
    estimate : float
    lower, upper : float
        Ends of the interval.
    level : float
        Its confidence, as 0.95.

    Examples
    --------
    >>> print(Interval(0.25, 0.125, 0.5, 0.95))
    0.25 [0.125, 0.5]
    >>> 0.3 in Interval(0.25, 0.125, 0.5, 0.95)
    True
    """

    estimate: float
    lower: float
    upper: float
    level: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.lower:.4g}, {self.upper:.4g}]"


def check_level(level: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: a confidence lies between 0 and 1, as 0.95")
