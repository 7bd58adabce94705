"""The trace of an iterative fit: small frames that a player can draw one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, overload

import numpy as np

_PLAIN = (bool, int, float, str, type(None))


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One step of a fit: its number and what the learner recorded then.

    Examples
    --------
    >>> frame = Frame(3, {"inertia": 12.5})
    >>> frame.step, frame["inertia"]
    (3, 12.5)
    """

    step: int
    values: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def nbytes(self) -> int:
        """Memory that its arrays and strings take."""
        return sum(_nbytes(value) for value in self.values.values())


class Trace(Sequence[Frame]):
    """A list of frames, bounded in number and size.

    At most ``max_frames`` frames (1000) of together at most ``max_bytes`` bytes (64 MB) are kept.
    When a new frame would pass a limit, every second frame is dropped and from then on only
    every second step kept, and so on: frames stay evenly spaced, and the first and the last step
    are always there. ``thinned`` says whether that has happened, ``every`` how far apart the frames
    now are. One frame takes at most a quarter of ``max_bytes``: arrays that would pass it are left
    out, and ``left_out`` names them.

    Parameters
    ----------
    max_frames : int
        Most frames; at least 2.
    max_bytes : int
        Most bytes, of all frames together.

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
            raise ValueError("A trace needs room for two frames and no negative number of bytes.")
        self.max_frames = max_frames
        self.max_bytes = max_bytes
        self.every = 1
        self.left_out: tuple[str, ...] = ()
        self._recorded = 0
        self._frames: list[Frame] = []
        self._places: list[int] = []
        self._nbytes = 0

    def record(self, step: int, values: Mapping[str, Any]) -> None:
        """Keep a copy of ``values`` as the frame of ``step``.

        A value is an array, a number, a string or None, or a function without arguments that
        gives one.
        """
        if self._frames and step <= self._frames[-1].step:
            raise ValueError(f"Step {step} cannot follow step {self._frames[-1].step}.")
        if self._places and self._places[-1] % self.every:
            self._drop_last()
        frame = self._bounded(step, {name: _copied(name, v) for name, v in values.items()})
        self._frames.append(frame)
        self._places.append(self._recorded)
        self._nbytes += frame.nbytes
        self._recorded += 1
        while self._overfull():
            self._thin()

    def take_back(self) -> None:
        """Drop the frame recorded last, as when its step is to be recorded again."""
        self._drop_last()
        self._recorded -= 1

    @property
    def thinned(self) -> bool:
        """Whether frames were dropped to keep within the limits."""
        return self.every > 1

    @property
    def nbytes(self) -> int:
        """Memory that the arrays and strings of all frames take."""
        return self._nbytes

    def _bounded(self, step: int, values: dict[str, Any]) -> Frame:
        room = self.max_bytes // 4
        kept = {}
        for name, value in sorted(values.items(), key=lambda item: _nbytes(item[1])):
            room -= _nbytes(value)
            if room < 0:
                self.left_out = tuple(sorted({*self.left_out, name}))
            else:
                kept[name] = value
        return Frame(step, {name: kept[name] for name in values if name in kept})

    def _overfull(self) -> bool:
        many = len(self._frames) > self.max_frames or self._nbytes > self.max_bytes
        return many and len(self._frames) > 2

    def _thin(self) -> None:
        self.every *= 2
        last = len(self._places) - 1
        kept = [i for i, place in enumerate(self._places) if i == last or place % self.every == 0]
        self._frames = [self._frames[i] for i in kept]
        self._places = [self._places[i] for i in kept]
        self._nbytes = sum(frame.nbytes for frame in self._frames)

    def _drop_last(self) -> None:
        self._places.pop()
        self._nbytes -= self._frames.pop().nbytes

    @overload
    def __getitem__(self, place: int) -> Frame: ...
    @overload
    def __getitem__(self, place: slice) -> list[Frame]: ...
    def __getitem__(self, place: int | slice) -> Frame | list[Frame]:
        return self._frames[place]

    def __len__(self) -> int:
        return len(self._frames)

    def __iter__(self) -> Iterator[Frame]:
        return iter(self._frames)

    def __repr__(self) -> str:
        if not self._frames:
            return "Trace(empty)"
        first, last = self._frames[0], self._frames[-1]
        names = ", ".join(last.values)
        thinned = f", every {self.every}" if self.thinned else ""
        return f"Trace({len(self)} frames, steps {first.step} to {last.step}{thinned}: {names})"

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {
            "max_frames": self.max_frames,
            "max_bytes": self.max_bytes,
            "every": self.every,
            "left_out": list(self.left_out),
            "recorded": self._recorded,
            "places": list(self._places),
            "frames": [[frame.step, dict(frame.values)] for frame in self._frames],
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Trace:
        """The trace that `to_json` wrote; ValueError where the record contradicts itself."""
        trace = cls(_count(record["max_frames"]), _count(record["max_bytes"]))
        trace.every = _count(record["every"])
        trace._recorded = _count(record["recorded"])
        trace._places = [_count(place) for place in record["places"]]
        trace.left_out = tuple(_name(name) for name in record["left_out"])
        trace._frames = [_frame(step, values) for step, values in record["frames"]]
        trace._nbytes = sum(frame.nbytes for frame in trace._frames)
        _check_order(trace)
        return trace


def _nbytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, str) else 0


def _copied(name: str, value: Any) -> Any:
    # Learners reuse their buffers, so a frame keeps a copy of its own.
    if callable(value):
        value = value()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _PLAIN):
        return value
    array = np.array(value, copy=True)
    if array.dtype.hasobject:
        raise TypeError(f"A trace keeps numbers, strings and arrays; {name} is none of them.")
    array.flags.writeable = False
    return array


def _frame(step: Any, values: Any) -> Frame:
    for value in values.values():
        if not isinstance(value, (*_PLAIN, np.ndarray)):
            raise ValueError("a frame holds something that is neither a number nor an array")
    return Frame(_count(step), {_name(name): value for name, value in values.items()})


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise ValueError("a number of the trace is not a count")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a name of the trace is not a string")
    return value


def _check_order(trace: Trace) -> None:
    places, steps = trace._places, [frame.step for frame in trace]
    sound = (
        len(places) == len(steps)
        and trace.every >= 1
        and all(a < b for a, b in pairwise(places))
        and all(a < b for a, b in pairwise(steps))
        and all(place < trace._recorded for place in places)
    )
    if not sound or trace._overfull():
        raise ValueError("the frames of the trace are out of order or too many")
