"""Intervals and tests on results: how sure a number is."""

from ceiba.inference.interval import Interval
from ceiba.inference.mean import t_interval
from ceiba.inference.proportion import wilson

__all__ = ["Interval", "t_interval", "wilson"]
