"""A class whose rows all weigh zero stays in ``classes_``, with probability 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier as SklearnTree

import ceiba
from ceiba import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GaussianMixtureClassifier,
    RandomForestClassifier,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*in the sample of every:UserWarning")
DASK = [pytest.mark.dask, pytest.mark.xdist_group("dask")]
CLASSIFIERS = [
    DecisionTreeClassifier(),
    DecisionTreeClassifier(algorithm="c45"),
    DecisionTreeClassifier(class_weight="balanced"),
    DecisionTreeClassifier(class_weight={"a": 1.5, "b": 7.0, "c": 0.3}),
    DecisionTreeClassifier(pruning="cost_complexity", random_state=0),
    DecisionTreeClassifier(cost_matrix=[[0, 1, 2], [1, 0, 1], [3, 1, 0]]),
    RandomForestClassifier(5, random_state=0, oob_score=True),
    RandomForestClassifier(5, random_state=0, class_weight="balanced"),
    RandomForestClassifier(5, random_state=0, class_weight="balanced_subsample"),
    BaggingClassifier(n_estimators=3, random_state=0, oob_score=True),
    BaggingClassifier(SklearnTree(random_state=0), n_estimators=3, random_state=0),
    BaggingClassifier(n_estimators=3, random_state=0, voting="majority"),
    AdaBoostClassifier(n_estimators=3),
    AdaBoostClassifier(n_estimators=3, algorithm="samme.r"),
    AdaBoostClassifier(n_estimators=3, reweighting="resampling", random_state=0),
    AdaBoostClassifier(SklearnTree(max_depth=1), n_estimators=3),
    GaussianMixtureClassifier(),
    GaussianMixtureClassifier({"a": 1, "b": 2, "c": 1}, random_state=0),
    GaussianMixtureClassifier(shared_covariance=True),
    GaussianMixtureClassifier(priors={"a": 0.5, "b": 0.25, "c": 0.25}),
]


def table(seed=0):
    """Three classes in a random order; those of "b" weigh nothing."""
    random = np.random.default_rng(seed)
    y = random.permutation(np.repeat(["a", "b", "c"], [25, 15, 20]))
    centers = np.searchsorted(["a", "b", "c"], y)
    return random.normal(size=(60, 3)) + centers[:, None], y, (y != "b").astype(float)


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: repr(model)[:60])
def test_the_class_stays_with_probability_zero(model):
    X, y, weight = table()
    model.fit(X, y, sample_weight=weight)
    assert model.classes_.tolist() == ["a", "b", "c"]
    probability = model.predict_proba(X)
    assert probability.shape == (60, 3)
    np.testing.assert_array_equal(probability[:, 1], 0.0)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    assert "b" not in model.predict(X)
    assert 0.5 < model.score(X, y, sample_weight=weight) <= 1


@pytest.mark.parametrize("model", CLASSIFIERS, ids=lambda model: repr(model)[:60])
def test_the_other_probabilities_are_those_without_its_rows(model):
    X, y, weight = table(1)
    if isinstance(model, DecisionTreeClassifier) and model.cost_matrix is not None:
        pytest.skip("the cost matrix has another shape without the class")
    whole = model.fit(X, y, sample_weight=weight).predict_proba(X)[:, [0, 2]]
    known = weight > 0
    if getattr(model, "priors", None) is not None:
        model = clone(model).set_params(priors=[2 / 3, 1 / 3])
    part = model.fit(X[known], y[known], sample_weight=weight[known]).predict_proba(X)
    np.testing.assert_allclose(whole, part, rtol=1e-12)


@pytest.mark.parametrize("engine", ["chunks", pytest.param("dask", marks=DASK)])
@pytest.mark.parametrize(
    "model", [DecisionTreeClassifier(max_bins=255), GaussianMixtureClassifier()]
)
def test_the_classes_are_those_of_all_partitions(model, engine, tmp_path, request):
    X, y, weight = table()
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"]).assign(y=y, w=weight)
    # The class is in the first partition alone.
    frame = frame.sort_values("w", kind="stable", ignore_index=True)
    X, y, weight = frame[["x0", "x1", "x2"]], frame["y"], frame["w"]
    expected = model.fit(X, y, sample_weight=weight).predict_proba(X)
    if engine == "chunks":
        paths = [tmp_path / f"{k}.parquet" for k in range(3)]
        for k, path in enumerate(paths):
            frame[20 * k : 20 * k + 20].to_parquet(path)
        model.fit(ceiba.scan(paths, target="y", weight="w"))
    else:
        dd = pytest.importorskip("dask.dataframe")
        request.getfixturevalue("current_client")
        parts = dd.from_pandas(frame, npartitions=3)
        model.fit(parts[["x0", "x1", "x2"]], parts["y"], sample_weight=parts["w"])
    assert model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.predict_proba(X), expected, rtol=1e-9)


@pytest.mark.parametrize("weight_of", ["a", "b", "c"])
@pytest.mark.filterwarnings("ignore:.*single leaf:UserWarning")
def test_boosting_of_a_single_weighted_class_predicts_it(weight_of):
    X, y, _ = table()
    model = AdaBoostClassifier(n_estimators=3).fit(X, y, sample_weight=y == weight_of)
    assert set(model.predict(X)) == {weight_of}
    column = model.classes_.tolist().index(weight_of)
    np.testing.assert_array_equal(model.predict_proba(X)[:, column], 1.0)
    assert (model.decision_function(X).argmax(axis=1) == column).all()
    assert (model.margins(X, np.full(60, weight_of)) >= 0).all()


def test_soft_voting_beside_a_learner_that_keeps_all_classes():
    X, y, weight = table()
    members = [("tree", DecisionTreeClassifier()), ("linear", LogisticRegression())]
    vote = VotingClassifier(members, voting="soft").fit(X, y, sample_weight=weight)
    assert vote.predict_proba(X).shape == (60, 3)


def test_a_mixture_without_a_weightless_class_is_saved(tmp_path):
    X, y, weight = table()
    model = GaussianMixtureClassifier().fit(X, y, sample_weight=weight)
    assert model.mixtures_[1] is None
    assert model.class_prior_[1] == 0
    assert np.isfinite(model.score_samples(X)).all()
    ceiba.save(model, tmp_path / "model.ceiba")
    again = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_priors_of_a_weightless_class_alone_are_refused():
    X, y, weight = table()
    model = GaussianMixtureClassifier(priors=[0, 1, 0])
    with pytest.raises(ValueError, match="priors must be positive for a class with rows"):
        model.fit(X, y, sample_weight=weight)
