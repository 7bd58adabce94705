"""Mixture classifier: the same model in memory, in chunks and on Dask, for any threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score

import ceiba
from ceiba import GaussianMixtureClassifier
from ceiba.engine import choose
from tests.mixture.parts import groups, quiet

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")


COLUMNS = [*"abc"]
# Tolerance for sums in another order, as in the contracts of all learners.
CLOSE = 1e-9


@cache
def frame(n: int = 500) -> Any:
    """Missing values, weights (some zero), classes that only the first or last rows have."""
    rng = np.random.default_rng(11)
    kind = rng.choice(["lower", "middle"], size=n)
    kind[: n // 20], kind[-n // 15 :] = "early", "late"
    indices = np.unique(kind, return_inverse=True)[1]
    rows = groups(12, n, 3, 2, apart=3.0) + 2.5 * indices[:, None] + 100.0
    table = pd.DataFrame(rows, columns=COLUMNS)
    table["b"] = table["b"].mask(rng.random(n) < 0.15)
    table["c"] = table["c"].mask(rng.random(n) < 0.1)
    return table.assign(w=rng.exponential(size=n) * (rng.random(n) > 0.2), kind=kind)


def maker(n: Any = 1, **options: Any) -> Callable[..., Any]:
    return lambda **more: GaussianMixtureClassifier(n, **{**options, **more})


SEEDS = {"init_params": "k-means++", "max_iter": 5}
DRAWN = {"init_params": "random", "tol": 0.0, "max_iter": 3}
CASES: dict[str, tuple[Callable[..., Any], bool]] = {
    "one component": (maker(), False),
    "weights": (maker(2, max_iter=5), True),
    "diagonal": (maker(2, covariance_type="diag", **SEEDS), True),
    "shared": (maker(2, shared_covariance=True, **SEEDS), True),
    "shared balls": (maker(1, shared_covariance=True, covariance_type="spherical"), False),
    "drawn": (maker(2, **DRAWN), True),
    "drawn, shared": (maker(2, shared_covariance=True, **DRAWN), False),
    "rows": (maker(2, init_params="random_from_data", n_init=2, max_iter=4), True),
    "mapping and priors": (
        maker(
            {"early": 1, "late": 2, "lower": 2, "middle": 3},
            priors={"early": 0.1, "late": 0.2, "lower": 0.3, "middle": 0.4},
            **SEEDS,
        ),
        True,
    ),
    "bic": (maker("bic", max_components=2, covariance_type="diag", **SEEDS), False),
    "prior": (maker(2, prior="default", **SEEDS), True),
    "ppca": (maker(2, covariance_type="ppca", **SEEDS), False),
}
cases = pytest.mark.parametrize("name", CASES)


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many threads as requested, also where the machine has fewer cores."""
    monkeypatch.setattr(choose, "effective_threads", lambda n_jobs: n_jobs or 1)


def apart(table: Any, weighted: bool) -> tuple[Any, Any, Any]:
    """Columns, target and weights of a frame, in memory or on Dask."""
    return table[COLUMNS], table["kind"], table["w"] if weighted else None


def fit(name: str, table: Any, n_jobs: int = 1) -> Any:
    make, weighted = CASES[name]
    X, y, w = apart(table, weighted)
    return quiet(make(n_jobs=n_jobs), X, y=y, sample_weight=w)


@cache
def in_memory(name: str) -> Any:
    return fit(name, frame())


@cache
def written(folder: Path, n: int) -> list[Path]:
    """The rows in ``n`` files of different lengths."""
    ends = (np.linspace(0.0, 1.0, n + 1) ** 1.5 * len(frame())).round().astype(int)
    paths = [folder / f"{n}-{k}.parquet" for k in range(n)]
    for path, begin, end in zip(paths, ends[:-1], ends[1:], strict=True):
        frame().iloc[begin:end].to_parquet(path, index=False)
    return paths


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parts")


def scanned(folder: Path, n: int, weighted: bool) -> Any:
    weight = "w" if weighted else None
    return ceiba.scan(written(folder, n), target="kind", weight=weight, columns=COLUMNS)


def parts_of(model: Any) -> dict[str, Any]:
    """All numbers of a fitted model."""
    found = {"class_prior_": model.class_prior_}
    for index, mixture in enumerate(model.mixtures_):
        for name in ("weights_", "means_", "covariances_", "log_likelihood_", "lower_bound_"):
            found[f"{name}{index}"] = np.asarray(getattr(mixture, name))
    return found


def assert_same(one: Any, other: Any, close: float = CLOSE) -> None:
    assert one.schema_ == other.schema_
    np.testing.assert_array_equal(one.classes_, other.classes_, strict=True)
    for name in ("n_iter_", "converged_", "n_components_"):
        found, expected = ([getattr(m, name) for m in model.mixtures_] for model in (one, other))
        assert found == expected, name
    expected = parts_of(other)
    for name, value in parts_of(one).items():
        atol = close * max(1.0, np.abs(expected[name]).max())
        np.testing.assert_allclose(value, expected[name], rtol=close, atol=atol, err_msg=name)


# Engines


