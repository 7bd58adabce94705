"""Gradient boosting and its process: threads, order of rows, instruction sets, Ctrl-C and forks."""

from __future__ import annotations

import multiprocessing
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import joblib
import numpy as np
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array
from tests.budget import first_of
from tests.ensemble.gradient_boosting.parts import KINDS, bits, make_rows, raw_scores
from tests.instruction_sets import arrays_of

# Work is divided among threads from some thousand rows on.
ROWS, CLASSES, NUMBERS = make_rows(6000)

OPTIONS: list[dict[str, Any]] = [
    {},
    {"method": "gradient", "growth": "breadth_first"},
    {"subsample": 0.7, "max_features": 0.5, "tree_features": 0.8},
    {"sampling": "goss", "dropout": 0.3},
    {"max_bins": 1000, "gradient_bits": 41, "early_stopping": True},
]


def fit(kind: Any, rows: Any = ROWS, order: Any = slice(None), **options: Any) -> Any:
    y = CLASSES if kind is GradientBoostingClassifier else NUMBERS
    return kind(**{"n_estimators": 4, **options}).fit(rows, y[order])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_models_do_not_depend_on_number_of_threads(kind: Any, options: dict[str, Any]) -> None:
    models = [fit(kind, n_jobs=jobs, **options) for jobs in (1, 2, 3)]
    for model in models[1:]:
        assert bits(model) == bits(models[0])
        np.testing.assert_array_equal(raw_scores(model, ROWS), raw_scores(models[0], ROWS))
        np.testing.assert_array_equal(model.apply(ROWS), models[0].apply(ROWS))


def test_one_tree_for_all_classes_does_not_depend_on_number_of_threads() -> None:
    options = {"multi_strategy": "multi_output_tree"}
    models = [fit(GradientBoostingClassifier, n_jobs=jobs, **options) for jobs in (1, 2, 3)]
    assert bits(models[0]) == bits(models[1]) == bits(models[2])


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile", "poisson", "gamma"])
def test_losses_do_not_depend_on_number_of_threads(loss: str) -> None:
    y = np.exp(NUMBERS / 3)
    models = [
        GradientBoostingRegressor(3, loss=loss, n_jobs=jobs).fit(ROWS, y) for jobs in (1, 2, 3)
    ]
    assert bits(models[0]) == bits(models[1]) == bits(models[2])


