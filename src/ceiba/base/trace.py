"""The trace of a fit: values recorded at each step, for plots and animations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

from ceiba._repr import fields_repr
from ceiba.base.value_types import format_value

_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """Values recorded at one step of a fit: an iteration, a boosting round or a split.

    Examples
    --------
    >>> frame = Frame(3, {"inertia": 12.5})
    >>> frame.step, frame["inertia"]
    (3, 12.5)
    """

    step: int
    values: dict[str, Any]

    __repr__ = fields_repr

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and strings."""
        return sum(_nbytes(value) for value in self.values.values())


class Trace(Sequence[Frame]):
    """A list of frames, bounded in number and size.

    At most ``max_frames`` frames (1000) with at most ``max_bytes`` bytes (64 MB) in total are kept.
    When a new frame would exceed a limit, every second frame is dropped and from then on only
    every second step is kept, and so on: frames stay evenly spaced, and the first and the last
    step are always kept. ``thinned`` is True if frames were dropped, and ``every`` is the number
    of steps between frames. One frame takes at most a quarter of ``max_bytes``: larger arrays are
    omitted and listed in ``left_out``.

    Parameters
    ----------
    max_frames : int
        Maximum number of frames; at least 2.
    max_bytes : int
        Maximum number of bytes of all frames together.

    Examples
    --------
    >>> trace = Trace(max_frames=4)
    >>> for step in range(7):
    ...     trace.record(step, {"loss": 1 / (1 + step)})
    >>> [frame.step for frame in trace], trace.thinned, trace.every
    ([0, 2, 4, 6], True, 2)
    """

    def __init__(self, max_frames: int = 1000, max_bytes: int = 64_000_000) -> None:
        if max_frames < 2 or max_bytes < 0:
            raise ValueError(
                f"max_frames must be >= 2 and max_bytes >= 0, got {max_frames} and {max_bytes}."
            )
        self.max_frames = max_frames
        self.max_bytes = max_bytes
        self.every = 1
        self.left_out: tuple[str, ...] = ()
        self._recorded = 0
        self._frames: list[Frame] = []
        self._positions: list[int] = []
        self._nbytes = 0

    def record(self, step: int, values: Mapping[str, Any]) -> None:
        """Keep a copy of ``values`` as the frame of ``step``.

        A value is an array, a number, a string or None, or a function without arguments that
        returns one.
        """
        if self._frames and step <= self._frames[-1].step:
            raise ValueError(f"step must be greater than {self._frames[-1].step}, got {step}.")
        if self._positions and self._positions[-1] % self.every:
            self._drop_last()
        frame = self._make_frame(step, {name: _copy_value(name, v) for name, v in values.items()})
        self._frames.append(frame)
        self._positions.append(self._recorded)
        self._nbytes += frame.nbytes
        self._recorded += 1
        while self._over_limit():
            self._thin()

    def remove_last(self) -> None:
        """Drop the last frame, so that its step can be recorded again."""
        self._drop_last()
        self._recorded -= 1

    @property
    def thinned(self) -> bool:
        """Whether frames were dropped to stay within the limits."""
        return self.every > 1

    @property
    def nbytes(self) -> int:
        """Bytes of the arrays and strings of all frames."""
        return self._nbytes

    def _make_frame(self, step: int, values: dict[str, Any]) -> Frame:
        room = self.max_bytes // 4
        kept = {}
        for name, value in sorted(values.items(), key=lambda item: _nbytes(item[1])):
            room -= _nbytes(value)
            if room < 0:
                self.left_out = tuple(sorted({*self.left_out, name}))
            else:
                kept[name] = value
        return Frame(step, {name: kept[name] for name in values if name in kept})

    def _over_limit(self) -> bool:
        many = len(self._frames) > self.max_frames or self._nbytes > self.max_bytes
        return many and len(self._frames) > 2

    def _thin(self) -> None:
        self.every *= 2
        last = self._positions[-1]
        kept = [i for i, p in enumerate(self._positions) if p == last or p % self.every == 0]
        self._frames = [self._frames[i] for i in kept]
        self._positions = [self._positions[i] for i in kept]
        self._nbytes = sum(frame.nbytes for frame in self._frames)

    def _drop_last(self) -> None:
        self._positions.pop()
        self._nbytes -= self._frames.pop().nbytes

    @overload
    def __getitem__(self, index: int) -> Frame: ...
    @overload
    def __getitem__(self, index: slice) -> list[Frame]: ...
    def __getitem__(self, index: int | slice) -> Frame | list[Frame]:
        return self._frames[index]

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        if not self._frames:
            return "Trace(empty)"
        first, last = self._frames[0], self._frames[-1]
        names = ", ".join(last.values)
        thinned = f", every {self.every}" if self.thinned else ""
        return f"Trace({len(self)} frames, steps {first.step} to {last.step}{thinned}: {names})"

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for a model file; arrays stay arrays."""
        return {
            "max_frames": self.max_frames,
            "max_bytes": self.max_bytes,
            "every": self.every,
            "left_out": list(self.left_out),
            "recorded": self._recorded,
            "positions": list(self._positions),
            "frames": [[frame.step, dict(frame.values)] for frame in self._frames],
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trace:
        """Return the trace that `to_json` wrote; raise ValueError if it is damaged."""
        trace = cls(_check_count(record["max_frames"]), _check_count(record["max_bytes"]))
        trace.every = _check_count(record["every"])
        trace._recorded = _check_count(record["recorded"])
        trace._positions = [_check_count(position) for position in record["positions"]]
        trace.left_out = tuple(_check_name(name) for name in record["left_out"])
        trace._frames = [_read_frame(step, values) for step, values in record["frames"]]
        trace._nbytes = sum(frame.nbytes for frame in trace._frames)
        _check_frames(trace)
        return trace


def _nbytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, str) else 0


def _copy_value(name: str, value: Any) -> Any:
    # Learners reuse their buffers, so a frame keeps a copy.
    if callable(value):
        value = value()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _PLAIN):
        return value
    array = np.array(value, copy=True)
    if array.dtype.hasobject:
        raise TypeError(f"{name} must be a number, string or array, got an array of objects.")
    array.flags.writeable = False
    return array


def _read_frame(step: Any, values: Any) -> Frame:
    for value in values.values():
        if not isinstance(value, (*_PLAIN, np.ndarray)):
            raise ValueError(
                "the values of a frame must be numbers, strings or arrays, got "
                f"{format_value(value)}."
            )
    return Frame(_check_count(step), {_check_name(name): value for name, value in values.items()})


def _check_count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"counts of the trace must be ints >= 0, got {format_value(value)}.")
    return value


def _check_name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"names of the trace must be strings, got {format_value(value)}.")
    return value


def _check_frames(trace: Trace) -> None:
    positions, steps = trace._positions, [frame.step for frame in trace]
    rising = all(a < b for a, b in [*pairwise(positions), *pairwise(steps)])
    if not rising or len(positions) != len(steps) or max(positions, default=-1) >= trace._recorded:
        raise ValueError(
            f"the frames of the trace must have rising steps, and rising positions below "
            f"{trace._recorded}, got {format_value(steps)} and {format_value(positions)}."
        )
    if trace.every < 1 or trace._over_limit():
        raise ValueError(
            f"the trace must have every >= 1, at most {trace.max_frames} frames and "
            f"{trace.max_bytes} bytes, got {trace.every}, {len(steps)} and {trace.nbytes}."
        )
