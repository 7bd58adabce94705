"""Checkpoints: a continued fit has the bits of an uninterrupted one, and other fits are refused."""

from __future__ import annotations

import json
import shutil
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import ceiba
from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.base import ParameterError, archive
from ceiba.data.io import files
from ceiba.ensemble.gradient_boosting import checkpoint
from ceiba.ensemble.gradient_boosting.checkpoint import (
    CheckpointError,
    CheckpointWarning,
    _digest,
    _encode,
    _read,
    open_checkpoint,
)
from tests.ensemble.gradient_boosting.interrupted_fit import CASES, kill_after_writes, make, rows


def assert_equal_fits(one, other):
    """Compare the trees, losses and traces of two models, bit for bit."""
    ours, theirs = one.boosted_trees_.to_json(), other.boosted_trees_.to_json()
    assert ours.keys() == theirs.keys()
    for name, value in ours.items():
        np.testing.assert_array_equal(value, theirs[name], err_msg=name, strict=False)
    assert one.losses_.keys() == other.losses_.keys()
    for name, losses in one.losses_.items():
        np.testing.assert_array_equal(losses, other.losses_[name], err_msg=name)
    frames = getattr(one, "trace_", []), getattr(other, "trace_", [])
    assert len(frames[0]) == len(frames[1])
    for a, b in zip(*frames, strict=True):
        assert a.step == b.step
        assert a.values.keys() == b.values.keys()
        for name, value in a.values.items():
            np.testing.assert_array_equal(value, b[name], err_msg=name)


@pytest.mark.parametrize("case", CASES)
def test_a_continued_fit_has_the_bits_of_an_uninterrupted_one(case, tmp_path):
    path = tmp_path / "fit.ckpt"
    first, X, y = make(case, 6)
    first.fit(X, y, checkpoint=path, checkpoint_seconds=0)
    assert path.exists()
    second, X, y = make(case, 13)
    expected = make(case, 13)[0].fit(X, y)
    assert_equal_fits(second.fit(X, y, checkpoint=str(path)), expected)


@pytest.mark.parametrize("case", ["plain", "dropout", "held_out"])
def test_a_finished_fit_is_returned_at_once(case, tmp_path):
    path = tmp_path / "fit.ckpt"
    learner, X, y = make(case, 12)
    expected = learner.fit(X, y, checkpoint=path)
    content = path.read_bytes()
    again = make(case, 12)[0].fit(X, y, checkpoint=path)
    assert_equal_fits(again, expected)
    assert path.read_bytes() == content


def test_validation_rows_and_weights_are_continued(tmp_path):
    path = tmp_path / "fit.ckpt"
    X, y = rows()
    weight = np.random.default_rng(2).random(len(y))

    def fit(n, **options):
        learner = GradientBoostingRegressor(
            n, early_stopping=True, n_iter_no_change=4, learning_rate=0.5, verbose=0
        )
        return learner.fit(
            X[:120], y[:120], weight[:120], X_val=X[120:], y_val=y[120:],
            sample_weight_val=weight[120:], **options,
        )  # fmt: skip

    fit(3, checkpoint=path)
    expected = fit(60)
    assert expected.n_estimators_ < 60  # it stops early, rounds before the checkpoint included
    assert_equal_fits(fit(60, checkpoint=path), expected)
    assert_equal_fits(fit(60, checkpoint=path), expected)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_a_warm_start_is_continued(dropout, tmp_path):
    path = tmp_path / "fit.ckpt"
    X, y = rows()

    def warm():
        learner = GradientBoostingRegressor(4, warm_start=True, dropout=dropout, trace=True)
        return learner.fit(X, y)

    warm().set_params(n_estimators=7).fit(X, y, checkpoint=path)
    continued = warm().set_params(n_estimators=12).fit(X, y, checkpoint=path)
    expected = warm().set_params(n_estimators=12).fit(X, y)
    assert_equal_fits(continued, expected)
    with pytest.raises(CheckpointError, match="other trees of the previous fit"):
        GradientBoostingRegressor(12, dropout=dropout, trace=True).fit(X, y, checkpoint=path)


def test_a_random_seed_is_continued(tmp_path, monkeypatch):
    # A seed that needs all of its 64 bits.
    monkeypatch.setattr("secrets.randbits", lambda n_bits: 2**64 - 3)
    X, y = rows()
    path = tmp_path / "fit.ckpt"
    options = {"subsample": 0.5, "random_state": None}
    GradientBoostingRegressor(3, **options).fit(X, y, checkpoint=path)
    seed = open_checkpoint(path, None).stored.seed
    assert seed == 2**64 - 3
    monkeypatch.setattr("secrets.randbits", lambda n_bits: 5)
    continued = GradientBoostingRegressor(8, **options).fit(X, y, checkpoint=path)
    expected = GradientBoostingRegressor(8, subsample=0.5, random_state=seed).fit(X, y)
    assert_equal_fits(continued, expected)


