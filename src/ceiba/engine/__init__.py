"""Engines that run learners: local, chunks (files larger than memory) and dask."""

from ceiba.engine.choose import choose_engine
from ceiba.engine.contract import (
    AdditiveStatistic,
    Batch,
    Engine,
    ExactStatistic,
    PartitionError,
    Rows,
    Statistic,
)
from ceiba.engine.local import LocalEngine

__all__ = [
    "AdditiveStatistic",
    "Batch",
    "Engine",
    "ExactStatistic",
    "LocalEngine",
    "PartitionError",
    "Rows",
    "Statistic",
    "choose_engine",
]
