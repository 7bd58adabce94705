"""Other spellings of choices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from sklearn.base import clone

import ceiba
from ceiba.base import ParameterError, Parameters

X = np.random.default_rng(0).normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] > 0

SPELLINGS: list[tuple[Any, str, str, str]] = [
    (ceiba.DecisionTreeClassifier, "algorithm", "C4.5", "c45"),
    (ceiba.DecisionTreeClassifier, "algorithm", "ID3", "id3"),
    (ceiba.DecisionTreeClassifier, "algorithm", "CLS", "hunt"),
    (ceiba.DecisionTreeClassifier, "criterion", "Gain Ratio", "gain_ratio"),
    (ceiba.DecisionTreeRegressor, "criterion", "friedman_mse", "squared_error"),
    (ceiba.RandomForestRegressor, "criterion", "friedman_mse", "squared_error"),
    (ceiba.ExtraTreesRegressor, "criterion", "friedman_mse", "squared_error"),
    (ceiba.AdaBoostClassifier, "algorithm", "SAMME", "samme"),
    (ceiba.AdaBoostClassifier, "algorithm", "SAMME.R", "samme.r"),
    (ceiba.AdaBoostClassifier, "algorithm", "AdaBoost.M1", "m1"),
    (ceiba.GaussianMixture, "covariance_type", "Full", "full"),
    (ceiba.GaussianMixture, "covariance_type", "eii", "EII"),
    (ceiba.KMeans, "init", "K-Means++", "k-means++"),
]


@pytest.mark.parametrize(("cls", "name", "spelling", "choice"), SPELLINGS)
def test_gives_the_model_of_the_choice(
    cls: Any, name: str, spelling: str, choice: str, tmp_path: Path
) -> None:
    named, plain = cls(**{name: spelling}), cls(**{name: choice})
    # The attribute is the choice, the parameter is what the user passed.
    assert getattr(named, name) == choice
    assert named.get_params()[name] is spelling
    assert clone(named).get_params()[name] is spelling
    assert repr(spelling) in repr(named)
    assert cls().set_params(**{name: spelling}).get_params()[name] is spelling
    ceiba.save(named.fit(X, Y), tmp_path / "model")
    loaded = ceiba.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), plain.fit(X, Y).predict(X))
    assert loaded.get_params()[name] == spelling


def test_keeps_an_unknown_text_in_the_message() -> None:
    with pytest.raises(ParameterError, match=r"must be 'cart', .* got 'C5\.0'"):
        ceiba.DecisionTreeClassifier(algorithm="C5.0").fit(X, Y)  # type: ignore[arg-type]


def test_refuses_choices_that_fold_to_the_same_text() -> None:
    with pytest.raises(TypeError, match="differ by case or punctuation only"):

        class _Ambiguous(Parameters):
            kind: Annotated[Literal["a_b", "ab"], "Kind."] = "ab"
