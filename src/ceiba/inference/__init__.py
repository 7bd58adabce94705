"""Confidence intervals of results."""

from ceiba.inference.bootstrap import bootstrap_interval
from ceiba.inference.intervals import (
    Interval,
    clopper_pearson,
    corrected_t_interval,
    t_interval,
    wilson,
)

__all__ = [
    "Interval",
    "bootstrap_interval",
    "clopper_pearson",
    "corrected_t_interval",
    "t_interval",
    "wilson",
]
