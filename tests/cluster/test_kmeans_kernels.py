"""Kernels of k-means: too little memory and invalid arguments."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from ceiba import _native

# Memory

LITTLE_MEMORY = """
import resource, numpy as np
from ceiba import _native
X, centers, out = np.zeros((1, 1)), np.zeros((2_000_000, 1)), np.empty((1, 2_000_000))
points = _native.KMeansPoints(X, None, np.zeros(1), False)
_native.squared_distances(points, centers[:5], out[:, :5].copy(), 1)
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**27, used + 2**27))
try:
    _native.squared_distances(points, centers, out, 1)
    print("enough")
except MemoryError:
    print("MemoryError")
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs a limit on memory")
def test_too_little_memory_raises_memory_error():
    command = [sys.executable, "-c", LITTLE_MEMORY]
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert process.stdout.strip() == "MemoryError"


# Invalid arguments

VALID = {
    "X": np.zeros((10, 3)),
    "weight": np.ones(10),
    "offset": np.zeros(3),
    "centers": np.zeros((2, 3)),
    "has_missing": False,
    "previous": np.zeros((2, 3)),
    "labels": np.zeros(10, np.int32),
    "upper": np.zeros(10, np.float32),
    "lower": np.zeros(10, np.float32),
    "segment_sums": np.zeros(_native.segment_sums_size(10, 2, 3)),
    "table": np.zeros((2, 5)),
    "squared": np.zeros(10),
    "compute_inertia": True,
    "threads": 1,
}
INVALID_SUMS = {
    "one row too few": {"weight": np.ones(9)},
    "weights of two dimensions": {"weight": np.ones((10, 1))},
    "weights of another type": {"weight": np.ones(10, np.float32)},
    "integers": {"X": np.zeros((10, 3), np.int64)},
    "one dimension": {"X": np.zeros(10)},
    "Fortran order": {"X": np.asfortranarray(np.zeros((10, 3)))},
    "every second row": {"X": np.zeros((20, 3))[::2]},
    "every second label": {"labels": np.zeros(20, np.int32)[::2]},
    "another byte order": {"X": np.zeros((10, 3), ">f8")},
    "a list": {"X": [[0.0, 0.0, 0.0]] * 10},
    "an offset too long": {"offset": np.zeros(4)},
    "centers too narrow": {"centers": np.zeros((2, 2))},
    "no centers": {"centers": np.zeros((0, 3)), "previous": None, "table": np.zeros((0, 5))},
    "centers of another type": {"centers": np.zeros((2, 3), np.float32)},
    "previous centers too few": {"previous": np.zeros((1, 3))},
    "previous centers without labels": {"labels": None},
    "labels too short": {"labels": np.zeros(9, np.int32)},
    "labels of another type": {"labels": np.zeros(10, np.int64)},
    "a label too large": {"labels": np.full(10, 2, np.int32)},
    "the largest label": {"labels": np.full(10, 2**31 - 1, np.int32)},
    "a negative label": {"labels": np.full(10, -1, np.int32)},
    "one bad label": {"labels": np.array([0] * 9 + [-(2**31)], np.int32)},
    "one bound alone": {"lower": None},
    "bounds too short": {"upper": np.zeros(9, np.float32)},
    "bounds of another type": {"upper": np.zeros(10)},
    "bounds with missing values": {
        "has_missing": True,
        "segment_sums": None,
        "table": np.zeros((2, 7)),
    },
    "sums too small": {"segment_sums": np.zeros(_native.segment_sums_size(10, 2, 3) - 1)},
    "sums with missing values": {
        "has_missing": True,
        "upper": None,
        "lower": None,
        "table": np.zeros((2, 7)),
    },
    "sums without a table": {"table": None},
    "a table too narrow": {"table": np.zeros((2, 4))},
    "a table too short": {"table": np.zeros((1, 5))},
    "a table for missing values": {"table": np.zeros((2, 7))},
    "distances too short": {"squared": np.zeros(9)},
    "no threads": {"threads": 0},
    "negative threads": {"threads": -3},
}


def points_of(arguments):
    names = ("X", "weight", "offset", "has_missing")
    return _native.KMeansPoints(*(arguments.pop(name) for name in names))


def center_sums(**changes):
    arguments = {**VALID, **changes}
    points, centers = points_of(arguments), arguments.pop("centers")
    names = ("previous", "labels", "upper", "lower", "segment_sums")
    state = _native.KMeansState(**{name: arguments.pop(name) for name in names})
    return _native.center_sums(points, centers, state, **arguments)


def test_valid_arguments_are_accepted():
    inertia, moved, _ = center_sums()
    assert (inertia, moved) == (0.0, 0)


@pytest.mark.parametrize("name", INVALID_SUMS)
def test_invalid_arguments_of_the_assignment_raise(name):
    with pytest.raises((TypeError, ValueError)):
        center_sums(**INVALID_SUMS[name])


