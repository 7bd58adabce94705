"""Learners compute under NumPy's default error state, whatever the program has set."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from ceiba import GaussianMixture, GaussianMixtureClassifier, KMeans
from ceiba.base import Estimator
from ceiba.base.errstate import with_default_errstate
from ceiba.compat.netlab import gmm, gmmprob

X = np.random.default_rng(0).normal(size=(60, 3))
FAR = np.vstack([X, [[40.0, 0.0, 0.0]]])


@pytest.mark.parametrize("scale", [1.0, 1e-310, 1e-160, 1e200])
@pytest.mark.filterwarnings("ignore")
def test_no_method_raises_floating_point_errors(scale):
    rows, y = FAR * scale, np.arange(61) % 2
    with np.errstate(all="raise"):
        clusters = KMeans(3).fit(rows)
        for method in ("predict", "transform", "score"):
            getattr(clusters, method)(rows)
        for form in ("full", "tied", "diag", "spherical", "VEV"):
            mixture = GaussianMixture(2, covariance_type=form).fit(rows)
            for method in ("predict", "predict_proba", "score_samples", "bic", "icl", "impute"):
                getattr(mixture, method)(rows)
            assert not np.isnan(mixture.precisions_).any()
        model = GaussianMixtureClassifier().fit(rows, y)
        model.predict_proba(rows)
        assert np.isfinite(model.score(rows, y))


def test_functions_and_the_state_of_the_program():
    with np.errstate(all="raise"):
        assert gmmprob(gmm(1, 1, "diag", random_state=0), [[0.0], [100.0]])[1] == 0.0
        with pytest.raises(FloatingPointError):
            np.exp(-1000.0)


def test_signatures_and_documentation_are_kept():
    class Toy(Estimator):
        def predict(self, X):
            """Predict."""

    assert list(inspect.signature(Toy.predict).parameters) == ["self", "X"]
    assert Toy.predict.__doc__ == "Predict."
    assert with_default_errstate(np.exp)(0.0) == 1.0