def test_any_number_of_threads_continues(tmp_path):
    X, y = rows()
    path = tmp_path / "fit.ckpt"
    GradientBoostingRegressor(3, n_jobs=1).fit(X, y, checkpoint=path)
    continued = GradientBoostingRegressor(8, n_jobs=2).fit(X, y, checkpoint=path)
    assert_equal_fits(continued, GradientBoostingRegressor(8).fit(X, y))


def test_a_killed_process_is_continued(tmp_path):
    path = tmp_path / "fit.ckpt"
    kill_after_writes("subsample", path, 4)
    n_rounds = open_checkpoint(path, None).stored.trees.n_rounds
    assert n_rounds >= 4
    learner, X, y = make("subsample", n_rounds + 5)
    expected = make("subsample", n_rounds + 5)[0].fit(X, y)
    assert_equal_fits(learner.fit(X, y, checkpoint=path), expected)
    assert [file.name for file in tmp_path.iterdir()] == ["fit.ckpt"]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Return the checkpoint of a fit of `rows`."""
    path = tmp_path_factory.mktemp("written") / "fit.ckpt"
    GradientBoostingRegressor(4).fit(*rows(), checkpoint=path)
    return path


X, Y = rows()


@pytest.mark.parametrize(
    ("learner", "data", "message"),
    [
        (GradientBoostingRegressor(4, learning_rate=0.2), (X, Y), "learning_rate=0.1, got 0.2"),
        (GradientBoostingRegressor(4, random_state=1), (X, Y), "random_state=0, got 1"),
        (GradientBoostingRegressor(4, trace=True), (X, Y), "trace=False, got True"),
        (GradientBoostingRegressor(4, monotonic_cst=[1, 0, 0, 0]), (X, Y), "monotonic_cst=None"),
        (GradientBoostingRegressor(3), (X, Y), "has 4 rounds, got n_estimators=3"),
        (GradientBoostingRegressor(4), (X[:, ::-1], Y), "another X"),
        (GradientBoostingRegressor(4), (X, Y[::-1]), "another y"),
        (GradientBoostingRegressor(4), (X, Y, np.arange(1.0, 201)), "other weights"),
        (GradientBoostingClassifier(4), (X, Y > 0), "written by GradientBoostingRegressor"),
    ],
)
def test_another_fit_is_refused(learner, data, message, written):
    content = written.read_bytes()
    with pytest.raises(CheckpointError, match=message):
        learner.fit(*data, checkpoint=written)
    assert written.read_bytes() == content


def test_another_custom_loss_is_refused(tmp_path):
    path = tmp_path / "fit.ckpt"
    learner, X, y = make("custom", 3)
    learner.fit(X, y, checkpoint=path)
    learner, X, y = make("custom", 6)
    learner.loss.delta = 0.5
    try:
        with pytest.raises(CheckpointError, match=r"PseudoHuber\(delta=0\.7\), got .*0\.5"):
            learner.fit(X, y, checkpoint=path)
    finally:
        CASES["custom"]["loss"].delta = 0.7


def test_other_validation_rows_are_refused(tmp_path):
    path = tmp_path / "fit.ckpt"
    GradientBoostingRegressor(3).fit(X, Y, X_val=X, y_val=Y, checkpoint=path)
    for options in ({}, {"X_val": X, "y_val": Y + 1}):
        with pytest.raises(CheckpointError, match="other validation rows"):
            GradientBoostingRegressor(3).fit(X, Y, **options, checkpoint=path)


def test_an_init_with_other_predictions_is_refused(tmp_path):
    path = tmp_path / "fit.ckpt"
    init = GradientBoostingRegressor(2, subsample=0.5, random_state=None)
    GradientBoostingRegressor(3, init=init).fit(X, Y, checkpoint=path)
    with pytest.raises(CheckpointError, match="different init predictions"):
        GradientBoostingRegressor(3, init=init).fit(X, Y, checkpoint=path)


@pytest.mark.parametrize("scores", [None, np.zeros((2, 1))])
def test_damaged_validation_scores_raise(scores, tmp_path):
    path = tmp_path / "fit.ckpt"
    data = {"X_val": X, "y_val": Y, "checkpoint": path}
    GradientBoostingRegressor(2).fit(X, Y, **data)
    state = replace(_read(path), validation_scores=scores)
    with open(path, "wb") as file:
        archive.write(file, _encode(state))
    with pytest.raises(CheckpointError, match=r"has validation scores of shape .* restore"):
        GradientBoostingRegressor(3).fit(X, Y, **data)


def test_changed_weights_are_named(tmp_path):
    path = tmp_path / "fit.ckpt"
    GradientBoostingRegressor(2).fit(X, Y, checkpoint=path)
    weight = np.arange(1.0, len(Y) + 1)
    with pytest.raises(CheckpointError, match="other weights of the rows"):
        GradientBoostingRegressor(3).fit(X, Y, weight, checkpoint=path)


def test_digests_are_of_known_types():
    with pytest.raises(TypeError, match="a digest is of arrays"):
        _digest(1.5)


@pytest.mark.parametrize("part", ["empty", "half", "flipped", "model", "version", "ceiba"])
def test_a_damaged_file_raises_and_stays(part, written, tmp_path):
    path = tmp_path / "fit.ckpt"
    content = bytearray(written.read_bytes())
    message = {
        "empty": "it is empty", "half": "truncated or damaged", "flipped": "cannot be continued",
        "model": "must be a ceiba checkpoint", "version": "of version 1", "ceiba": "of Ceiba",
    }[part]  # fmt: skip
    if part == "half":
        del content[len(content) // 2 :]
    elif part == "flipped":
        content[len(content) // 2] ^= 1
    elif part == "empty":
        content.clear()
    path.write_bytes(content)
    if part == "model":
        ceiba.save(GradientBoostingRegressor(2).fit(X, Y), path)
        message = "the entry is missing"
    if part in ("version", "ceiba"):
        replace_header(path, part)
    before = path.read_bytes()
    with pytest.raises(CheckpointError, match=message) as caught:
        GradientBoostingRegressor(4).fit(X, Y, checkpoint=path)
    assert str(path) in str(caught.value)
    assert "Remove the file" in str(caught.value)
    assert path.read_bytes() == before


def replace_header(path, key):
    """Write another version into a checkpoint."""
    with zipfile.ZipFile(path) as stored:
        entries = {name: stored.read(name) for name in stored.namelist()}
    record = json.loads(entries["checkpoint.json"])
    record[key] = 3 if key == "version" else "0.0"
    entries["checkpoint.json"] = json.dumps(record).encode()
    with path.open("wb") as file:
        archive.write(file, entries)


def test_the_file_is_written_after_each_interval(tmp_path, monkeypatch):
    path = tmp_path / "fit.ckpt"
    written = []
    replace = files.os.replace

    def spy(source, target):
        written.append(target)
        replace(source, target)

    monkeypatch.setattr(files.os, "replace", spy)
    for seconds, n_writes in ((0, 5), (1e9, 1), (None, 1)):
        path.unlink(missing_ok=True)
        written.clear()
        GradientBoostingRegressor(5).fit(X, Y, checkpoint=path, checkpoint_seconds=seconds)
        assert len(written) == n_writes
    assert [file.name for file in tmp_path.iterdir()] == ["fit.ckpt"]


def test_a_failed_write_warns_and_the_fit_goes_on(tmp_path, monkeypatch):
    path = tmp_path / "fit.ckpt"
    GradientBoostingRegressor(3).fit(X, Y, checkpoint=path)
    content = path.read_bytes()

    def fail(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", fail)
    with pytest.warns(CheckpointWarning, match="No space left on device"):
        model = GradientBoostingRegressor(6).fit(X, Y, checkpoint=path)
    assert_equal_fits(model, GradientBoostingRegressor(6).fit(X, Y))
    assert path.read_bytes() == content


def test_a_checkpoint_that_is_too_large_warns(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint, "MAX_TEXT_BYTES", 100)
    path = tmp_path / "fit.ckpt"
    with pytest.warns(CheckpointWarning, match=r"checkpoint.json would have .* maximum is 100"):
        GradientBoostingRegressor(2).fit(X, Y, checkpoint=path)
    assert list(tmp_path.iterdir()) == []


def test_a_failed_write_is_tried_again(tmp_path, monkeypatch):
    path, real, calls = tmp_path / "fit.ckpt", files.os.fsync, []

    def fail_in_the_last_round(descriptor):
        calls.append(descriptor)
        if len(calls) == 3:
            raise OSError(28, "No space left on device")
        return real(descriptor)

    monkeypatch.setattr(files.os, "fsync", fail_in_the_last_round)
    with pytest.warns(CheckpointWarning, match="No space left on device"):
        GradientBoostingRegressor(3).fit(X, Y, checkpoint=path, checkpoint_seconds=0)
    assert _read(str(path)).count == 3


def test_what_a_killed_write_left_is_removed(written, tmp_path):
    path = tmp_path / "fit[1].ckpt"
    shutil.copy(written, path)
    for name in (f".{path.name}.00ff.part", ".other.ckpt.00ff.part"):
        (tmp_path / name).write_bytes(b"unfinished")
    GradientBoostingRegressor(4).fit(X, Y, checkpoint=path)
    assert sorted(file.name for file in tmp_path.iterdir()) == [".other.ckpt.00ff.part", path.name]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"checkpoint_seconds": 5}, ParameterError, "requires checkpoint, got 5"),
        ({"checkpoint": 3}, ParameterError, "must be a path or None, got 3"),
        ({"checkpoint": "a", "checkpoint_seconds": -1}, ParameterError, "at least 0, got -1"),
        ({"checkpoint": "a", "checkpoint_seconds": "5"}, ParameterError, "at least 0, got '5'"),
        ({"checkpoint": "."}, IsADirectoryError, "checkpoint must be a file"),
        ({"checkpoint": "no/such/file"}, FileNotFoundError, "checkpoint must be in an existing"),
        ({"checkpoint": "s3://a/b"}, ValueError, "checkpoint must be a local file"),
    ],
)
def test_invalid_options_are_refused_before_the_fit(options, error, message):
    with pytest.raises(error, match=message):
        GradientBoostingRegressor(4).fit(X, Y, **options)
