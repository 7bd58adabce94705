"""Forests and their process: threads, instruction sets and interrupts."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import RandomForestClassifier, RandomForestRegressor
from ceiba._typing import Array
from tests.budget import examples, first_of
from tests.ensemble.forest.parts import array_bits, record_bits, table
from tests.instruction_sets import arrays_of

# Threads


def rows(n: int = 3000) -> tuple[Any, Array, Array]:
    """Return numeric columns, classes and numbers."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 10))
    score = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n)
    return X, np.digitize(score, [0, 1, 2]), score


OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "binned": {"max_bins": 20, "missing": "branch"},
    "random thresholds": {"thresholds": "random", "n_thresholds": 2, "max_features": 3},
    "columns of a tree": {"max_features_per": "both", "tree_features": 6, "max_features": 2},
    "some rows": {"bootstrap": False, "max_samples": 0.4, "max_features": 0.5},
    "few leaves": {"max_leaf_nodes": 40, "max_samples": 0.5},
}


def everything(model: Any, X: Any, y: Array, new: Any) -> dict[str, Any]:
    """Return all results of a model as bytes."""
    found: dict[str, Any] = {"predicted": model._predict(new), "leaves": model.apply(new)}
    found["importances"] = model.feature_importances_
    found["corrected"] = model.corrected_importances(X, y)
    records = [model.forest_, model.oob_curve_, model.oob_importance_]
    records.append(model.oob_importance(X, y, n_repeats=2))
    if hasattr(model, "leaf_targets_"):
        found["quantiles"] = model.predict_quantiles(new, [0.1, 0.9])
        records.append(model.leaf_targets_)
        found["out of bag"], found["errors"] = model.oob_prediction_, model.oob_errors_
    else:
        found["out of bag"] = model.oob_decision_function_
    found = {name: array_bits(value) for name, value in found.items()}
    found |= {f"record {k}": record_bits(record) for k, record in enumerate(records)}
    return found | {"score": model.oob_score_, "training score": model.score(X, y)}


@pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")
@pytest.mark.parametrize("mixed", [False, True], ids=["numbers", "mixed"])
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_forest_does_not_depend_on_number_of_threads(kind: Any, name: str, mixed: bool) -> None:
    X, classes, numbers = table(700) if mixed else rows(900)
    assert_alike(kind, X, classes if kind is RandomForestClassifier else numbers, OPTIONS[name])


def assert_alike(kind: Any, X: Any, y: Array, options: dict[str, Any]) -> None:
    """Check that forests of one, two and three threads are equal."""
    options = {"oob_score": True, "importance": True, **options}
    if kind is RandomForestRegressor:
        options["quantiles"] = True
    found = [
        everything(kind(8, n_jobs=jobs, **options).fit(X, y), X, y, X[:300]) for jobs in (1, 2, 3)
    ]
    assert found[0] == found[1] == found[2]


@pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")
@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_blocks_of_rows_do_not_depend_on_number_of_threads(kind: Any) -> None:
    """Predictions are split among threads from 4096 rows on."""
    X, classes, numbers = rows(9000)
    y = classes if kind is RandomForestClassifier else numbers
    assert_alike(kind, X, y, {"max_depth": 6, "max_features": 3})


@pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
def test_predictions_do_not_depend_on_number_of_threads(kind: Any) -> None:
    X, classes, numbers = rows(9000)
    model = kind(5, max_depth=8).fit(
        X[:500], (classes if kind is RandomForestClassifier else numbers)[:500]
    )
    found = [model.set_params(n_jobs=jobs)._predict(X) for jobs in (1, 2, 3)]
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    # Blocks of rows do not matter.
    np.testing.assert_array_equal(model._predict(X[4090:4100]), found[0][4090:4100])


@examples(25)
@given(st.integers(1, 40), st.integers(1, 9), st.integers(0, 2**64 - 1))
def test_small_forests_do_not_depend_on_number_of_threads(n: int, trees: int, seed: int) -> None:
    X, classes, _ = table(n, seed=seed % 1000)
    models = [
        RandomForestClassifier(trees, random_state=seed % 2**32, n_jobs=jobs).fit(X, classes)
        for jobs in (1, 3)
    ]
    assert record_bits(models[0].forest_) == record_bits(models[1].forest_)


