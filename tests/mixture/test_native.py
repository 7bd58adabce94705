"""Invalid arguments of the mixture kernels raise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ceiba import _native

N, D, K = 10, 3, 2
READ = ("X", "weight", "log_weights", "means", "covariances", "factors", "pivots")
EYE = np.eye(D).reshape(1, -1).repeat(K, axis=0)
ONES = np.ones((K, D))


def moments_arguments(full=True, n=N, dtype=float):
    shape = EYE if full else ONES
    return {
        "X": np.zeros((n, D), dtype),
        "weight": np.ones(n),
        "log_weights": np.log([0.5, 0.5]),
        "means": np.zeros((K, D)),
        "covariances": shape.copy(),
        "factors": shape.copy(),
        "pivots": np.zeros((K, D)),
        "weights": np.zeros(K),
        "first": np.zeros((K, D)),
        "second": np.zeros_like(shape),
    }


def components(arguments):
    names = ("log_weights", "means", "covariances", "factors")
    return _native.GaussianComponents(*(arguments[name] for name in names))


def patterns(arguments):
    has_missing = arguments.get("has_missing", False)
    return _native.MissingPatterns(has_missing, arguments.get("order"), arguments.get("starts"))


def call_moments(arguments):
    key = arguments.get("key")
    given = _native.Responsibilities(
        labels=arguments.get("labels"),
        values=arguments.get("values"),
        key=None if key is None else _native.DrawKey(*key),
    )
    sums = _native.MomentSums(
        *(arguments[name] for name in ("pivots", "weights", "first", "second"))
    )
    return _native.mixture_moments(
        arguments["X"], arguments["weight"], components(arguments), sums, patterns(arguments),
        given, threads=arguments.get("threads", 1),
    )  # fmt: skip


def call_posteriors(arguments):
    out = {name: arguments[name] for name in ("log_density", "posteriors", "labels")}
    return _native.mixture_posteriors(
        arguments["X"], components(arguments), patterns(arguments), **out,
        threads=arguments.get("threads", 1),
    )  # fmt: skip


def moments(full=True, **changes):
    return call_moments({**moments_arguments(full), **changes})


def posteriors_arguments(full=True, n=N):
    names = ("X", "log_weights", "means", "covariances", "factors")
    base = {name: moments_arguments(full, n)[name] for name in names}
    out = {
        "log_density": np.zeros(n), "posteriors": np.zeros((n, K)), "labels": np.zeros(n, np.int32)
    }  # fmt: skip
    return base | out


def posteriors(full=True, **changes):
    return call_posteriors({**posteriors_arguments(full), **changes})


@pytest.mark.parametrize("full", [True, False])
def test_valid_arguments_are_accepted(full):
    wanted = -0.5 * D * np.log(2 * np.pi)
    assert moments(full) == pytest.approx(N * wanted)
    arguments = posteriors_arguments(full)
    assert call_posteriors(arguments) is None
    np.testing.assert_allclose(arguments["log_density"], wanted)
    np.testing.assert_allclose(arguments["posteriors"], 0.5)


BAD_MODELS = {
    "whole numbers": {"X": np.zeros((N, D), np.int64)},
    "one dimension": {"X": np.zeros(N)},
    "Fortran order": {"X": np.asfortranarray(np.zeros((N, D)))},
    "every second row": {"X": np.zeros((2 * N, D))[::2]},
    "another byte order": {"X": np.zeros((N, D), ">f8")},
    "half precision": {"X": np.zeros((N, D), np.float16)},
    "a list": {"X": [[0.0] * D] * N},
    "nothing": {"X": None},
    "too wide": {"X": np.zeros((N, D + 1))},
    "too few weights": {"log_weights": np.zeros(K - 1)},
    "too many weights": {"log_weights": np.zeros(K + 1)},
    "weights of another type": {"log_weights": np.zeros(K, np.float32)},
    "means too narrow": {"means": np.zeros((K, D - 1))},
    "means too few": {"means": np.zeros((K - 1, D))},
    "means of another type": {"means": np.zeros((K, D), np.float32)},
    "means of another order": {"means": np.asfortranarray(np.zeros((K, D)))},
    "covariances of three dimensions": {"covariances": np.zeros((K, D, D))},
    "covariances of some width": {"covariances": np.ones((K, D + 1))},
    "covariances twice as wide": {"covariances": np.ones((K, 2 * D))},
    "covariances too few": {"covariances": EYE[:1]},
    "factors of another shape": {"factors": ONES},
    "factors too few": {"factors": EYE[:1]},
    "no threads": {"threads": 0},
    "fewer than no threads": {"threads": -1},
    "starts alone": {"starts": np.array([0, N])},
    "an order alone": {"order": np.arange(N)},
    "an order too short": {"order": np.arange(N - 1), "starts": np.array([0, N])},
    "an order too large": {"order": np.arange(N) + 1, "starts": np.array([0, N])},
    "a negative order": {"order": np.arange(N) - 1, "starts": np.array([0, N])},
    "an order of another type": {"order": np.arange(N, dtype=np.int32), "starts": np.array([0, N])},
    "starts too few": {"order": np.arange(N), "starts": np.array([0])},
    "no starts": {"order": np.arange(N), "starts": np.zeros(0, np.int64)},
    "starts beyond": {"order": np.arange(N), "starts": np.array([0, N + 1])},
    "starts not from zero": {"order": np.arange(N), "starts": np.array([1, N])},
    "starts that fall": {"order": np.arange(N), "starts": np.array([0, 7, 3, N])},
    "starts that stay": {"order": np.arange(N), "starts": np.array([0, 3, 3, N])},
    "starts far away": {"order": np.arange(N), "starts": np.array([0, 2**62, N])},
    "missing values without an order": {"has_missing": True},
    "no components": {
        "log_weights": np.zeros(0), "means": np.zeros((0, D)), "covariances": np.zeros((0, D * D)),
        "factors": np.zeros((0, D * D)),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", BAD_MODELS)
def test_invalid_models_raise(name):
    for call in (moments, posteriors):
        with pytest.raises((TypeError, ValueError)):
            call(**BAD_MODELS[name])


def test_order_requires_full_covariances():
    for call in (moments, posteriors):
        with pytest.raises(ValueError, match="requires full covariances"):
            call(False, order=np.arange(N), starts=np.array([0, N]))


BAD_MOMENTS = {
    "a weight too few": {"weight": np.ones(N - 1)},
    "weights of two dimensions": {"weight": np.ones((N, 1))},
    "weights of another type": {"weight": np.ones(N, np.float32)},
    "pivots too narrow": {"pivots": np.zeros((K, D - 1))},
    "pivots too few": {"pivots": np.zeros((K - 1, D))},
    "sums of weights too short": {"weights": np.zeros(K - 1)},
    "first moments too narrow": {"first": np.zeros((K, D - 1))},
    "first moments too few": {"first": np.zeros((K - 1, D))},
    "second moments too narrow": {"second": np.zeros((K, D))},
    "second moments too few": {"second": np.zeros((K - 1, D * D))},
    "second moments in another order": {"second": np.asfortranarray(np.zeros((K, D * D)))},
    "no rows": {"X": np.zeros((0, D)), "weight": np.zeros(0), "labels": np.zeros(3, np.int32)},
    "labels too short": {"labels": np.zeros(N - 1, np.int32)},
    "labels of another type": {"labels": np.zeros(N, np.int64)},
    "shares too narrow": {"values": np.zeros((N, K - 1))},
    "shares too few": {"values": np.zeros((N - 1, K))},
    "shares of another type": {"values": np.zeros((N, K), np.float32)},
    "two kinds": {"values": np.zeros((N, K)), "labels": np.zeros(N, np.int32)},
    "a draw and labels": {"key": (1, 2, 3), "labels": np.zeros(N, np.int32)},
    "half a draw": {"key": (1, 2)},
    "a negative draw": {"key": (-1, 0, 0)},
    "a draw beyond 64 bits": {"key": (2**64, 0, 0)},
}


@pytest.mark.parametrize("name", BAD_MOMENTS)
def test_invalid_arguments_of_moments_raise(name):
    with pytest.raises((TypeError, ValueError)):
        moments(**BAD_MOMENTS[name])


@pytest.mark.parametrize(
    "change",
    [
        {"log_density": np.zeros(N - 1)},
        {"log_density": np.zeros(N, np.float32)},
        {"posteriors": np.zeros((N, K + 1))},
        {"posteriors": np.zeros((N - 1, K))},
        {"posteriors": np.zeros((K, N)).T},
        {"labels": np.zeros(N - 1, np.int32)},
        {"labels": np.zeros(N, np.int64)},
        {"labels": np.zeros(2 * N, np.int32)[::2]},
    ],
    ids=lambda change: f"{next(iter(change))} {next(iter(change.values())).shape}",
)
def test_invalid_arguments_of_posteriors_raise(change):
    with pytest.raises((TypeError, ValueError)):
        posteriors(**change)


@pytest.mark.parametrize("name", ["weights", "first", "second"])
def test_moments_require_writable_arrays(name):
    locked = moments_arguments()[name]
    locked.flags.writeable = False
    with pytest.raises(TypeError):
        moments(**{name: locked})


@pytest.mark.parametrize("name", ["log_density", "posteriors", "labels"])
def test_posteriors_require_writable_arrays(name):
    locked = posteriors_arguments()[name]
    locked.flags.writeable = False
    with pytest.raises(TypeError):
        posteriors(**{name: locked})


def test_input_arrays_may_be_read_only():
    arguments = moments_arguments()
    for name in READ:
        arguments[name].flags.writeable = False
    assert np.isfinite(call_moments(arguments))


@pytest.mark.parametrize("label", [-1, K, 2**31 - 1, -(2**31)])
def test_label_without_component_raises_or_is_ignored(label):
    labels = np.zeros(N, np.int32)
    labels[4] = label
    arguments = moments_arguments()
    try:
        call_moments({**arguments, "labels": labels})
    except ValueError:
        return
    assert arguments["weights"].sum() == N - 1


@pytest.mark.parametrize("full", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_no_rows(full, threads):
    arguments = posteriors_arguments(full, 0)
    assert call_posteriors({**arguments, "threads": threads}) is None
    sums = moments_arguments(full, 0)
    for name in ("weights", "first", "second"):
        sums[name][:] = 7.0
    try:
        found = call_moments({**sums, "threads": threads})
    except ValueError:
        return
    assert found == 0.0
    for name in ("weights", "first", "second"):
        np.testing.assert_array_equal(sums[name], 0.0)


def test_no_columns():
    none = {
        "X": np.zeros((N, 0)), "means": np.zeros((K, 0)), "covariances": np.zeros((K, 0)),
        "factors": np.zeros((K, 0)),
    }  # fmt: skip
    arguments = {**posteriors_arguments(), **none}
    call_posteriors(arguments)
    np.testing.assert_allclose(arguments["log_density"], 0.0, atol=1e-15)


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [10, 3000])
def test_singular_covariance_raises_in_every_thread(threads, n):
    """Factors of some columns alone are computed by the kernel, and may not exist."""
    X = np.zeros((n, D))
    X[:, 0] = np.nan
    bad = {
        "covariances": -EYE,
        "order": np.arange(n),
        "starts": np.array([0, n]),
        "has_missing": True,
    }
    arguments = {**posteriors_arguments(True, n), "X": X, **bad, "threads": threads}
    with pytest.raises(ValueError, match="positive definite"):
        call_posteriors(arguments)
    sums = {**moments_arguments(True, n), "X": X, **bad, "threads": threads}
    with pytest.raises(ValueError, match="positive definite"):
        call_moments(sums)


@pytest.mark.parametrize("call", [posteriors, moments])
def test_order_may_mix_patterns_but_not_repeat_rows(call):
    X = np.random.default_rng(1).normal(size=(N, D))
    X[::2, 1] = np.nan
    call(X=X, order=np.arange(N), starts=np.array([0, N]), has_missing=True)
    with pytest.raises(ValueError, match="every row of X once"):
        call(X=X, order=np.zeros(N, np.int64), starts=np.array([0, N]), has_missing=True)


@pytest.mark.parametrize("label", [-1, K])
def test_label_out_of_range_raises(label):
    labels = np.zeros(N, np.int32)
    labels[3] = label
    with pytest.raises(ValueError, match="indices of components"):
        moments(labels=labels)


def test_kernels_survive_invalid_values():
    rng = np.random.default_rng(2)
    strange = rng.choice([0.0, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324], size=(300, D))
    for dtype in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            X = strange.astype(dtype)
        order, starts = _native.missing_patterns(X)
        for full in (True, False):
            arguments = {**posteriors_arguments(full, 300), "X": X, "has_missing": True}
            if full:
                arguments |= {"order": order, "starts": starts}
            call_posteriors(arguments)
            assert ((arguments["labels"] >= 0) & (arguments["labels"] < K)).all()


# Patterns


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 5, 64, 65, 130])
def test_patterns_are_sorted_and_cover_all_rows(dtype, d):
    rng = np.random.default_rng(d)
    few = rng.random((7, d)) < 0.4
    few[0] = False
    missing = few[rng.integers(7, size=200)]
    X = np.where(missing, np.nan, 1.0).astype(dtype)
    order, starts = _native.missing_patterns(X)
    assert sorted(order.tolist()) == list(range(200))
    assert (starts[0], starts[-1]) == (0, 200)
    assert len(starts) - 1 == len(np.unique(missing, axis=0))
    for begin, end in pairwise(starts):
        rows = order[begin:end]
        assert (missing[rows] == missing[rows[0]]).all()
        assert (np.diff(rows) > 0).all()


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0), (1, 1)])
def test_patterns_of_empty_arrays(shape):
    order, starts = _native.missing_patterns(np.zeros(shape))
    assert order.tolist() == list(range(shape[0]))
    assert starts.tolist() == ([0, shape[0]] if shape[0] else [0])


@pytest.mark.parametrize(
    "X",
    [np.zeros(3), np.zeros((2, 2, 2)), np.zeros((4, 2), int), np.zeros((4, 4))[::2], [[1.0]], None],
    ids=["flat", "deep", "whole", "strided", "list", "none"],
)
def test_invalid_pattern_arguments_raise(X):
    with pytest.raises(TypeError):
        _native.missing_patterns(X)
