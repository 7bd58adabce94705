"""Inputs on which network classifiers must raise, or give the result of an equivalent input."""

from __future__ import annotations

import warnings
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

from ceiba import LatentClassMixture, NaiveBayesClassifier, TANClassifier
from ceiba.base import ParameterError
from ceiba.bayes import InfrequentParentsWarning, UnboundedWeightsWarning
from ceiba.bayes.discriminative import train
from ceiba.data import Table

RNG = np.random.default_rng(0)
WORDS = RNG.integers(0, 3, (300, 4)).astype(str).astype(object)
CLASSES = (WORDS[:, 0].astype(int) + (RNG.random(300) < 0.2)) % 3
A = RNG.normal(size=(30, 1))
LETTERS = np.array(list("ab" * 15))


@pytest.mark.parametrize("n_parents", [12, 31, 64])
def test_tables_of_any_size_are_counted_before_they_are_made(n_parents: int) -> None:
    X = [{f"x{j}": str(RNG.integers(7)) for j in range(n_parents + 1)} for _ in range(60)]
    arcs = [(f"x{j}", f"x{n_parents}") for j in range(n_parents)]
    model = TANClassifier(structure=arcs)
    with pytest.raises(ValueError, match=r"tables of a network must have at most 16,777,216 rows"):
        model.fit(X, RNG.integers(0, 2, 60))


@pytest.mark.parametrize("learner", [NaiveBayesClassifier, TANClassifier])
def test_a_class_without_weight_does_not_change_training(learner: Any) -> None:
    weight = np.where(CLASSES == 0, 0.0, 1.0)
    found = learner(training="tm").fit(WORDS, CLASSES, sample_weight=weight)
    kept = CLASSES != 0
    wanted = learner(training="tm").fit(WORDS[kept], CLASSES[kept])
    assert found.conditional_log_likelihood_ == pytest.approx(
        wanted.conditional_log_likelihood_, abs=1e-3
    )
    probabilities = found.predict_proba(WORDS)
    assert (probabilities[:, 0] == 0).all()
    np.testing.assert_allclose(probabilities[:, 1:], wanted.predict_proba(WORDS), atol=1e-3)


@pytest.mark.filterwarnings("ignore::ceiba.bayes.UnboundedWeightsWarning")
@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
def test_small_weights_are_trained_as_others(solver: str) -> None:
    options: dict[str, Any] = {"training": "tm", "solver": solver, "penalty": 0, "alpha": 0.0}
    one = NaiveBayesClassifier(**options).fit(WORDS, CLASSES)
    small = NaiveBayesClassifier(**options).fit(
        WORDS, CLASSES, sample_weight=np.full(len(CLASSES), 1e-9)
    )
    assert small.n_iter_ > 1
    np.testing.assert_allclose(
        small.predict_proba(WORDS), one.predict_proba(WORDS), rtol=0, atol=1e-3
    )


def test_em_of_small_weights_is_that_of_others() -> None:
    X = np.where(RNG.random(WORDS.shape) < 0.3, None, WORDS)
    light = np.full(len(X), 1e-9)
    one = TANClassifier(alpha=0.0).fit(X, CLASSES)
    small = TANClassifier(alpha=0.0).fit(X, CLASSES, sample_weight=light)
    assert small.em_n_iter_ == one.em_n_iter_ > 3
    np.testing.assert_allclose(small.predict_proba(X), one.predict_proba(X), atol=1e-12)


def test_latent_classes_of_small_weights_are_those_of_others() -> None:
    light = np.full(len(WORDS), 2.0**-30)
    learner = LatentClassMixture(2, alpha=0.0, n_init=3)
    one, small = clone(learner).fit(WORDS), clone(learner).fit(WORDS, sample_weight=light)
    assert small.n_iter_ == one.n_iter_ > 3
    np.testing.assert_allclose(small.predict_proba(WORDS), one.predict_proba(WORDS), atol=1e-6)
    refined = clone(learner).set_params(refinement="information").fit(WORDS, sample_weight=light)
    assert refined.information_ > 0.35  # one iteration has 0.31


def test_early_stopping_is_not_advised_where_it_is_on() -> None:
    y = WORDS[:, 0]
    for early, advised in ((False, True), (True, False)):
        model = NaiveBayesClassifier(training="tm", penalty=0, early_stopping=early, max_iter=9)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(WORDS, y)
        found = [str(w.message) for w in caught if w.category is UnboundedWeightsWarning]
        assert ["early_stopping" in text for text in found] == [advised]
        assert "penalty='generative'" in found[0]


@pytest.mark.parametrize("learner", [NaiveBayesClassifier, TANClassifier])
def test_inner_folds_that_lack_a_class_do_not_count(learner: Any, monkeypatch: Any) -> None:
    peaks = []
    whole = train._peak
    monkeypatch.setattr(train, "_peak", lambda *given: peaks.append(whole(*given)) or peaks[-1])
    model = learner(training="tm", early_stopping=True)
    y = np.where(np.arange(60) == 9, 7, CLASSES[:60])
    model.fit(WORDS[:60], y)
    assert len(peaks) == 4
    assert np.isfinite(model.predict_proba(WORDS)).all()
    with pytest.raises(
        ValueError, match=r"inner fold .* class weights \[1.0, 1.0\]: use more rows"
    ):
        model.fit(WORDS[:2], [0, 1])
    assert model.fit(WORDS[:3], [1, 1, 1]).predict(WORDS[:1]).tolist() == [1]


