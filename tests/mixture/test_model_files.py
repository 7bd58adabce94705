"""Model files of mixtures: what is saved, and damaged files."""

from __future__ import annotations

import json
import zipfile
from io import BytesIO

import numpy as np
import pytest

import ceiba
from ceiba import GaussianMixture
from ceiba.export import ModelFileError
from ceiba.mixture import ConjugatePrior
from tests.mixture.parts import FORMS, drop_values, fitted, groups, quiet

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
