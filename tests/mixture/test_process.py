"""Mixtures in their process: instruction sets, Ctrl-C, forks, model files."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import zipfile
from io import BytesIO
from queue import Empty

import numpy as np
import pytest

import ceiba
from ceiba import GaussianMixture, _native
from ceiba.export import ModelFileError
from ceiba.mixture import ConjugatePrior
from tests.budget import first_of
from tests.instruction_sets import arrays_of
from tests.mixture.parts import FORMS, drop_values, fitted, groups, quiet

# Instruction sets

FITS = """
import sys, warnings, numpy as np
from ceiba import GaussianMixture, _native
warnings.simplefilter("ignore")
rng = np.random.default_rng(3)
found = {"isa": np.array(_native.instruction_set())}
for d, k, dtype, missing in [(1, 2, "f8", 0), (3, 4, "f8", 0), (17, 3, "f4", 0), (5, 3, "f8", 1)]:
    middles = rng.uniform(-8, 8, size=(k, d))
    X = (middles[rng.integers(k, size=1000)] + rng.normal(size=(1000, d))).astype(dtype)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    for form in ("full", "diag", "tied"):
        start = np.eye(k)[rng.integers(k, size=1000)] + 0.1
        model = GaussianMixture(k, covariance_type=form, responsibilities_init=start, tol=0,
                                max_iter=8, n_jobs=1).fit(X)
        name = f"{form}-{d}-{dtype}-{missing}"
        found[name + "-means"] = model.means_
        found[name + "-covariances"] = model.covariances_
        found[name + "-densities"] = model.score_samples(X)
        found[name + "-posteriors"] = model.predict_proba(X)
np.savez(sys.stdout.buffer, **found)
"""


@pytest.mark.slow
@pytest.mark.parametrize("isa", ["avx2", "avx512"])
def test_instruction_sets_give_the_same_mixture(isa):
    portable, wide = arrays_of(FITS, "portable"), arrays_of(FITS, isa)
    assert portable["isa"] == "portable"
    if wide["isa"] != isa:
        pytest.skip(f"this processor has no {isa}")
    for name in portable.keys() - {"isa"}:
        np.testing.assert_allclose(wide[name], portable[name], 1e-9, 1e-9, err_msg=name)


# Ctrl-C

LONG_FIT = """
import time, numpy as np
from ceiba import GaussianMixture
n, d, k, form, missing = {sizes}
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
X[rng.random((n, d)) < missing] = np.nan
shares = np.eye(k)[np.arange(n) % k] + 0.5
model = GaussianMixture(k, covariance_type=form, responsibilities_init=shares, tol=0,
                        max_iter=1_000_000)
print("ready", flush=True)
try:
    model.fit(X)
except KeyboardInterrupt:
    print(time.monotonic(), not hasattr(model, "means_"))
"""
LONG_CALL = """
import time, numpy as np
from ceiba import _native
n, d, k, missing = {sizes}
rng = np.random.default_rng(0)
X = rng.normal(size=(n, d))
X[rng.random((n, d)) < missing] = np.nan
order, starts = _native.missing_patterns(X)
eye = np.tile(np.eye(d).reshape(1, -1), (k, 1))
patterns = _native.MissingPatterns(True, order, starts) if missing else None
model = _native.GaussianComponents(np.zeros(k), np.zeros((k, d)), eye, eye)
print("ready", flush=True)
try:
    _native.mixture_posteriors(X, model, patterns, log_density=np.zeros(n), threads=1)
    print("finished early")
except KeyboardInterrupt:
    print(time.monotonic(), True)
