"""Confidence intervals of results."""

from ceiba.inference.intervals import Interval, t_interval, wilson

__all__ = ["Interval", "t_interval", "wilson"]
