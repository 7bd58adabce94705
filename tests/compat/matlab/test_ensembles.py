"""``fitcensemble``, ``kmeans`` and ``fitgmdist`` with MATLAB's options and outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import datasets
from ceiba.compat.matlab import fitcensemble, fitgmdist, kmeans, predict, templateTree


def iris() -> tuple[np.ndarray, np.ndarray]:
    meas, species = datasets.load("iris", as_frame=True)
    return meas.to_numpy(), species.to_numpy()


@pytest.mark.parametrize("method", ["Bag", "AdaBoostM2", None])
def test_several_classes(method: str | None) -> None:
    X, Y = iris()
    ens = fitcensemble(X, Y, "NumLearningCycles", 10, **({"Method": method} if method else {}))
    label, score = ens.predict(X, nargout=2)
    assert ens.Method == (method or "AdaBoostM2")
    assert 1 <= ens.NumTrained <= 10
    assert np.mean(label == Y) > 0.95
    np.testing.assert_array_equal(ens.ClassNames[score.argmax(axis=1)], label)
    np.testing.assert_array_equal(predict(ens, X), label)
    assert ens.resubLoss() == pytest.approx(np.mean(label != Y))
    assert ens.loss(X, Y) == pytest.approx(ens.resubLoss())


def test_adaboost_m1_has_the_votes_of_its_trees() -> None:
    X, Y = iris()
    X, Y = X[50:, :2], Y[50:]
    stumps = templateTree("MaxNumSplits", 1)
    ens = fitcensemble(X, Y, "Method", "AdaBoostM1", "Learners", stumps, "NumLearningCycles", 8)
    _, score = ens.predict(X, nargout=2)
    np.testing.assert_allclose(score[:, 0], -score[:, 1])
    assert all(tree.get_n_leaves() == 2 for tree in ens.model.estimators_)
    votes = [np.where(tree.predict(X) == 1, 1, -1) for tree in ens.model.estimators_]
    np.testing.assert_allclose(score[:, 1], np.array(ens.TrainedWeights) @ np.array(votes))
    # MATLAB's weight of a hypothesis is half of Freund and Schapire's.
    error = np.mean(ens.ClassNames[ens.model.estimators_[0].predict(X)] != Y)
    assert ens.TrainedWeights[0] == pytest.approx(0.5 * np.log((1 - error) / error))


def test_the_response_may_be_a_column() -> None:
    meas, species = datasets.load("iris", as_frame=True)
    frame = meas.assign(species=species)
    ens = fitcensemble(frame, "species", Method="Bag", NumLearningCycles=3)
    assert ens.loss(frame, "species") == ens.loss(meas, species)


def test_a_bag_has_out_of_bag_errors() -> None:
    X, Y = iris()
    ens = fitcensemble(X, Y, Method="bag", NumLearningCycles=30, FResample=0.8)
    assert 0 < ens.oobLoss() < 0.12
    assert ens.model.max_samples == 120
    every = templateTree(NumVariablesToSample="all", MinLeafSize=5)
    bag = fitcensemble(X, Y, Method="Bag", NumLearningCycles=20, Learners=every)
    assert (bag.model.max_features, bag.model.min_samples_leaf) == (4, 5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"Method": "LogitBoost"}, "does not support Method='LogitBoost'"),
        ({"Method": "RUSBoost"}, "undersamples"),
        ({"Method": "AdaBoostM1"}, "requires two classes, got 3"),
        ({"Method": "Bag", "LearnRate": 0.5}, "LearnRate has no effect"),
        ({"Method": "AdaBoostM2", "FResample": 0.5}, "FResample has no effect"),
        ({"Learners": "knn"}, "Learners must be"),
        ({"KFold": 5}, "does not support KFold"),
        ({"Cost": np.eye(3)}, "does not support Cost"),
    ],
)
def test_what_is_not_available_is_refused(options: dict[str, Any], message: str) -> None:
    X, Y = iris()
    with pytest.raises(ValueError, match=message):
        fitcensemble(X, Y, **options)


def test_two_classes_need_a_method() -> None:
    X, Y = iris()
    with pytest.raises(ValueError, match="LogitBoost, is not supported"):
        fitcensemble(X[:100], Y[:100])
    with pytest.raises(ValueError, match="more than two classes"):
        fitcensemble(X[:100], Y[:100], Method="AdaBoostM2")


def test_kmeans_has_matlabs_outputs() -> None:
    X, _ = iris()
    idx, C, sumd, D = kmeans(X, 3, "Replicates", 5, nargout=4)
    assert set(idx.tolist()) == {1, 2, 3}
    assert C.shape == (3, 4)
    assert D.shape == (150, 3)
    np.testing.assert_array_equal(idx, D.argmin(axis=1) + 1)
    for k in range(3):
        own = X[idx == k + 1]
        np.testing.assert_allclose(C[k], own.mean(axis=0))
        assert sumd[k] == pytest.approx(((own - own.mean(axis=0)) ** 2).sum())
    assert sumd.sum() == pytest.approx(78.8514, abs=1e-3)  # the known optimum
    np.testing.assert_array_equal(kmeans(X, 3, Start=C), idx)


def test_kmeans_leaves_rows_with_nan_out() -> None:
    X = np.array([[0.0], [1.0], [np.nan], [9.0], [10.0]])
    idx, _, sumd = kmeans(X, 2, nargout=3)
    assert np.isnan(idx[2])
    assert sumd.sum() == pytest.approx(1.0)
    for options in ({"Distance": "cosine"}, {"EmptyAction": "drop"}, {"Start": "cluster"}):
        with pytest.raises(ValueError, match="must be"):
            kmeans(X, 2, **options)
    with pytest.raises(ValueError, match="k must be at most"):
        kmeans(X, 5)


FORMS = [
    ("full", False, (4, 4, 2), 29),
    ("full", True, (4, 4), 19),
    ("diagonal", False, (1, 4, 2), 17),
    ("diagonal", True, (1, 4), 13),
]


@pytest.mark.parametrize(("kind", "shared", "shape", "n_parameters"), FORMS)
def test_mixtures_have_matlabs_forms(
    kind: str, shared: bool, shape: tuple[int, ...], n_parameters: int
) -> None:
    from scipy.stats import multivariate_normal

    X, _ = iris()
    gm = fitgmdist(X, 2, "CovarianceType", kind, "SharedCovariance", shared, "Replicates", 2)
    assert gm.Sigma.shape == shape
    assert gm.mu.shape == (2, 4)
    covariances = gm.Sigma if not shared else np.repeat(gm.Sigma[:, :, None], 2, axis=2)
    matrices = [
        covariances[:, :, j] if kind == "full" else np.diag(covariances[0, :, j]) for j in range(2)
    ]
    parts = np.stack(
        [
            p * multivariate_normal(m, c).pdf(X)
            for p, m, c in zip(gm.ComponentProportion, gm.mu, matrices, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(gm.pdf(X), parts.sum(axis=1), rtol=1e-8)
    idx, nlogL, P = gm.cluster(X, nargout=3)
    np.testing.assert_allclose(P, parts / parts.sum(axis=1, keepdims=True), atol=1e-8)
    np.testing.assert_array_equal(idx, P.argmax(axis=1) + 1)
    assert nlogL == pytest.approx(-np.log(parts.sum(axis=1)).sum())
    assert pytest.approx(nlogL, rel=1e-4) == gm.NegativeLogLikelihood
    assert pytest.approx(2 * gm.NegativeLogLikelihood + 2 * n_parameters) == gm.AIC
    assert pytest.approx(2 * gm.NegativeLogLikelihood + np.log(150) * n_parameters) == gm.BIC
    shifted = X - gm.mu[1]
    expected = (shifted @ np.linalg.inv(matrices[1]) * shifted).sum(axis=1)
    np.testing.assert_allclose(gm.mahal(X)[:, 1], expected)
    assert gm.random(7).shape == (7, 4)
    assert (gm.random(7) != gm.random(7)).any()
    start = {"mu": gm.mu, "Sigma": gm.Sigma, "ComponentProportion": gm.ComponentProportion}
    again = fitgmdist(X, 2, CovarianceType=kind, SharedCovariance=shared, Start=start)
    np.testing.assert_allclose(again.mu, gm.mu, atol=0.02)
    labeled = fitgmdist(X, 2, CovarianceType=kind, SharedCovariance=shared, Start=idx)
    np.testing.assert_allclose(labeled.mu, gm.mu, atol=0.1)


def test_bad_options_of_mixtures_are_named() -> None:
    X, _ = iris()
    for options, message in (
        ({"Start": "cluster"}, "Start must be"),
        ({"Start": [1, 2]}, "Start must be"),
        ({"Start": {"mu": X[:2]}}, "mu, Sigma"),
        ({"Options": {"MaxIt": 5}}, "Options must be"),
        ({"SharedCovariance": "yes"}, "SharedCovariance must be"),
        ({"ProbabilityTolerance": 1e-8}, "does not support"),
    ):
        with pytest.raises(ValueError, match=message):
            fitgmdist(X, 2, **options)
    stopping = {"MaxIter": 3, "TolFun": 1e-9}
    with pytest.warns(ConvergenceWarning):
        gm = fitgmdist(X, 2, Options=stopping, RegularizationValue=0.01)
    assert gm.NumIterations <= 3


def test_draws_and_bools_of_numpy() -> None:
    X, _ = iris()
    first, second = (fitgmdist(X, 2, SharedCovariance=np.bool_(True)) for _ in range(2))
    assert first.SharedCovariance is True
    drawn = [first.random(3), first.random(3)]
    np.testing.assert_array_equal([second.random(3), second.random(3)], drawn)
    with pytest.raises(ValueError, match="SharedCovariance must be a bool, got 1"):
        fitgmdist(X, 2, SharedCovariance=1)