@cases
@pytest.mark.usefixtures("threads")
def test_threads_change_no_bit(name: str) -> None:
    for n_jobs in (2, 3):
        assert_same(fit(name, frame(), n_jobs), in_memory(name), 0.0)


@cases
@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.usefixtures("threads")
def test_chunks_give_the_same_model(name: str, n: int, folder: Path) -> None:
    make, weighted = CASES[name]
    model = quiet(make(n_jobs=1), scanned(folder, n, weighted))
    assert_same(model, in_memory(name))
    if n == 5:
        again = quiet(make(n_jobs=3), scanned(folder, n, weighted))
        assert_same(again, model, 0.0)


@pytest.mark.parametrize("name", ["weights", "shared"])
def test_chunks_give_the_same_predictions_and_scores(name: str, folder: Path) -> None:
    model, weighted = in_memory(name), CASES[name][1]
    X, y, w = apart(frame(), weighted)
    scan = scanned(folder, 3, weighted)
    for method in ("predict_proba", "predict_log_proba", "score_samples", "class_log_densities"):
        found, expected = getattr(model, method)(scan), getattr(model, method)(X)
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(model.predict(scan), model.predict(X))
    expected = accuracy_score(y, model.predict(X), sample_weight=w)
    assert model.score(scan) == pytest.approx(expected, rel=1e-12)
    assert model.score(X, y, w) == pytest.approx(expected, rel=1e-12)
    assert 0.5 < expected < 1.0


@pytest.mark.parametrize("shared", [False, True])
def test_partitions_without_rows_or_weight_are_skipped(shared: bool, tmp_path: Path) -> None:
    table = frame().assign(w=np.where(np.arange(len(frame())) // 100 == 2, 0.0, frame()["w"]))
    paths = [tmp_path / f"{k}.parquet" for k in range(4)]
    for path, begin, end in zip(paths, (0, 200, 300, 300), (200, 300, 300, 500), strict=True):
        table.iloc[begin:end].to_parquet(path, index=False)
    make = maker(2, shared_covariance=shared, **SEEDS)
    X, y, w = apart(table, True)
    model = quiet(make(), ceiba.scan(paths, target="kind", weight="w"))
    assert_same(model, quiet(make(), X, y=y, sample_weight=w))


def test_score_counts_unknown_classes_as_wrong(tmp_path: Path) -> None:
    X, y, _ = apart(frame(), False)
    few = quiet(GaussianMixtureClassifier(), X[y != "late"], y=y[y != "late"])
    path = tmp_path / "rows.parquet"
    frame()[[*COLUMNS, "kind"]].to_parquet(path, index=False)
    expected = float((few.predict(X) == y).mean())
    assert few.score(ceiba.scan(path, target="kind")) == pytest.approx(expected)
    with pytest.raises(ValueError, match="target"):
        few.score(ceiba.scan(path, columns=COLUMNS))
    with pytest.raises(ValueError, match="requires y"):
        few.score(X)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_fit_events_have_global_row_numbers(weighted: bool, shared: bool, tmp_path: Path) -> None:
    """Row numbers are those of the whole table, in any partition."""
    table = frame().dropna().reset_index(drop=True)[:60].assign(a=3.0)
    table["kind"] = np.where(np.arange(60) % 3 == 1, "x", "y")
    table.loc[table["kind"] == "x", "a"] = 4.0
    table["w"] = np.where(np.arange(60) % 5 == 2, 0.0, 1.0)
    make = maker(shared_covariance=shared)
    X, y, w = apart(table, weighted)
    whole = quiet(make(), X, y=y, sample_weight=w)
    paths = [tmp_path / f"{k}.parquet" for k in range(3)]
    for path, begin, end in zip(paths, (0, 7, 31), (7, 31, 60), strict=True):
        kept = table if weighted else table.drop(columns="w")
        kept.iloc[begin:end].to_parquet(path, index=False)
    scan = ceiba.scan(paths, target="kind", weight="w" if weighted else None)
    events, expected = quiet(make(), scan).fit_events_, whole.fit_events_
    assert {event.kind for event in expected} == {"floored"}
    for event in expected:
        assert {table["kind"][row] for row in event.rows} == {event.class_label}
        assert not weighted or all(table["w"][row] > 0 for row in event.rows)
    assert [(e.class_label, e.component, e.rows) for e in events] == [
        (e.class_label, e.component, e.rows) for e in expected
    ]


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
@pytest.mark.parametrize("name", ["drawn", "drawn, shared"])
def test_dask_gives_the_same_model(name: str, folder: Path, client: Any) -> None:
    dd = pytest.importorskip("dask.dataframe")
    weighted = CASES[name][1]
    with client.as_current():
        table = dd.from_map(pd.read_parquet, written(folder, 3))
        X, y, _ = apart(table, weighted)
        model = fit(name, table)
        assert_same(model, in_memory(name))
        in_chunks = quiet(CASES[name][0](n_jobs=1), scanned(folder, 3, weighted))
        assert_same(model, in_chunks, 0.0)
        whole = X.compute()
        np.testing.assert_array_equal(model.predict(X), model.predict(whole))
        np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(whole), rtol=1e-12)
        assert model.score(X, y) == pytest.approx(model.score(whole, y.compute()), rel=1e-12)