"""
LONG = {
    "many short steps": LONG_FIT.format(sizes=(20_000, 4, 3, "full", 0.0)),
    "many components": LONG_FIT.format(sizes=(20_000, 32, 300, "full", 0.0)),
    "variances alone": LONG_FIT.format(sizes=(100_000, 16, 50, "diag", 0.0)),
    "many missing values": LONG_FIT.format(sizes=(5_000, 8, 3, "full", 0.3)),
    "one long call": LONG_CALL.format(sizes=(60_000, 64, 200, 0.0)),
    "one long call with missing values": LONG_CALL.format(sizes=(20_000, 60, 60, 0.4)),
}


def python(code):
    """Start a Python process that runs ``code``."""
    return subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        text=True,
    )


@pytest.mark.parametrize("name", first_of(LONG))
def test_interrupt_ends_a_long_call(name):
    process = python(LONG[name])
    try:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.3)
        sent = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=90)
    finally:
        process.kill()
    assert process.returncode == 0, err
    heard, unfinished = out.split()
    latency = float(heard) - sent
    print(f"{name}: {1000 * latency:.0f} ms")
    assert unfinished == "True"
    # The promise is 200 ms; machines that run tests are busy.
    assert latency < 2.0


# Forks

ROWS = drop_values(groups(1, 4_000, 4, 3))


def fit_in_child(results):
    model = GaussianMixture(3, n_jobs=4).fit(ROWS)
    results.put((model.log_likelihood_, _native.forked(), _native.max_threads()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_forked_child_can_fit_after_its_parent_used_threads():
    expected = GaussianMixture(3, n_jobs=4).fit(ROWS).log_likelihood_
    fork = multiprocessing.get_context("fork")
    results = fork.Queue()
    child = fork.Process(target=fit_in_child, args=(results,))
    child.start()
    try:
        found, forked, threads = results.get(timeout=60)
    except Empty:
        pytest.fail("the forked child hangs")
    finally:
        child.kill()
        child.join()
    assert (forked, threads) == (True, 1)
    assert found == expected
    assert GaussianMixture(3, n_jobs=4).fit(ROWS).log_likelihood_ == expected


# Model files

SMALL = groups(2, 60, 3, 2)


def saved(model, tmp_path):
    path = tmp_path / "model.ceiba"
    ceiba.save(model, path)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_saved_mixture_round_trips(form, tmp_path):
    model = fitted(SMALL, k=2, covariance_type=form, trace=True)
    again = ceiba.load(saved(model, tmp_path))
    assert again.get_params().keys() == model.get_params().keys()
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    for name in ("predict_proba", "score_samples", "impute"):
        rows = drop_values(SMALL)
        np.testing.assert_array_equal(getattr(again, name)(rows), getattr(model, name)(rows))
    assert again.fit_events_ == model.fit_events_
    assert len(again.trace_) == len(model.trace_)
    assert again.schema_ == model.schema_
    np.testing.assert_array_equal(again.sample(7)[0], model.sample(7)[0])


def test_saved_mixture_continues_with_partial_fit(tmp_path):
    model = GaussianMixture(2).partial_fit(SMALL)
    again = ceiba.load(saved(model, tmp_path))
    for one in (model, again):
        one.partial_fit(SMALL[::2])
    np.testing.assert_array_equal(again.means_, model.means_)
    assert again.n_iter_ == model.n_iter_ == 2


def test_choice_fit_events_and_prior_are_saved(tmp_path):
    heap = np.vstack([SMALL, np.tile([[30.0, 30.0, 30.0]], (9, 1))])
    prior = ConjugatePrior(mean=np.zeros(3), shrinkage=0.5)
    model = quiet(GaussianMixture("icl", max_components=3, prior=prior), heap)
    again = ceiba.load(saved(model, tmp_path))
    assert repr(again.choice_) == repr(model.choice_)
    assert again.prior.shrinkage == 0.5
    np.testing.assert_array_equal(again.prior.mean, np.zeros(3))
    shrunk = quiet(GaussianMixture(3), heap)
    assert ceiba.load(saved(shrunk, tmp_path)).fit_events_ == shrunk.fit_events_


def damaged(path, entry, value):
    """The file with one array, or one value of the state, replaced."""
    buffer = BytesIO()
    with zipfile.ZipFile(path) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    if isinstance(value, np.ndarray):
        array = BytesIO()
        np.save(array, value)
        entries[f"model/{entry}.npy"] = array.getvalue()
    else:
        record = json.loads(entries["model.json"])
        record["model"]["state" if entry.endswith("_") else "parameters"][entry] = value
        entries["model.json"] = json.dumps(record).encode()
    with zipfile.ZipFile(buffer, "w") as new:
        for name, content in entries.items():
            new.writestr(name, content)
    return buffer.getvalue()


DAMAGES = {
    "negative weights": ("weights_", np.array([-0.5, 1.5])),
    "weights beyond one": ("weights_", np.array([0.7, 0.7])),
    "weights of NaN": ("weights_", np.array([np.nan, 1.0])),
    "too few weights": ("weights_", np.array([1.0])),
    "infinite means": ("means_", np.full((2, 3), np.inf)),
    "narrow means": ("means_", np.zeros((2, 2))),
    "integer means": ("means_", np.zeros((2, 3), np.int64)),
    "no covariances": ("covariances_", np.zeros((2, 3, 3))),
    "negative covariances": ("covariances_", -np.stack([np.eye(3)] * 2)),
    "asymmetric covariances": ("covariances_", np.stack([np.eye(3) + np.eye(3, k=1)] * 2)),
    "covariances of another form": ("covariances_", np.ones((2, 3))),
    "another form": ("covariance_type", "diag"),
    "another number": ("n_components_", 3),
    "another width": ("n_features_in_", 4),
    "an impossible option": ("covariance_floor", 2.0),
    "variances of another width": ("_column_variances", np.ones(2)),
    "variances of nothing": ("_column_variances", np.zeros(3)),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damaged_mixture_raises(name, tmp_path):
    path = saved(fitted(SMALL, k=2), tmp_path)
    path.write_bytes(damaged(path, *DAMAGES[name]))
    with pytest.raises(ModelFileError):
        ceiba.load(path)


def test_rewritten_file_without_damage_loads(tmp_path):
    """Writing the original value back gives a file that loads."""
    model = fitted(SMALL, k=2)
    path = saved(model, tmp_path)
    path.write_bytes(damaged(path, "weights_", model.weights_))
    np.testing.assert_array_equal(ceiba.load(path).means_, model.means_)


@pytest.mark.parametrize(("part", "shape"), [(0, (3,)), (1, (5, 3)), (2, (2, 3))])
def test_moments_of_wrong_shape_raise(part, shape, tmp_path):
    path = saved(GaussianMixture(2).partial_fit(SMALL), tmp_path)
    path.write_bytes(damaged(path, f"_moments/{part}", np.ones(shape)))
    with pytest.raises(ModelFileError):
        ceiba.load(path)
