"""What runs on the workers: load partitions, summarize them, merge their statistics."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ceiba.data.source import Chunk
from ceiba.engine.contract import Batch, ExactStatistic, R, T
from ceiba.engine.dask.blocks import Block
from ceiba.engine.dask.source import BlockReader, check_lengths
from ceiba.engine.local import inside_task
from ceiba.engine.merging import PartialMerge, TotalMerge

# Index, rows (None if there are none) and number of the first row of a partition.
LoadedPartition = tuple[int, Chunk | None, int]

# How often a partition that could not be loaded is loaded again: reads from a shared store may fail
# temporarily. The pause before it doubles each time.
RETRIES = 2
_PAUSE_SECONDS = 0.2
# Unmerged statistics above this number travel as one string of bytes. Each of their arrays would
# be a message of its own, which takes longer than copying them.
_MAX_SEPARATE = 4


class PartitionTaskError(Exception):
    """The partition with an index raised an error; None if merging statistics did."""

    def __init__(self, index: int | None, error: Exception) -> None:
        super().__init__(index, error)
        self.index, self.error = index, error


@contextmanager
def _errors_of(index: int | None) -> Iterator[None]:
    """Raise errors of the block with the index of the partition."""
    try:
        yield
    except Exception as error:
        raise PartitionTaskError(index, error.with_traceback(None)) from None


class UnpackError(RuntimeError):
    """A function, a model or a block could not be unpickled, as where a module is missing."""


@dataclass(frozen=True, slots=True)
class PartitionFunction:
    """Function of one pass for every partition; it is sent to a worker once."""

    prepare: Callable[[Chunk], Any]
    function: Callable[..., Any]
    model: tuple[Any, ...]
    n_partitions: int

    def __call__(self, index: int, chunk: Chunk, first_row: int) -> Any:
        """Return the result of one partition with rows; errors have its index."""
        with _errors_of(index):
            return self.function(Batch(self.prepare(chunk), first_row), *self.model)

    def add_to(self, total: ExactStatistic, index: int, chunk: Chunk, first_row: int) -> None:
        """Add one partition with rows to an exact statistic; errors have its index."""
        with _errors_of(index):
            total.add(Batch(self.prepare(chunk), first_row), *self.model)


@dataclass(frozen=True, slots=True)
class CachedPartition:
    """A partition on its worker: its rows if they are loaded, else the block that computes them.

    ``loaded`` is a tuple, so that it can also contain None (no rows) or an error.
    """

    index: int
    reader: BlockReader
    block: Block
    loaded: tuple[Chunk | Exception | None] | None = None

    def load(self, inputs: Sequence[Any]) -> Chunk | None:
        """Return the chunk, or None if it has no rows; errors have the index of the partition."""
        if self.loaded is None:
            return self._load(inputs)
        (chunk,) = self.loaded
        if isinstance(chunk, Exception):
            raise PartitionTaskError(self.index, chunk)
        return chunk

    def with_rows(self, inputs: Sequence[Any]) -> CachedPartition:
        """Return the partition with its rows, or with the error of loading them."""
        chunk: Chunk | Exception | None
        try:
            chunk = self._load(inputs)
        except PartitionTaskError as failed:
            chunk = failed.error
        return CachedPartition(self.index, self.reader, Block((), (), ()), (chunk,))

    def _load(self, inputs: Sequence[Any]) -> Chunk | None:
        for attempt in range(RETRIES + 1):
            try:
                parts = self.block.run(inputs)
                check_lengths(*parts)
                return self.reader(*parts) if len(parts[0]) else None
            except Exception as error:
                # Invalid values are invalid in another run, too.
                if attempt == RETRIES or isinstance(error, ValueError):
                    raise PartitionTaskError(self.index, error.with_traceback(None)) from None
            time.sleep(_PAUSE_SECONDS * 2**attempt)
        raise AssertionError


def pack(value: Any) -> bytes:
    """Return a pickle, which the scheduler passes on without reading it."""
    from distributed.protocol import pickle

    packed: bytes = pickle.dumps(value)
    return packed


def unpack(packed: bytes) -> Any:
    """Return the object of a pickle."""
    from distributed.protocol import pickle

    try:
        return pickle.loads(packed)
    except Exception as error:
        raise UnpackError(
            "A Dask worker cannot load what a fit sends to it: install the same packages there as "
            f"in this process. {type(error).__name__}: {error}"
        ) from None


def cache_partitions(packed: bytes, inputs: list[list[Any]] | None) -> list[CachedPartition]:
    """Return the partitions of a pickle, for all passes; with their rows if there are inputs."""
    partitions: list[CachedPartition] = unpack(packed)
    if inputs is None:
        return partitions
    with inside_task():
        return [part.with_rows(values) for part, values in zip(partitions, inputs, strict=True)]


def run_partitions(
    function: PartitionFunction,
    cached: list[CachedPartition],
    first_rows: Sequence[int],
    inputs: list[list[Any]] | None,
    combine: Callable[[PartitionFunction, Iterable[LoadedPartition]], Any],
) -> Any:
    """Load some partitions one after another and ``combine`` their results."""
    given = [()] * len(cached) if inputs is None else inputs
    with inside_task():
        loaded = (
            (part.index, part.load(values), first_row)
            for part, values, first_row in zip(cached, given, first_rows, strict=True)
        )
        return combine(function, loaded)


# The three values of ``combine`` follow.


def merge_in_row_order(function: PartitionFunction, loaded: Iterable[LoadedPartition]) -> Any:
    """Summarize partitions and merge as far as their order allows."""
    merged: PartialMerge[Any] = PartialMerge(function.n_partitions)
    for index, chunk, first_row in loaded:
        statistic = None if chunk is None else function(index, chunk, first_row)
        with _errors_of(None):
            merged.add(index, statistic)
    return _pack_many(merged)


def add_up(function: PartitionFunction, loaded: Iterable[LoadedPartition]) -> TotalMerge[Any]:
    """Add partitions to one exact statistic."""
    merged: TotalMerge[Any] = TotalMerge(function.n_partitions)
    for index, chunk, first_row in loaded:
        if chunk is None:
            merged.empty.add(index)
        elif merged.total is None:
            merged.total = function(index, chunk, first_row)
        else:
            function.add_to(merged.total, index, chunk, first_row)
    return merged


def collect(
    function: PartitionFunction, loaded: Iterable[LoadedPartition]
) -> list[tuple[int, Any]]:
    """Return the results of partitions, None for those without rows, with their indices."""
    return [
        (index, None if chunk is None else function(index, chunk, first_row))
        for index, chunk, first_row in loaded
    ]


def merge_parts(parts: Sequence[Any]) -> Any:
    """Merge the statistics of several tasks as far as their order allows."""
    unpacked = [unpack(part) if isinstance(part, bytes) else part for part in parts]
    merged = type(unpacked[0])(unpacked[0].n_partitions)
    for part in unpacked:
        merged.update(part)
    return _pack_many(merged)


def _pack_many(merged: Any) -> Any:
    return pack(merged) if len(merged) > _MAX_SEPARATE else merged


def run_single_threaded(task: T, function: Callable[[T], R]) -> R:
    """Run one task of a `map` on a worker."""
    with inside_task():
        return function(task)
