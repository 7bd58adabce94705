"""Intervals and tests on results: how sure a number is."""

from ceiba.inference.intervals import Interval, t_interval, wilson

__all__ = ["Interval", "t_interval", "wilson"]