def test_concurrent_predictions() -> None:
    """The native forest that the first prediction creates is shared."""
    X, classes, _ = rows(1200)
    model = RandomForestClassifier(10, n_jobs=2).fit(X, classes)
    expected = model.predict_proba(X)
    fresh = RandomForestClassifier(10, n_jobs=2).fit(X, classes)
    found: list[Any] = [None] * 6

    def predict(index: int) -> None:
        found[index] = fresh.predict_proba(X)

    threads = [threading.Thread(target=predict, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        np.testing.assert_array_equal(one, expected)


def test_concurrent_fits() -> None:
    X, classes, _ = rows(1500)
    expected = [RandomForestClassifier(8, random_state=s).fit(X, classes) for s in range(4)]
    models = [RandomForestClassifier(8, random_state=s) for s in range(4)]
    threads = [threading.Thread(target=model.fit, args=(X, classes)) for model in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for model, one in zip(models, expected, strict=True):
        assert record_bits(model.forest_) == record_bits(one.forest_)


# Instruction sets

FITS = """
import sys, numpy as np
from ceiba import RandomForestClassifier, RandomForestRegressor, _native
rng = np.random.default_rng(0)
X, y = rng.normal(size=(600, 6)), rng.normal(size=600)
X[rng.random(X.shape) < 0.05] = np.nan
found = {"isa": np.array(_native.instruction_set())}
for name, model, target in [
    ("entropy", RandomForestClassifier(5, criterion="entropy"), y > 0),
    ("random", RandomForestClassifier(5, thresholds="random"), y > 0),
    ("numbers", RandomForestRegressor(5), y),
    ("binned", RandomForestRegressor(5, max_bins=9, max_features=2), y),
]:
    model.fit(X, target)
    found |= {name + " nodes": model.forest_.nodes, name + " predicted": model.predict(X)}
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_forest_does_not_depend_on_instruction_set(isa: str) -> None:
    here: dict[str, Any] = {}
    exec(FITS, here)
    other = arrays_of(FITS + "np.savez(sys.stdout.buffer, **found)", isa)
    if other.pop("isa") != isa:
        pytest.skip(f"this processor has no {isa}")
    for name, array in other.items():
        np.testing.assert_array_equal(here["found"][name], array, err_msg=name)


# Ctrl-C

SCRIPT = """
import time, numpy as np
from ceiba import RandomForestClassifier, RandomForestRegressor
rng = np.random.default_rng(0)
X, weight = rng.normal(size=({rows}, 20)), None
classes, numbers = rng.integers(5, size=len(X)), rng.normal(size=len(X))
{before}
forest = model.forest_
print("ready", flush=True)
try:
    {task}
    print("finished")
except KeyboardInterrupt:
    print(time.monotonic(), model.forest_ is forest)
"""
CLASSES = "model = RandomForestClassifier(2, max_depth=5).fit(X, classes)"
NUMBERS = "model = RandomForestRegressor(2, max_depth=5).fit(X, numbers)"
# Each takes 3 seconds or more on a fast core, so that the signal always meets it.
LONG_CALLS = {
    "many small trees": (500, CLASSES, "model.set_params(n_estimators=10**6).fit(X, classes)"),
    "one large tree": (
        800_000,
        CLASSES,
        "model.set_params(n_estimators=1, n_jobs=1, max_features=None, max_depth=None)"
        ".fit(X, classes)",
    ),
    "trees of all columns": (
        20_000, NUMBERS, "model.set_params(n_estimators=10_000, max_depth=None).fit(X, numbers)"
    ),
    # A second tree on another thread, which does not receive the signal.
    "two large trees": (
        800_000, NUMBERS,
        "model.set_params(max_features=None, max_depth=None, n_jobs=2).fit(X, numbers)",
    ),
    "many draws": (
        200, CLASSES, "model.set_params(max_samples=10**7, n_estimators=10_000).fit(X, classes)"
    ),
    "importances": (200_000, CLASSES, "model.oob_importance(X, classes, n_repeats=255)"),
    "quantiles": (
        20_000,
        "model = RandomForestRegressor(300, max_depth=1, max_features=1, quantiles=True)\n"
        "model.fit(X[:4000], numbers[:4000])",
        "model.predict_quantiles(X, [0.5])",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", first_of(LONG_CALLS))
def test_interrupt_ends_a_long_call(name: str) -> None:
    n, before, task = LONG_CALLS[name]
    code = SCRIPT.format(rows=n, before=before, task=task)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.3)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        received, unchanged = process.communicate(timeout=10)[0].split()
    finally:
        process.kill()
    latency = float(received) - sent
    print(f"{name}: {1000 * latency:.0f} ms")
    assert unchanged == "True"
    # The documented limit is 200 ms; machines that run tests are busy.
    assert latency < 2.0