@pytest.mark.parametrize("name", ["labels", "upper", "lower", "segment_sums", "table", "squared"])
def test_output_arrays_must_be_writable(name):
    read_only = VALID[name].copy()
    read_only.flags.writeable = False
    with pytest.raises(TypeError):
        center_sums(**{name: read_only})


def test_input_arrays_may_be_read_only():
    read_only = {
        name: VALID[name].copy() for name in ("X", "weight", "offset", "centers", "previous")
    }
    for array in read_only.values():
        array.flags.writeable = False
    assert center_sums(**read_only)[1] == 0


def test_invalid_arguments_of_other_kernels_raise():
    X, out, zero = np.zeros((10, 3)), np.zeros((5, 3)), np.zeros(3)
    error = pytest.raises((TypeError, ValueError))
    for bad in (np.zeros((4, 3)), np.zeros((5, 2)), np.zeros((5, 3), np.float32), out.T):
        with error:
            _native.moments(X, None, bad, 1)
    with error:
        _native.moments(X, np.ones(11), out, 1)
    for bad in (np.zeros((10, 3)), np.zeros((9, 2)), np.zeros((10, 2), np.float32)):
        with error:
            _native.squared_distances(
                _native.KMeansPoints(X, None, zero, False), np.zeros((2, 3)), bad, 1
            )
    with error:
        _native.uniforms(0, 0, 0, np.zeros((2, 2)))
    with error:
        _native.uniforms(-1, 0, 0, np.zeros(2))
    with error:
        _native.uniforms(2**64, 0, 0, np.zeros(2))


CANDIDATE_DRAW = {
    "X": np.zeros((10, 3)),
    "weight": None,
    "offset": np.zeros(3),
    "has_missing": False,
    "chosen": np.zeros((2, 3)),
    "candidates": np.ones((2, 3)),
    "nearest": np.zeros(10),
    "n_cached": 1,
    "seed": 0,
    "stream": 0,
    "first_row": 0,
    "potential": np.zeros(2),
    "keys": np.zeros((2, 4)),
    "rows": np.zeros((2, 4), np.int64),
    "threads": 1,
}


def next_candidates(**arguments):
    points = points_of(arguments)
    key = _native.DrawKey(*(arguments.pop(name) for name in ("seed", "stream", "first_row")))
    out = _native.CandidateDraws(*(arguments.pop(name) for name in ("potential", "keys", "rows")))
    return _native.next_candidates(points, key=key, out=out, **arguments)


@pytest.mark.parametrize(
    "change",
    [
        {"weight": np.ones(9)},
        {"offset": np.zeros(2)},
        {"chosen": np.zeros((2, 2))},
        {"candidates": np.zeros((2, 4))},
        {"candidates": np.zeros((0, 3)), "potential": np.zeros(1), "keys": np.zeros((1, 4))},
        {"nearest": np.zeros(9)},
        {"nearest": np.zeros(10, np.float32)},
        {"nearest": None},
        {"n_cached": 3},
        {"n_cached": -1},
        {"seed": -1},
        {"first_row": -1},
        {"potential": np.zeros(1)},
        {"keys": np.zeros((1, 4))},
        {"keys": np.zeros((2, 0)), "rows": np.zeros((2, 0), np.int64)},
        {"rows": np.zeros((2, 3), np.int64)},
        {"rows": np.zeros((2, 4), np.int32)},
        {"threads": 0},
    ],
    ids=str,
)
def test_invalid_arguments_of_a_candidate_draw_raise(change):
    next_candidates(**CANDIDATE_DRAW)
    with pytest.raises((TypeError, ValueError)):
        next_candidates(**{**CANDIDATE_DRAW, **change})


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0)])
def test_kernels_accept_empty_arrays(shape, dtype):
    n, d = shape
    X, centers, offset = np.zeros(shape, dtype), np.zeros((2, d)), np.zeros(d)
    assert _native.moments(X, None, np.empty((5, d)), 2)[1:] == (-1, -1)
    table = np.ones((2, d + 2))
    points = _native.KMeansPoints(X, None, offset, False)
    _native.center_sums(points, centers, table=table)
    assert table.tolist() == [[0.0] * d + [float(n), float(n)], [0.0] * (d + 2)]
    _native.squared_distances(points, centers, np.empty((n, 2), dtype), 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e308])
def test_kernels_survive_invalid_values(value):
    """Python code rejects such values; the kernels must stay within their arrays."""
    for name in ("X", "offset", "centers", "previous", "weight"):
        bad = np.full_like(VALID[name], value)
        labels = np.zeros(10, np.int32)
        center_sums(**{name: bad, "labels": labels})
        assert labels.min() >= 0
        assert labels.max() < 2
