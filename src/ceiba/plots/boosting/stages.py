"""What a trace of boosting holds, and what the committee said after each round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_places
from ceiba.plots.playback.painter import frame_names, frame_step

FRAME = frozenset({"weights", "error", "alpha", "wrong"})


def boosting_trace(model: Any) -> Sequence[Any]:
    """The frames of a boosted classifier; ValueError where it has kept none."""
    check_boosted(model)
    trace: Sequence[Any] = getattr(model, "trace_", None) or ()
    if not len(trace):
        raise ValueError("there is no trace of the rounds: fit the model with trace=True")
    return trace


def check_boosted(model: Any) -> None:
    """Refuse what has no committee that grows by rounds."""
    if model is None:
        raise ValueError("frames of boosting need the committee: play the fitted model itself")
    if not all(hasattr(model, name) for name in ("estimators_", "staged_predict", "classes_")):
        raise ValueError(
            f"{type(model).__name__} is no fitted classifier that was boosted round by round: "
            "give an AdaBoostClassifier fitted with trace=True"
        )


def check_frames(frames: Sequence[Any], n_rows: int) -> None:
    """Refuse frames without the rows' weights, or of other rows."""
    for frame in frames:
        lacking = sorted(FRAME - frame_names(frame))
        if lacking:
            raise ValueError(
                f"the trace has left out {' and '.join(lacking)}, which take too much room: fit "
                "fewer rows with trace=True"
            )
        if len(frame["weights"]) != n_rows:
            raise ValueError(
                f"the rounds weighed {len(frame['weights']):,} rows, and X has {n_rows:,}: give "
                "the rows that the model was fitted to"
            )


def round_numbers(frames: Sequence[Any]) -> list[int]:
    """Numbers of the frames' rounds, from 1."""
    return [frame_step(frame, place + 1) for place, frame in enumerate(frames)]


def relative_weights(frame: Any) -> Array:
    """Weights of the rows before a round in parts of their mean."""
    weights = np.asarray(frame["weights"], dtype=float)
    relative: Array = weights / weights.mean()
    return relative


def staged_codes(model: Any, rows: Any, steps: Sequence[int]) -> list[Array]:
    """What the committee of so many rounds predicts, as places of classes, for each of ``steps``.

    A round beyond the last whose learner was kept has the whole committee.
    """
    classes = np.asarray(model.classes_)
    small = np.min_scalar_type(len(classes))
    last = len(model.estimators_)
    wanted = {min(step, last) for step in steps}
    found = {
        stage: class_places(np.asarray(said), classes).astype(small)
        for stage, said in enumerate(model.staged_predict(rows), start=1)
        if stage in wanted
    }
    return [found[min(step, last)] for step in steps]
