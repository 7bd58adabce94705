"""Where partitions live and tasks run: the local, chunks and dask engines."""

from ceiba.engine.choose import choose_engine
from ceiba.engine.contract import Batch, Engine, PartitionError, Rows, Statistic
from ceiba.engine.local import LocalEngine

__all__ = [
    "Batch",
    "Engine",
    "LocalEngine",
    "PartitionError",
    "Rows",
    "Statistic",
    "choose_engine",
]
