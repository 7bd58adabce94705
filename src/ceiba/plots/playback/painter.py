"""The painter protocol, and the registry that chooses a painter for the frames of a trace.

The player does not depend on any learner. A learner whose frames hold, for example, ``means`` and
``covariances`` adds a painter with one call::

    register_painter({"means", "covariances"}, MixturePainter)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Protocol

from ceiba.base.trace import Frame
from ceiba.plots.style import ACCENT, PALE, PALETTE, plain_numbers, set_note, style_axes


class Painter(Protocol):
    """Draw the frames of one trace, in any order."""

    def layout(self, figure: Any) -> Any:
        """Make the axes on an empty figure; the result is passed to `draw`."""
        ...

    def draw(self, axes: Any, index: int) -> None:
        """Draw the frame at ``index`` on these axes."""
        ...


PainterFactory = Callable[..., Painter]

_factories: dict[frozenset[str], PainterFactory] = {}


def register_painter(names: Iterable[str], factory: PainterFactory) -> None:
    """Register the painter of traces whose frames hold all of ``names``.

    Parameters
    ----------
    names : iterable of str
        Values that a frame must hold. If several painters match, the one that requires most
        values is used.
    factory : callable
        ``factory(frames, X, model)`` returns a `Painter`; ``model`` is None if a bare trace is
        played. It may also accept the keywords ``y`` and ``columns`` of `play`.
    """
    _factories[frozenset(names)] = factory


def painter_for(frames: Sequence[Any], X: Any, model: Any, **options: Any) -> Painter:
    """Make the painter that matches these frames; ValueError if there is none.

    Options that are None are not passed on; others must be parameters of the painter.
    """
    available = frame_names(frames[0])
    matches = [names for names in _factories if names <= available]
    if not matches:
        known = "; ".join(", ".join(sorted(names)) for names in _factories)
        raise ValueError(
            f"No painter is registered for frames with {', '.join(sorted(available)) or 'nothing'}"
            f" (registered: {known}). Add one with register_painter."
        )
    factory = _factories[max(matches, key=len)]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in signature(factory).parameters:
            raise ValueError(f"{name!r} has no effect on the animation of this trace: omit it.")
    return factory(frames, X, model, **given)


def frame_names(frame: Any) -> frozenset[str]:
    """Return the names of the values of a frame, a `Frame` or a mapping."""
    if isinstance(frame, Frame):
        return frozenset(frame.values)
    if isinstance(frame, Mapping):
        return frozenset(frame)
    raise TypeError(f"A frame must be a ceiba.base.Frame or a mapping, got {type(frame).__name__}.")


def frame_iteration(frame: Any, index: int) -> int:
    """Return the iteration of a frame; the index for a plain mapping."""
    return frame.step if isinstance(frame, Frame) else index


def draw_progress(
    ax: Any, frames: Sequence[Any], name: str, index: int, *, title: str, note: str
) -> None:
    """Draw one value of all frames as a curve, marked up to the frame at ``index``."""
    iterations = [frame_iteration(frame, i) for i, frame in enumerate(frames)]
    values = [float(frame[name]) for frame in frames]
    done = slice(0, index + 1)
    ax.plot(iterations, values, color=PALE, linewidth=1.4)
    ax.plot(iterations[done], values[done], "-o", color=PALETTE[0], linewidth=1.8, markersize=4)
    ax.plot(iterations[index], values[index], "o", color=ACCENT, markersize=8)
    style_axes(ax, title=title, x="iteration", grid="y")
    set_note(ax, note, ACCENT)
    ax.locator_params(axis="x", integer=True, nbins=6)
    ax.margins(x=0.08)
    plain_numbers(ax)
