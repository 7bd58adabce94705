"""Who draws which frames: the protocol of a painter, and the register of painters.

The player knows nothing about learners. A learner whose frames hold, say, ``means`` and
``covariances`` adds a painter with one call::

    register_painter({"means", "covariances"}, MixturePainter)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from typing import Any, Protocol

from ceiba.base.trace import Frame


class Painter(Protocol):
    """Draws the frames of one trace, any one at any time."""

    def layout(self, figure: Any) -> Any:
        """Make the axes on an empty figure; what is returned goes to `draw`."""
        ...

    def draw(self, axes: Any, place: int) -> None:
        """Draw the frame at ``place`` on those axes."""
        ...


PainterMaker = Callable[..., Painter]

_makers: dict[frozenset[str], PainterMaker] = {}


def register_painter(names: Iterable[str], maker: PainterMaker) -> None:
    """Let ``maker`` draw the traces whose frames hold all of ``names``.

    Parameters
    ----------
    names : iterable of str
        What a frame must hold. Where several painters fit, the one that asks for most draws.
    maker : callable
        ``maker(frames, X, model)`` gives a `Painter`; ``model`` is None where only a trace is
        played. It may take the keywords ``y`` and ``columns`` of `play` as well.
    """
    _makers[frozenset(names)] = maker


def painter_for(frames: Sequence[Any], X: Any, model: Any, **options: Any) -> Painter:
    """The painter that fits these frames; ValueError where there is none.

    Options that are None are not passed on; others must be the maker's own.
    """
    held = frame_names(frames[0])
    fitting = [names for names in _makers if names <= held]
    if not fitting:
        known = "; ".join(", ".join(sorted(names)) for names in _makers)
        raise ValueError(
            f"no painter draws frames of {', '.join(sorted(held)) or 'nothing'}; the painters "
            f"know frames of: {known}. Add one with register_painter."
        )
    maker = _makers[max(fitting, key=len)]
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in signature(maker).parameters:
            raise ValueError(f"this film has no use for {name}: play it without")
    return maker(frames, X, model, **given)


def frame_names(frame: Any) -> frozenset[str]:
    """Names of what a frame (a `Frame` or a mapping) holds."""
    if isinstance(frame, Frame):
        return frozenset(frame.values)
    if isinstance(frame, Mapping):
        return frozenset(frame)
    raise TypeError(f"a frame is a ceiba.base.Frame or a mapping, not {type(frame).__name__}")


def frame_step(frame: Any, place: int) -> int:
    """Number of the frame's step; its place, for a plain mapping."""
    return frame.step if isinstance(frame, Frame) else place
