"""Sparse matrices give the bits of their dense arrays, without a dense copy."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.data import sparse as sparse_data
from ceiba.ensemble.gradient_boosting import base
from tests.ensemble.gradient_boosting.parts import KINDS, bits, raw_scores

N, D = 300, 7


def make_dense(n: int = N, seed: int = 0) -> Any:
    """Return rows of which two thirds are zero, with missing values and a column of zeros."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, D)) < 1 / 3, rng.normal(size=(n, D)).round(1), 0.0)
    dense[rng.random((n, D)) < 0.05] = np.nan
    dense[:, 5] = 0.0
    return dense


X, X_NEW = make_dense(), make_dense(120, seed=1)
NUMBERS = np.nan_to_num(X) @ np.arange(D) + np.random.default_rng(2).normal(size=N) / 10
CLASSES = np.digitize(NUMBERS, [-1.0, 1.0])
WEIGHTS = np.random.default_rng(3).integers(0, 4, N).astype(float)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make dense at most two columns, or some dozen rows, at a time; sample a part of the rows."""
    monkeypatch.setattr(sparse_data, "_DENSE_BYTES", 2 * 8 * 200)
    monkeypatch.setattr(base, "SAMPLE_ROWS", 200)


def target_of(kind: Any) -> Any:
    return CLASSES if kind is GradientBoostingClassifier else NUMBERS


def wide_indices(matrix: Any) -> Any:
    """Return a matrix with 64-bit indices."""
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def in_pieces(dense: Any) -> Any:
    """Return a coo array with explicit zeros, and every value as the sum of two entries."""
    rows, columns = np.indices(dense.shape).reshape(2, -1)
    half = dense.ravel() / 2
    return sparse.coo_array(
        (np.r_[half, half], (np.r_[rows, rows], np.r_[columns, columns])), dense.shape
    )


def repeated(dense: Any) -> Any:
    """Return a csr array that has every value in two entries."""
    n, d = dense.shape
    columns, half = np.tile(np.arange(d), 2 * n), np.tile(dense / 2, 2).ravel()
    return sparse.csr_array((half, columns, np.arange(0, 2 * d * n + 1, 2 * d)), (n, d))


def unsorted(dense: Any) -> Any:
    """Return a csc array with rows in descending order, and a negative zero in each column."""
    columns = [np.flatnonzero(column != 0)[::-1] for column in dense.T]
    empty = [int(np.flatnonzero(column == 0)[0]) for column in dense.T]
    indices = np.concatenate([[*rows, row] for rows, row in zip(columns, empty, strict=True)])
    ends = np.cumsum([0, *(len(rows) + 1 for rows in columns)])
    values = [[*c[r], -0.0] for c, r in zip(dense.T, columns, strict=True)]
    return sparse.csc_array((np.concatenate(values), indices.astype(int), ends), dense.shape)


FORMS = {
    "csr": sparse.csr_array,
    "csc": sparse.csc_matrix,
    "coo": sparse.coo_array,
    "lil": sparse.lil_matrix,
    "csr64": lambda dense: wide_indices(sparse.csr_matrix(dense)),
    "csc64": lambda dense: wide_indices(sparse.csc_array(dense)),
    "in pieces": in_pieces,
    "repeated": repeated,
    "unsorted": unsorted,
}


def fit(kind: Any, rows: Any, *args: Any, **options: Any) -> Any:
    parameters = {"min_samples_leaf": 3, "max_leaf_nodes": 6, "random_state": 4, **options}
    fitting = {
        name: parameters.pop(name)
        for name in ("X_val", "y_val", "sample_weight", "checkpoint")
        if name in parameters
    }
    return kind(**{"n_estimators": 6, **parameters}).fit(rows, target_of(kind), **fitting)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_form_gives_the_bits_of_the_dense_rows(kind: Any, form: str) -> None:
    make = FORMS[form]
    expected, found = fit(kind, X), fit(kind, make(X))
    assert bits(found) == bits(expected)
    rows = make(X_NEW)
    np.testing.assert_array_equal(raw_scores(found, rows), raw_scores(expected, X_NEW))
    np.testing.assert_array_equal(found.apply(rows), expected.apply(X_NEW))
    stages = zip(found.staged_predict(rows), expected.staged_predict(X_NEW), strict=True)
    for one, other in stages:
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(found.shap_values(rows), expected.shap_values(X_NEW))
    assert found.score(make(X), target_of(kind)) == expected.score(X, target_of(kind))


OPTIONS: list[dict[str, Any]] = [
    {"sample_weight": WEIGHTS},
    {"early_stopping": True, "n_iter_no_change": 2, "n_estimators": 15},
    {"early_stopping": True, "sample_weight": WEIGHTS},
    {"subsample": 0.5, "max_features": 0.5},
    {"sampling": "goss"},
    {"dropout": 0.5},
    {"max_bins": 4},
    {"trace": True, "init": "zero"},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_options_give_the_bits_of_the_dense_rows(kind: Any, options: dict[str, Any]) -> None:
    expected, found = fit(kind, X, **options), fit(kind, sparse.csr_array(X), **options)
    assert bits(found) == bits(expected)
    for name, losses in expected.losses_.items():
        np.testing.assert_array_equal(found.losses_[name], losses)


@pytest.mark.parametrize("kind", KINDS)
def test_validation_rows(kind: Any) -> None:
    y_val = target_of(kind)[: len(X_NEW)]
    given = {"early_stopping": True, "tol": 0.0, "y_val": y_val}
    expected = fit(kind, X, X_val=X_NEW, **given)
    found = fit(kind, sparse.csr_array(X), X_val=sparse.coo_array(X_NEW), **given)
    mixed = fit(kind, sparse.csr_array(X), X_val=X_NEW, **given)
    assert bits(found) == bits(mixed) == bits(expected)
    np.testing.assert_array_equal(found.losses_["validation"], expected.losses_["validation"])


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("kind", KINDS)
def test_warm_start(kind: Any, dropout: float) -> None:
    rows, models = sparse.csr_array(X), []
    for given in (X, rows):
        model = fit(kind, given, warm_start=True, dropout=dropout, n_estimators=3)
        models.append(model.set_params(n_estimators=6).fit(given, target_of(kind)))
    assert bits(models[0]) == bits(models[1])


@pytest.mark.parametrize("kind", KINDS)
def test_checkpoints(kind: Any, tmp_path: Any) -> None:
    validation = {"X_val": sparse.csr_array(X_NEW), "y_val": target_of(kind)[: len(X_NEW)]}
    path, rows = tmp_path / "state", sparse.csr_array(X)
    fit(kind, rows, checkpoint=path, n_estimators=3, **validation)
    # The digests are those of the codes: the dense rows continue the fit of the sparse ones.
    found = fit(kind, X, checkpoint=path, **{**validation, "X_val": X_NEW})
    assert bits(found) == bits(fit(kind, X))
    other = sparse.csr_array(np.where(X == 0, 1.0, X))
    with pytest.raises(ValueError, match="another X"):
        fit(kind, other, checkpoint=path, n_estimators=9, **validation)


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint64, bool])
def test_dtypes(dtype: Any) -> None:
    dense = np.nan_to_num(X * 10).clip(0, 100).astype(dtype)
    rows = sparse.csr_array(dense)
    expected, found = (fit(GradientBoostingRegressor, given) for given in (dense, rows))
    assert bits(found) == bits(expected)
    assert found.schema_ == expected.schema_
    np.testing.assert_array_equal(found.predict(rows), expected.predict(dense))
    np.testing.assert_array_equal(found.predict(sparse.csr_array(X_NEW)), expected.predict(X_NEW))


def test_a_single_leaf_and_a_model_of_frames() -> None:
    constant = fit(GradientBoostingRegressor, sparse.csr_array((N, 2)), min_samples_leaf=N)
    assert len(set(constant.predict(sparse.csr_array((5, 2))))) == 1
    frames = pytest.importorskip("pandas").DataFrame(X).rename(columns=str)
    named = fit(GradientBoostingRegressor, frames)
    with pytest.warns(UserWarning, match="feature names"):
        found = named.predict(sparse.csr_array(X_NEW))
    np.testing.assert_array_equal(found, fit(GradientBoostingRegressor, X).predict(X_NEW))


def test_explanations() -> None:
    model, row = fit(GradientBoostingClassifier, X), sparse.csr_array(X_NEW[:1])
    assert model.explain(row).to_json() == model.explain(X_NEW[:1]).to_json()
    found = model.shap_values(sparse.csr_array(X_NEW), background=sparse.csr_array(X[:9]))
    np.testing.assert_array_equal(found, model.shap_values(X_NEW, background=X[:9]))


def test_the_matrix_is_not_changed() -> None:
    for given in (repeated(X), repeated(X.T).T, unsorted(X), sparse.csc_array(X)):
        before = [part.copy() for part in (given.data, given.indices, given.indptr)]
        fit(GradientBoostingRegressor, given).predict(given)
        for part, old in zip((given.data, given.indices, given.indptr), before, strict=True):
            np.testing.assert_array_equal(part, old)


def test_the_limit_is_that_of_the_codes() -> None:
    rows, mib = sparse.csr_array(X), X.size / 2**20
    with config_context(working_memory=1.01 * mib):  # as floats the rows would take eight times it
        found = fit(GradientBoostingRegressor, rows, X_val=rows, y_val=NUMBERS)
        found.predict(sparse.vstack([rows] * 3))  # rows are predicted in blocks
        with pytest.raises(ValueError, match="as a dense array"):
            found.shap_values(X, background=rows)
        with pytest.raises(ValueError, match=r"as bin codes, more than the .*working_memory=1\)"):
            found.fit(sparse.vstack([rows] * 2), np.zeros(2 * N))
    assert bits(found) == bits(fit(GradientBoostingRegressor, X))
    huge = sparse.csr_matrix((2**30, 2**30))
    with pytest.raises(ValueError, match="max_features of a vectorizer"):
        GradientBoostingRegressor().fit(huge, np.zeros(2))


def test_codes_of_two_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SAMPLE_ROWS", 1000)
    dense = np.random.default_rng(0).normal(size=(600, 2)) * [1.0, 0.0]
    rows, y = sparse.csr_array(dense), dense[:, 0]
    model = GradientBoostingRegressor(2, max_bins=500)
    expected = bits(model.fit(dense, y))
    assert bits(model.fit(rows, y)) == expected
    with (
        config_context(working_memory=1.5 * dense.size / 2**20),
        pytest.raises(ValueError, match="as bin codes"),
    ):
        model.fit(rows, y)


PEAK = """
from pathlib import Path
import numpy as np
from scipy import sparse
from ceiba import GradientBoostingRegressor

def peak():
    # In MiB. Not ru_maxrss, which begins with the peak of the parent process.
    (line,) = (s for s in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in s)
    return int(line.split()[1]) // 1024

rng = np.random.default_rng(0)
indices = rng.integers(0, 200_000, 1_000_000), rng.integers(0, 500, 1_000_000)
X = sparse.coo_array((rng.random(1_000_000), indices), (200_000, 500)).tocsr()
y = X[:, :9].sum(axis=1)
before = peak()
model = GradientBoostingRegressor(3, n_jobs=2).fit(X, y, X_val=X, y_val=y)
model.predict(X)
print(peak() - before)
"""


@pytest.mark.slow
def test_memory_of_a_fit() -> None:
    ran = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    # Measured: 275 MiB. Codes take 95, twice: by column and by row. A dense copy: 763 more.
    assert int(ran.stdout) < 400