def test_other_distributions_are_not_continued() -> None:
    model = NaiveBayesClassifier(distributions="mixture").fit(A, LETTERS)
    model.set_params(distributions="gaussian")
    with pytest.raises(ParameterError, match="distributions must be those of the fitted model"):
        model.partial_fit(A, LETTERS)
    with pytest.raises(ParameterError, match="distributions must be those of the fitted model"):
        model.forget(A[:2], LETTERS[:2])


def test_values_of_light_classes_are_not_forgotten_with_heavy_rows() -> None:
    weight = np.where(LETTERS == "a", 1e6, 1e-3)
    model = NaiveBayesClassifier(distributions="kernel").fit(A, LETTERS, sample_weight=weight)
    model.forget(A[:1], LETTERS[:1], sample_weight=weight[:1])
    rest = NaiveBayesClassifier(distributions="kernel")
    rest.fit(A[1:], LETTERS[1:], sample_weight=weight[1:])
    np.testing.assert_allclose(model.predict_proba(A), rest.predict_proba(A), atol=1e-6)


def test_values_that_were_not_fitted_are_not_forgotten() -> None:
    model = NaiveBayesClassifier(distributions="gaussian").fit(A, LETTERS)
    with pytest.raises(ValueError, match="got values that the model does not have"):
        model.forget([[100.0]], ["a"])


@pytest.mark.parametrize("options", [{"solver": "tm"}, {"solver": "lbfgs"}])
def test_tau_without_effect_raises(options: dict[str, Any]) -> None:
    model = NaiveBayesClassifier(training="tm", tau=50.0, **options)
    with pytest.raises(ParameterError, match="'tau' has no effect with penalty='auto'"):
        model.fit(WORDS, CLASSES)


LEARNERS = [NaiveBayesClassifier, TANClassifier, LatentClassMixture]
WHEN = [{"size": float(i), "when": np.datetime64("2020-01-01") + i, "color": "ab"[i % 2]}
        for i in range(8)]  # fmt: skip


@pytest.mark.parametrize("learner", LEARNERS)
def test_thresholds_are_read_as_those_of_the_discretizer(learner: Any) -> None:
    table, y = Table.of(WHEN), np.arange(8) // 4
    options = {"n_components": 2} if learner is LatentClassMixture else {}
    for given in (
        {"size": [3.5], "when": ["2020-01-03T12:00"]},
        {0: [3.5], np.int64(1): np.array(["2020-01-03T12"], "datetime64[h]")},
        [[3.5], [np.datetime64("2020-01-03T12")], None],
    ):
        model = learner(thresholds=given, **options).fit(table, y)
        assert model.encoding_.thresholds(0).tolist() == [3.5]
        assert str(model.encoding_.thresholds(1)[0]) == "2020-01-03T12:00:00.000000000"
    for wrong, message in (
        ({"length": [1.0]}, "keys of thresholds must name columns of X .*, got 'length'"),
        ({3: [1.0]}, "indices below 3, got 3"),
        ({True: [1.0]}, "indices below 3, got True"),
        ({0: [1.0], "size": [2.0]}, "'size' twice"),
        ({"color": [1.0]}, "those of numeric columns, but 'color' is nominal"),
        ({"size": [2.0, 1.0]}, r"thresholds\['size'\] must be ascending finite numbers"),
        ({"size": [np.nan]}, "must be ascending finite numbers"),
        ({"when": ["soon"]}, "must be ascending finite numbers, or times"),
    ):
        with pytest.raises(ParameterError, match=message):
            learner(thresholds=wrong, **options).fit(table, y)
    with pytest.raises(ValueError, match=r"n_bins.*65534.*got 65535"):
        learner(discretization="equal_width", n_bins=65_535, **options).fit(table, y)


def test_light_rows_do_not_make_parameters_free() -> None:
    n = len(WORDS)
    model = LatentClassMixture("bic", max_components=4, alpha=0.0, n_init=1)
    model.fit(WORDS, sample_weight=np.full(n, 1.0 / n))
    assert model.n_components_ == 1


def test_numbers_of_intervals_may_be_numpy_integers() -> None:
    learner = NaiveBayesClassifier(discretization="equal_width")
    search = GridSearchCV(learner, {"n_bins": np.arange(2, 4)}, cv=2).fit(A, LETTERS)
    assert search.best_params_["n_bins"] in (2, 3)
    mixture = LatentClassMixture(1, n_bins=np.int64(3)).fit(A)
    assert mixture.encoding_.n_categories.tolist() == [3]


def test_priors_may_be_any_mapping_of_the_classes() -> None:
    X = [{"x": "u"}, {"x": "v"}]
    priors = MappingProxyType({"a": 0.25, "b": 0.75})
    for learner in (NaiveBayesClassifier(), TANClassifier(), TANClassifier(structure="aode")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InfrequentParentsWarning)
            model = clone(learner).set_params(priors=priors).fit(X, ["a", "b"])
        assert model.predict_proba([{"x": None}])[0] == pytest.approx([0.25, 0.75])
        wrong = {"a": 0.25, "b": 0.75, "c": 0.0}
        with pytest.raises(ValueError, match=r"classes \['a', 'b'\] only, got 'c'"):
            clone(learner).set_params(priors=wrong).fit(X, ["a", "b"])


@pytest.mark.filterwarnings("ignore::ceiba.bayes.UnboundedWeightsWarning")
@pytest.mark.parametrize(("max_iter", "is_separable"), [(2, False), (12, True)])
def test_classes_separate_by_likelihood_not_by_convergence(
    max_iter: int, is_separable: bool
) -> None:
    X, y = [{"x": "u"}, {"x": "v"}] * 20, [0, 1] * 20
    model = NaiveBayesClassifier(training="tm", penalty=0.0, max_iter=max_iter)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    assert model.separable_ == is_separable
