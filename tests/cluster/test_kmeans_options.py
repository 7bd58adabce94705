"""Every hyper-parameter has an effect, and invalid values raise."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import ceiba
from ceiba import KMeans
from ceiba.base import ParameterError, declared
from ceiba.engine import choose
from tests.oracles.kmeans_tables import groups

X = groups(1, 400, 3, 6, spread=2.0)


def centers(**parameters):
    return KMeans(**{"n_clusters": 6, **parameters}).fit(X).cluster_centers_


# Effects


@pytest.mark.parametrize("k", [1, 2, 9])
def test_n_clusters_is_the_number_of_centers(k):
    model = KMeans(k).fit(X)
    assert model.cluster_centers_.shape == (k, 3)
    assert set(model.labels_) == set(range(k))
    assert model.transform(X).shape == (400, k)


def test_as_many_clusters_as_rows_have_no_inertia():
    model = KMeans(30).fit(X[:30])
    assert model.inertia_ == pytest.approx(0.0, abs=1e-20)
    assert sorted(model.labels_) == list(range(30))


def test_named_init_starts_at_rows():
    plus, random = (
        KMeans(6, init=init, n_init=1, max_iter=1, trace=True).fit(X).trace_[0]["centers"]
        for init in ("k-means++", "random")
    )
    assert not np.array_equal(plus, random)
    for start in (plus, random):
        # Both are rows, and different ones.
        found = (X[:, None] == start).all(axis=2)
        assert found.any(axis=0).all()
        assert len(np.unique(start, axis=0)) == 6


@pytest.mark.parametrize("make", [np.array, list, np.float32, np.asfortranarray])
def test_init_accepts_centers(make):
    given = make(X[10:16])
    model = KMeans(6, init=given, trace=True).fit(X)
    np.testing.assert_array_equal(model.trace_[0]["centers"], np.array(given, dtype=float))


def test_init_accepts_a_frame():
    pd = pytest.importorskip("pandas")
    np.testing.assert_array_equal(centers(init=pd.DataFrame(X[10:16])), centers(init=X[10:16]))


def test_init_array_is_not_modified():
    given = X[10:16].copy()
    given.flags.writeable = False
    model = KMeans(6, init=given).fit(X)
    assert not np.array_equal(model.cluster_centers_, given)
    np.testing.assert_array_equal(given, X[10:16])


def test_init_function_is_called_for_each_run():
    calls = []

    def start(rows, k, random_state):
        calls.append((rows.shape, k, random_state.randint(2**31)))
        return rows[random_state.choice(len(rows), k, replace=False)]

    model = KMeans(6, init=start, n_init=3, random_state=4).fit(X)
    assert [call[:2] for call in calls] == [((400, 3), 6)] * 3
    assert len({number for _, _, number in calls}) == 3
    again = KMeans(6, init=start, n_init=3, random_state=4).fit(X)
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    assert calls[:3] == calls[3:]


def test_init_function_gets_rows_of_positive_weight():
    def start(rows, k, random_state):
        assert rows.shape == (100, 3)
        return rows[:k]

    KMeans(6, init=start).fit(X, sample_weight=np.r_[np.ones(100), np.zeros(300)])


@pytest.mark.parametrize("shape", [(5, 3), (6, 2), (6,), (6, 3, 1)])
def test_init_of_wrong_shape_raises(shape):
    with pytest.raises(ValueError, match="initial centers"):
        KMeans(6, init=np.ones(shape)).fit(X)
    with pytest.raises(ValueError, match="initial centers"):
        KMeans(6, init=lambda rows, k, random_state: np.ones(shape)).fit(X)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_init_that_is_not_finite_raises(value):
    with pytest.raises(ValueError, match="finite"):
        KMeans(2, init=np.array([[0.0, 0.0, value], [1.0, 1.0, 1.0]])).fit(X)


def test_init_function_requires_rows_in_memory(tmp_path):
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c", comments="")
    with pytest.raises(ValueError, match="in memory"):
        KMeans(2, init=lambda rows, k, random_state: rows[:k]).fit(
            ceiba.scan(tmp_path / "rows.csv")
        )


def test_n_init_keeps_the_best_run():
    inertias = [
        KMeans(6, init="random", n_init=n, random_state=3).fit(X).inertia_ for n in (1, 2, 5, 10)
    ]
    assert inertias == sorted(inertias, reverse=True)
    assert inertias[0] > inertias[-1]


@pytest.mark.parametrize(("init", "runs"), [("k-means++", 1), ("random", 10)])
def test_auto_n_init_depends_on_init(init, runs):
    for seed in range(3):
        auto, counted = (
            KMeans(6, init=init, n_init=n, random_state=seed).fit(X) for n in ("auto", runs)
        )
        np.testing.assert_array_equal(auto.cluster_centers_, counted.cluster_centers_)


def test_max_iter_limits_iterations():
    models = [KMeans(6, init=X[:6], max_iter=m, tol=0).fit(X) for m in (1, 2, 4, 300)]
    assert [m.n_iter_ for m in models[:3]] == [1, 2, 4]
    assert models[3].n_iter_ > 4
    inertias = [m.inertia_ for m in models]
    assert inertias == sorted(inertias, reverse=True)
    assert len(set(inertias)) == 4


def test_tol_ends_a_run_earlier():
    models = [KMeans(6, init=X[:6], tol=tol, trace=True).fit(X) for tol in (10.0, 0.05, 1e-4, 0.0)]
    steps = [m.n_iter_ for m in models]
    assert steps == sorted(steps)
    assert steps[0] == 1 < steps[1] < steps[3]
    limit = 0.05 * X.var(axis=0).mean()
    path = [frame["centers"] for frame in models[3].trace_]
    shifts = [((b - a) ** 2).sum() for a, b in pairwise(path)]
    assert shifts[steps[1] - 1] <= limit < min(shifts[: steps[1] - 1])


def test_random_state_determines_the_model():
    assert not np.array_equal(centers(random_state=0), centers(random_state=1))
    np.testing.assert_array_equal(centers(random_state=0), centers())
    np.testing.assert_array_equal(centers(random_state=np.int64(7)), centers(random_state=7))
    for kind in (np.random.RandomState, np.random.default_rng):
        np.testing.assert_array_equal(centers(random_state=kind(5)), centers(random_state=kind(5)))
        assert not np.array_equal(centers(random_state=kind(5)), centers(random_state=kind(6)))


def test_random_state_none_draws_a_new_seed():
    starts = [
        KMeans(6, random_state=None, trace=True, max_iter=1).fit(X).trace_[0]["centers"].tobytes()
        for _ in range(4)
    ]
    assert len(set(starts)) == 4


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_n_jobs_changes_no_bit(monkeypatch, dtype, missing):
    """As many threads as requested, also where the machine has fewer cores."""
    asked = []
    monkeypatch.setattr(choose, "effective_threads", lambda n: asked.append(n) or n or 1)
    rows = groups(2, 12_000, 4, 5).astype(dtype)
    if missing:
        rows[::9, 1] = np.nan
    models = [KMeans(7, n_jobs=n, max_iter=8).fit(rows) for n in (1, 2, 3)]
    assert asked == [1, 2, 3]
    for other in models[1:]:
        for name in ("cluster_centers_", "labels_", "inertia_", "n_iter_"):
            np.testing.assert_array_equal(getattr(models[0], name), getattr(other, name))
        np.testing.assert_array_equal(other.transform(rows), models[0].transform(rows))


def test_trace_keeps_iterations():
    assert hasattr(KMeans(2, trace=True).fit(X), "trace_")
    assert not hasattr(KMeans(2, trace=False).fit(X), "trace_")


# Invalid values

INVALID = [
    ("n_clusters", [0, -1, 2.0, "3", None, True, np.nan]),
    ("init", ["k-means", "", None, 3, True]),
    ("n_init", [0, -2, 1.5, "best", None, False]),
    ("max_iter", [0, -1, 3.5, None, "10"]),
    ("tol", [-1e-9, np.nan, "small", None]),
    ("random_state", ["seed", 1.5, [1, 2], True]),
    ("n_jobs", [1.5, "all", True]),
    ("algorithm", ["full", None]),
    ("copy_x", ["yes", None]),
    ("verbose", [-1, "yes", None]),
    ("trace", [1, 0, None, "yes"]),
    ("scale", ["minmax", 1, True]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in INVALID for value in values]
)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "fit_predict", "fit_transform"])
def test_invalid_value_raises_and_names_the_parameter(method, name, value):
    model = KMeans().set_params(**{name: value})
    with pytest.raises(ParameterError, match=rf"The '{name}' parameter of KMeans must be"):
        getattr(model, method)(X)
    assert not hasattr(model, "cluster_centers_")


def test_zero_threads_raise():
    with pytest.raises(ValueError, match="n_jobs"):
        KMeans(n_jobs=0).fit(X)


def test_every_parameter_has_an_invalid_value():
    assert {name for name, _ in INVALID} == {parameter.name for parameter in declared(KMeans)}


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf])
def test_invalid_weight_raises_and_names_its_row(weight):
    weights = np.ones(400)
    weights[17] = weight
    with pytest.raises(ValueError, match=r"sample_weight must be .* in row 17"):
        KMeans(2).fit(X, sample_weight=weights)


def test_weights_of_wrong_length_or_all_zero_raise():
    with pytest.raises(ValueError, match="sample_weight"):
        KMeans(2).fit(X, sample_weight=np.ones(399))
    with pytest.raises(ValueError, match="weight zero"):
        KMeans(2).fit(X, sample_weight=np.zeros(400))
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        KMeans(4).fit(X, sample_weight=np.r_[np.ones(3), np.zeros(397)])


def test_n_init_with_given_centers_warns():
    X = np.arange(10.0)[:, None]
    with pytest.warns(RuntimeWarning, match="performing only one init .* instead of n_init=3"):
        KMeans(2, init=X[:2], n_init=3).fit(X)
