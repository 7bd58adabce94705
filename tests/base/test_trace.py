from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.base.trace import Frame, Trace


def filled(steps, **limits) -> Trace:
    trace = Trace(**limits)
    for step in range(steps):
        trace.record(step, {"x": np.full(10, float(step)), "loss": step / 2})
    return trace


def test_it_reads_like_a_list_of_frames():
    trace = filled(5)
    assert len(trace) == 5
    assert trace[-1].step == 4
    assert trace[2]["loss"] == 1.0
    assert [frame.step for frame in trace[1:3]] == [1, 2]
    assert isinstance(trace[0], Frame)
    assert not trace.thinned
    assert trace.nbytes == 5 * 80
    assert repr(trace) == "Trace(5 frames, steps 0 to 4: x, loss)"
    assert repr(Trace()) == "Trace(empty)"


def test_a_frame_keeps_its_own_copy():
    buffer = np.zeros(3)
    trace = Trace()
    trace.record(0, {"x": buffer})
    buffer[:] = 1
    trace.record(1, {"x": buffer, "y": [1, 2]})
    assert trace[0]["x"].tolist() == [0, 0, 0]
    assert trace[1]["y"].tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        trace[0]["x"][0] = 5


def test_functions_are_called_and_scalars_become_plain():
    trace = Trace()
    trace.record(3, {"x": lambda: np.arange(2), "n": np.int64(4), "text": "a", "none": None})
    assert trace[0]["x"].tolist() == [0, 1]
    assert type(trace[0]["n"]) is int
    assert (trace[0]["text"], trace[0]["none"]) == ("a", None)


@given(st.integers(2, 40), st.integers(1, 400))
def test_the_number_is_bounded_and_frames_stay_evenly_spaced(limit, steps):
    trace = filled(steps, max_frames=limit)
    positions = [frame.step for frame in trace]
    assert len(trace) <= limit
    assert positions[0] == 0
    assert positions[-1] == steps - 1
    assert trace.thinned == (steps > limit)
    assert positions[:-1] == list(range(0, positions[-1], trace.every))
    assert trace.nbytes == 80 * len(trace)


@given(st.integers(1, 200), st.integers(320, 5000))
def test_the_size_is_bounded(steps, limit):
    trace = filled(steps, max_bytes=limit)
    assert trace.nbytes <= limit
    assert (trace[0].step, trace[-1].step) == (0, steps - 1)
    assert trace.left_out == ()


def test_a_frame_too_large_leaves_out_its_large_arrays():
    trace = Trace(max_bytes=4000)
    for step in range(9):
        trace.record(step, {"big": np.zeros(1000), "small": np.zeros(10), "loss": 1.0})
    assert trace.left_out == ("big",)
    assert list(trace[0].values) == ["small", "loss"]
    assert trace.nbytes <= 4000


def test_steps_go_forward():
    trace = filled(3)
    with pytest.raises(ValueError, match="step must be greater than 2, got 2"):
        trace.record(2, {})


def test_objects_are_refused():
    with pytest.raises(TypeError, match="model must be a number"):
        Trace().record(0, {"model": object()})


@pytest.mark.parametrize("limits", [{"max_frames": 1}, {"max_bytes": -1}])
def test_invalid_limits_are_refused(limits):
    with pytest.raises(ValueError, match="max_frames must be >= 2"):
        Trace(**limits)


@pytest.mark.parametrize("again", [lambda t: pickle.loads(pickle.dumps(t)),
                                   lambda t: Trace.from_json(t.to_json())])  # fmt: skip
def test_a_copy_continues_like_the_original(again):
    first = filled(11, max_frames=4)
    second = again(first)
    for trace in (first, second):
        for step in range(11, 30):
            trace.record(step, {"x": np.full(10, float(step))})
    assert [f.step for f in first] == [f.step for f in second]
    assert (first.every, first.nbytes) == (second.every, second.nbytes)
    np.testing.assert_array_equal(first[0]["x"], second[0]["x"])


@pytest.mark.parametrize(
    "change",
    [
        {"positions": [0, 1]},
        {"positions": [2, 1, 0]},
        {"recorded": 1},
        {"every": 0},
        {"every": 1.0},
        {"max_frames": 2},
        {"max_bytes": 100},
        {"left_out": [3]},
        {"frames": [[0, {}], [0, {}], [1, {}]]},
        {"frames": [[-1, {}], [0, {}], [1, {}]]},
        {"frames": [[0, {"x": []}], [1, {}], [2, {}]]},
        {"frames": [[0, {1: 2}], [1, {}], [2, {}]]},
    ],
)
def test_a_damaged_record_is_refused(change):
    record = filled(3).to_json()
    assert len(Trace.from_json(record)) == 3
    with pytest.raises(ValueError, match=r"trace|frame"):
        Trace.from_json({**record, **change})