@pytest.mark.parametrize("options", [{}, {"method": "gradient"}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_does_not_matter(kind: Any, options: dict[str, Any]) -> None:
    """Sums are exact; only the mean of the first scores and of leaf values is rounded."""
    order = np.random.default_rng(0).permutation(len(ROWS))
    one = fit(kind, **options)
    other = fit(kind, ROWS.iloc[order].reset_index(drop=True), order, **options)
    np.testing.assert_allclose(raw_scores(one, ROWS), raw_scores(other, ROWS), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_layouts_of_rows_do_not_matter(kind: Any) -> None:
    rows = ROWS[["b", "c", "d"]].to_numpy()
    models = [
        fit(kind, layout)
        for layout in (
            rows,
            np.asfortranarray(rows),
            np.repeat(rows, 2, axis=0)[::2],
            rows.tolist(),
        )
    ]
    assert len({bits(model) for model in models}) == 1
    np.testing.assert_array_equal(
        raw_scores(models[0], rows), raw_scores(models[0], np.asfortranarray(rows))
    )
    floats = rows.astype(np.float32)
    single, double = fit(kind, floats), fit(kind, floats.astype(np.float64))
    np.testing.assert_array_equal(raw_scores(single, floats), raw_scores(double, floats))


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_of_blocks_are_those_of_all_rows(kind: Any) -> None:
    """Many rows walk through compact trees, few are routed one by one."""
    rows = ROWS[["b", "c", "d"]].to_numpy()
    model = fit(kind, rows, n_estimators=20)
    whole = raw_scores(model, rows)
    for first, last in ((0, 1), (5, 17), (100, 163), (1000, 3100)):
        np.testing.assert_array_equal(raw_scores(model, rows[first:last]), whole[first:last])


def test_parallel_fits_are_those_of_one_process() -> None:
    def job(seed: int) -> tuple[bytes, ...]:
        return bits(fit(GradientBoostingRegressor, subsample=0.5, random_state=seed))

    expected = [job(seed) for seed in range(4)]
    found = joblib.Parallel(n_jobs=2, prefer="threads")(joblib.delayed(job)(s) for s in range(4))
    assert list(found) == expected


def test_concurrent_fits_and_predictions() -> None:
    model = fit(GradientBoostingClassifier)
    expected = raw_scores(model, ROWS)
    fresh = fit(GradientBoostingClassifier)
    found: list[Any] = [None] * 6

    def work(index: int) -> None:
        found[index] = raw_scores(fresh if index % 2 else fit(GradientBoostingClassifier), ROWS)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one in found:
        np.testing.assert_array_equal(one, expected)


def _fit_in_child(queue: Any) -> None:
    queue.put(bits(fit(GradientBoostingClassifier, n_jobs=2)))


def test_a_forked_child_fits_the_same_model() -> None:
    expected = bits(fit(GradientBoostingClassifier, n_jobs=2))  # its threads are gone in the child
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=_fit_in_child, args=(queue,))
    child.start()
    try:
        assert queue.get(timeout=60) == expected
    finally:
        child.join(10)
        child.kill()


# Instruction sets

FITS = """
import sys, numpy as np
from ceiba import GradientBoostingClassifier, GradientBoostingRegressor, _native
rng = np.random.default_rng(0)
X, y = rng.normal(size=(900, 6)), rng.normal(size=900)
X[rng.random(X.shape) < 0.05] = np.nan
found = {"isa": np.array(_native.instruction_set())}
for name, model, target in [
    ("two", GradientBoostingClassifier(5), y > 0),
    ("three", GradientBoostingClassifier(5), np.digitize(y, [-1, 1])),
    ("numbers", GradientBoostingRegressor(5, method="gradient"), y),
]:
    model.fit(X, target)
    found |= {name + " column": model.boosted_trees_.to_forest().importances != 0,
              name + " raw": model._raw_scores(X)}
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["portable", "avx2"])
def test_models_do_not_depend_on_instruction_set(isa: str) -> None:
    """Exponentials of vectors differ in the last bits."""
    here: dict[str, Any] = {}
    exec(FITS, here)
    other = arrays_of(FITS + "np.savez(sys.stdout.buffer, **found)", isa)
    if other.pop("isa") != isa:
        pytest.skip(f"this processor has no {isa}")
    for name, array in other.items():
        if array.dtype == bool:
            np.testing.assert_array_equal(here["found"][name], array, err_msg=name)
        else:
            np.testing.assert_allclose(here["found"][name], array, rtol=1e-9, err_msg=name)


# Ctrl-C

SCRIPT = """
import time, numpy as np
from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
rng = np.random.default_rng(0)
X = rng.normal(size=({rows}, 20))
classes, numbers = rng.integers(3, size=len(X)), rng.normal(size=len(X))
model = {model}.fit(X[:1000], {target}[:1000])
trees = model.boosted_trees_
print("ready", flush=True)
try:
    {task}
    print("finished")
except KeyboardInterrupt:
    print(time.monotonic(), model.boosted_trees_ is trees)
"""
# Each takes 3 seconds or more on a fast core, so that the signal always meets it.
LONG_CALLS: dict[str, tuple[int, str, str, str]] = {
    "many rounds": (
        20_000, "GradientBoostingRegressor(2)", "numbers",
        "model.set_params(n_estimators=10**5).fit(X, numbers)",
    ),
    "large tables": (
        600_000, "GradientBoostingClassifier(2)", "classes",
        "model.set_params(n_estimators=1000, n_jobs=1).fit(X, classes)",
    ),
    "quantiles": (
        600_000, "GradientBoostingRegressor(2, loss='absolute_error')", "numbers",
        "model.set_params(n_estimators=1000).fit(X, numbers)",
    ),
    "warm start": (
        20_000, "GradientBoostingRegressor(2, warm_start=True)", "numbers",
        "model.set_params(n_estimators=10**5).fit(X, numbers)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", first_of(LONG_CALLS))
def test_interrupt_ends_a_long_fit(name: str) -> None:
    n, model, target, task = LONG_CALLS[name]
    code = SCRIPT.format(rows=n, model=model, target=target, task=task)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.5)
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


def test_arrays_of_the_caller_are_not_changed() -> None:
    X: Array = ROWS[["b", "c", "d"]].to_numpy().copy()
    y, weight = NUMBERS.copy(), np.ones(len(X))
    before = X.tobytes(), y.tobytes(), weight.tobytes()
    GradientBoostingRegressor(3, loss="huber").fit(X, y, sample_weight=weight).predict(X)
    assert before == (X.tobytes(), y.tobytes(), weight.tobytes())
