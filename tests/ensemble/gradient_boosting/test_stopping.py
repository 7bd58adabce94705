"""Early stopping, validation rows and warm starts."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba.export import load, save
from tests.ensemble.gradient_boosting.parts import (
    CLASSES,
    KINDS,
    NUMBERS,
    X,
    bits,
    make_rows,
    raw_scores,
    target_of,
)

NEW_X, NEW_CLASSES, NEW_NUMBERS = make_rows(300, seed=1)


def new_target_of(kind: Any) -> Any:
    return NEW_CLASSES if kind is GradientBoostingClassifier else NEW_NUMBERS


# Early stopping


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_round_is_the_last_one(kind: Any) -> None:
    data = {"X_val": NEW_X, "y_val": new_target_of(kind)}
    model = kind(300, early_stopping=True, learning_rate=0.3, n_iter_no_change=6)
    model.fit(X, target_of(kind), **data)
    losses = model.losses_["validation"]
    assert model.n_estimators_ == losses.argmin() + 1 == len(losses) - 6 < 100
    # The losses are those of the rounds, and the model is that of as many rounds.
    full = kind(len(losses), learning_rate=0.3).fit(X, target_of(kind), **data)
    np.testing.assert_array_equal(full.losses_["validation"], losses)
    short = kind(model.n_estimators_, learning_rate=0.3).fit(X, target_of(kind))
    assert bits(short) == bits(model)
    values = [loss_of(kind, raw, new_target_of(kind)) for raw in full._staged_raw_scores(NEW_X)]
    np.testing.assert_allclose(losses, values, rtol=1e-12)


def loss_of(kind: Any, raw: Any, y: Any) -> float:
    if kind is GradientBoostingRegressor:
        return float(np.mean((raw[:, 0] - y) ** 2) / 2)
    return float(np.mean(np.logaddexp.reduce(raw, axis=1) - raw[np.arange(len(y)), y]))


def test_rare_classes_stay_in_training_rows() -> None:
    # As many classes as rows of the fraction, and classes of a single row.
    y = np.repeat(np.arange(40), 4)
    rows = np.random.default_rng(0).normal(size=(len(y), 2))
    model = GradientBoostingClassifier(2, early_stopping=True).fit(rows, y)
    assert model.n_classes_ == 40
    y = np.array([0] * 20 + [1] * 20 + [2])
    for fraction in (0.1, 0.6, 0.9):
        model = GradientBoostingClassifier(
            3, early_stopping=True, validation_fraction=fraction, min_samples_leaf=1
        ).fit(rows[: len(y)], y)
        # The only row of the last class raises its score in the first round.
        assert model.decision_function(rows[40:41])[0, 2] > model.boosted_trees_.first_scores[2]


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_early_stopping_of_all_losses_ends(loss: str) -> None:
    """With pure noise the first rounds are best."""
    rng = np.random.default_rng(0)
    rows, y = rng.normal(size=(300, 3)), rng.standard_t(2, 300)
    model = GradientBoostingRegressor(200, loss=loss, min_samples_leaf=5, early_stopping=True)
    model.fit(rows[:150], y[:150], X_val=rows[150:], y_val=y[150:])
    assert model.n_estimators_ < 40


def test_a_decrease_must_exceed_tol() -> None:
    data = {"X_val": NEW_X, "y_val": NEW_NUMBERS}
    rounds = []
    initial_loss = np.mean((NEW_NUMBERS - NUMBERS.mean()) ** 2) / 2
    for tol in (0.0, 0.05, 1e6):
        model = GradientBoostingRegressor(60, early_stopping=True, tol=tol, n_iter_no_change=3)
        model.fit(X, NUMBERS, **data)
        rounds.append(model.n_estimators_)
        losses = model.losses_["validation"]
        best, best_loss, since = 0, np.inf, 0
        for number, loss in enumerate(losses, 1):
            if loss < best_loss - tol * initial_loss:
                best, best_loss, since = number, loss, 0
            else:
                since += 1
            assert since < 3 or number == len(losses)
        assert model.n_estimators_ == best
    assert rounds[0] > rounds[1] > rounds[2] == 1


@pytest.mark.parametrize("kind", KINDS)
def test_held_out_rows_are_the_fraction_of_each_class(kind: Any) -> None:
    y = target_of(kind)
    model = kind(3, early_stopping=True, validation_fraction=0.25).fit(X, y)
    used = model.boosted_trees_.node_rows[0]
    groups = np.unique(y, return_counts=True)[1] if kind is KINDS[0] else [len(X)]
    assert used == len(X) - sum(round(0.25 * n) for n in groups)
    other = kind(3, early_stopping=True, validation_fraction=0.25, random_state=1).fit(X, y)
    assert bits(other) != bits(model)


def test_validation_rows_do_not_change_the_trees() -> None:
    one = GradientBoostingRegressor(5).fit(X, NUMBERS)
    other = GradientBoostingRegressor(5).fit(X, NUMBERS, X_val=NEW_X, y_val=NEW_NUMBERS)
    assert bits(one) == bits(other)
    assert one.losses_ == {}
    assert len(other.losses_["validation"]) == 5


def test_validation_weights() -> None:
    weight = np.arange(len(NEW_X)) % 3
    one, other = (
        GradientBoostingRegressor(5).fit(X, NUMBERS, X_val=rows, y_val=y, sample_weight_val=w)
        for rows, y, w in (
            (NEW_X, NEW_NUMBERS, weight),
            (NEW_X.loc[np.repeat(NEW_X.index, weight)], np.repeat(NEW_NUMBERS, weight), None),
        )
    )
    np.testing.assert_allclose(one.losses_["validation"], other.losses_["validation"], rtol=1e-12)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"X_val": X}, "X_val requires y_val"),
        ({"y_val": NUMBERS}, "y_val and sample_weight_val require X_val"),
        ({"sample_weight_val": NUMBERS}, "y_val and sample_weight_val require X_val"),
        ({"X_val": X[["a"]], "y_val": NUMBERS}, "X_val.*invalid: The feature names"),
        ({"X_val": X, "y_val": NUMBERS[:5]}, "X_val and y_val must have .* got 400 and 5"),
        ({"X_val": X, "y_val": NUMBERS.tolist()[:5]}, "y_val .* is invalid: .* 400 rows in X, 5"),
        ({"X_val": X, "y_val": NUMBERS * np.nan}, "y_val .* is invalid: Input y contains NaN"),
        ({"X_val": X, "y_val": np.ones((400, 2))}, r"y_val should be a 1d .* shape \(400, 2\)"),
        ({"X_val": X, "y_val": np.ones((400, 1, 1))}, r"y_val should be .* shape \(400, 1, 1\)"),
        (
            {"X_val": X, "y_val": NUMBERS, "sample_weight_val": np.zeros(len(X))},
            "sample_weight_val must have a positive entry",
        ),
    ],
)
def test_wrong_validation_rows(data: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GradientBoostingRegressor(2, early_stopping=True).fit(X, NUMBERS, **data)


def test_wrong_shapes_of_validation_rows() -> None:
    rows = np.arange(60.0).reshape(20, 3)
    for wrong in (rows[:, :2], rows[:, 0], rows[:, :, None]):
        expected = rf"X_val must have shape \(n_rows, 3\), .* got {re.escape(str(wrong.shape))}"
        with pytest.raises(ValueError, match=expected):
            GradientBoostingRegressor(2).fit(rows, rows[:, 0], X_val=wrong, y_val=rows[:, 0])
    with pytest.raises(TypeError, match="X_val, y_val or sample_weight_val is invalid: X must be"):
        GradientBoostingRegressor(2).fit(rows, rows[:, 0], X_val="rows", y_val=rows[:, 0])


def test_wrong_uses_of_validation_rows() -> None:
    with pytest.raises(ValueError, match="y_val must have classes of y, got 7"):
        GradientBoostingClassifier(2).fit(X, CLASSES, X_val=X, y_val=np.full(len(X), 7))
    with pytest.raises(ValueError, match="'validation_fraction' has no effect with X_val"):
        GradientBoostingRegressor(2, early_stopping=True, validation_fraction=0.5).fit(
            X, NUMBERS, X_val=X, y_val=NUMBERS
        )
    with pytest.raises(ValueError, match="too few rows to hold some out"):
        GradientBoostingRegressor(2, early_stopping=True).fit(X[:1], NUMBERS[:1])


# Warm starts

WARM: list[dict[str, Any]] = [
    {},
    {"subsample": 0.6},
    {"sampling": "goss"},
    {"tree_features": 0.6, "max_features": 0.7},
    {"method": "gradient", "growth": "breadth_first"},
    {"init": "zero"},
]


@pytest.mark.parametrize("options", WARM, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_warm_start_equals_one_fit(kind: Any, options: dict[str, Any]) -> None:
    y = target_of(kind)
    whole = kind(9, **options).fit(X, y)
    model = kind(4, warm_start=True, **options).fit(X, y)
    for number in (5, 9):
        model.set_params(n_estimators=number).fit(X, y)
    assert bits(model) == bits(whole)


def test_a_warm_start_of_dropout_equals_one_fit() -> None:
    """Scores of dropped rounds are subtracted from sums, so that they are equal to rounding."""
    whole = GradientBoostingRegressor(12, dropout=0.3).fit(X, NUMBERS)
    model = GradientBoostingRegressor(5, dropout=0.3, warm_start=True).fit(X, NUMBERS)
    model.set_params(n_estimators=12).fit(X, NUMBERS)
    assert model.boosted_trees_.n_nodes == whole.boosted_trees_.n_nodes
    np.testing.assert_allclose(raw_scores(model), raw_scores(whole), rtol=1e-10, atol=1e-12)


def test_a_warm_start_with_an_init_predictor_and_validation_rows() -> None:
    from sklearn.linear_model import Ridge

    rows, new = X[["b", "c", "d"]], NEW_X[["b", "c", "d"]]
    data = {"X_val": new, "y_val": NEW_NUMBERS}
    whole = GradientBoostingRegressor(9, init=Ridge()).fit(rows, NUMBERS, **data)
    model = GradientBoostingRegressor(4, init=Ridge(), warm_start=True).fit(rows, NUMBERS, **data)
    init = model.init_
    model.set_params(n_estimators=9).fit(rows, NUMBERS, **data)
    assert bits(model) == bits(whole)
    assert model.init_ is init
    np.testing.assert_allclose(model.losses_["validation"], whole.losses_["validation"], rtol=1e-12)


def test_a_warm_start_may_lack_a_class() -> None:
    model = GradientBoostingClassifier(3, warm_start=True).fit(X, CLASSES)
    known = CLASSES > 0
    model.set_params(n_estimators=5).fit(X[known], CLASSES[known])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.predict_proba(X).shape[1] == 3
    with pytest.raises(ValueError, match="y must have the classes of the first fit"):
        model.set_params(n_estimators=6).fit(X, CLASSES + 1)


def test_losses_of_a_warm_start_have_an_entry_for_each_round() -> None:
    model = GradientBoostingRegressor(3, warm_start=True, trace=True).fit(X, NUMBERS)
    model.set_params(n_estimators=5, trace=False).fit(X, NUMBERS, X_val=NEW_X, y_val=NEW_NUMBERS)
    known = {name: (~np.isnan(losses)).tolist() for name, losses in model.losses_.items()}
    assert known == {"training": [True] * 3 + [False] * 2, "validation": [False] * 3 + [True] * 2}


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        (GradientBoostingRegressor, {}, {"loss": "poisson"}),
        (GradientBoostingRegressor, {"init": "zero"}, {"init": None}),
        (GradientBoostingRegressor, {}, {"init": DummyRegressor()}),
        (GradientBoostingRegressor, {"init": DummyRegressor()}, {"init": "zero"}),
        (GradientBoostingClassifier, {}, {"init": "zero"}),
    ],
)
def test_a_warm_start_keeps_loss_and_init(kind: Any, before: Any, after: Any) -> None:
    model = kind(2, warm_start=True, **before).fit(X, np.abs(target_of(kind)))
    expected, name = bits(model), next(iter(after))
    with pytest.raises(
        ValueError, match=f"warm_start=True requires the same {name} as the previous fit"
    ):
        model.set_params(n_estimators=4, **after).fit(X, np.abs(target_of(kind)))
    assert bits(model) == expected


def test_warm_starts_without_new_rounds() -> None:
    model = GradientBoostingRegressor(3, warm_start=True).fit(X, NUMBERS)
    before = bits(model)
    with pytest.warns(UserWarning, match="does not fit new rounds"):
        model.fit(X, NUMBERS)
    assert bits(model) == before
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        model.set_params(n_estimators=2).fit(X, NUMBERS)
    assert bits(model) == before


@pytest.mark.parametrize("tol", [0.0, 0.01])
def test_early_stopping_of_a_warm_start_keeps_a_model_that_is_not_improved(tol: float) -> None:
    data = {"X_val": NEW_X, "y_val": NEW_NUMBERS}
    model = GradientBoostingRegressor(
        200, early_stopping=True, learning_rate=0.3, n_iter_no_change=4, tol=tol, warm_start=True
    ).fit(X, NUMBERS, **data)
    before, n_rounds = bits(model), model.n_estimators_
    best = model.losses_["validation"][n_rounds - 1]
    model.set_params(learning_rate=3.0).fit(X, NUMBERS, **data)
    assert (model.losses_["validation"][n_rounds:] > best).all()
    assert len(model.losses_["validation"]) == n_rounds + 4
    assert bits(model) == before
    # Rounds that improve it are added.
    short = GradientBoostingRegressor(5, warm_start=True, tol=tol, early_stopping=True)
    short.fit(X, NUMBERS, **data).set_params(n_estimators=9).fit(X, NUMBERS, **data)
    assert short.n_estimators_ == 9


class Recorder:
    """The squared error, which keeps the targets of the training rows of each round."""

    def __init__(self) -> None:
        self.targets: list[list[float]] = []

    def gradient(self, y: Any, raw: Any) -> Any:
        self.targets.append(y.tolist())
        return raw - y

    def hessian(self, y: Any, raw: Any) -> Any:
        return np.ones_like(y)

    def loss(self, y: Any, raw: Any) -> Any:
        return (raw - y) ** 2 / 2


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"early_stopping": True}),
        ({"early_stopping": True}, {"validation_fraction": 0.2}),
    ],
)
def test_a_warm_start_holds_out_no_rows_of_earlier_trees(before: Any, after: Any) -> None:
    model = GradientBoostingRegressor(2, warm_start=True, **before).fit(X, NUMBERS)
    model.set_params(n_estimators=4, **after)
    with pytest.raises(ValueError, match="validation_fraction that the previous fit held out"):
        model.fit(X, NUMBERS)
    model.set_params(early_stopping=True, validation_fraction=0.1)
    assert model.fit(X, NUMBERS, X_val=X, y_val=NUMBERS).n_estimators_ == 4
    with pytest.raises(ValueError, match=r"held out, None, got 0\.1"):
        model.set_params(n_estimators=6).fit(X, NUMBERS)


@pytest.mark.parametrize("random_state", [None, np.random.default_rng(0)], ids=["none", "drawn"])
def test_a_warm_start_holds_out_the_rows_of_the_first_fit(random_state: Any) -> None:
    """Earlier trees were not fitted to the rows by which later ones are stopped."""
    loss = Recorder()
    model = GradientBoostingRegressor(
        2, loss=loss, early_stopping=True, warm_start=True, random_state=random_state
    )
    model.fit(X, NUMBERS).set_params(n_estimators=4).fit(X, NUMBERS)
    assert len(loss.targets) == 4
    assert all(targets == loss.targets[0] for targets in loss.targets)
    model.set_params(warm_start=False).fit(X, NUMBERS)
    assert loss.targets[-1] != loss.targets[0]


def test_a_warm_start_of_a_loaded_model_draws_as_one_fit(tmp_path: Any) -> None:
    options: dict[str, Any] = {"early_stopping": True, "subsample": 0.6, "n_iter_no_change": 99}
    whole, model = (
        GradientBoostingRegressor(n, random_state=np.random.default_rng(1), **options).fit(
            X, NUMBERS
        )
        for n in (9, 4)
    )
    save(model.set_params(random_state=None, warm_start=True), tmp_path / "model")
    longer = load(tmp_path / "model").set_params(n_estimators=9).fit(X, NUMBERS)
    assert bits(longer) == bits(whole)
    np.testing.assert_allclose(longer.losses_["validation"], whole.losses_["validation"])


def test_losses_of_a_warm_start_have_the_threshold_of_the_first_fit(tmp_path: Any) -> None:
    options: dict[str, Any] = {"loss": "huber", "trace": True, "learning_rate": 0.5}
    whole, model = (
        GradientBoostingRegressor(n, warm_start=True, **options).fit(X, NUMBERS) for n in (9, 4)
    )
    save(model, tmp_path / "model")
    for continued in (load(tmp_path / "model"), model):
        continued.set_params(n_estimators=9).fit(X, NUMBERS)
        np.testing.assert_allclose(
            continued.losses_["training"], whole.losses_["training"], rtol=1e-12
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("_seed", -1),
        ("_seed", "1"),
        ("_first_delta", math.nan),
        ("_fitted_loss", "log_loss"),
        ("init_", -1),
    ],
)
def test_wrong_state_of_a_warm_start_is_not_saved(name: str, value: Any, tmp_path: Any) -> None:
    model = GradientBoostingRegressor(2).fit(X, NUMBERS)
    setattr(model, name, value)
    with pytest.raises(ValueError, match=f"{name} must be"):
        save(model, tmp_path / "model")


def test_without_warm_start_a_fit_begins_anew() -> None:
    model = GradientBoostingRegressor(3).fit(X, NUMBERS)
    before = bits(model)
    assert bits(model.fit(X, NUMBERS)) == before


# DART


def test_validation_losses_of_dropout_are_those_of_the_model() -> None:
    """A round rescales earlier trees: the model of fewer rounds is another fit."""
    data = {"X_val": NEW_X, "y_val": NEW_NUMBERS}
    losses = GradientBoostingRegressor(8, dropout=0.5).fit(X, NUMBERS, **data).losses_["validation"]
    for number in (4, 8):
        model = GradientBoostingRegressor(number, dropout=0.5).fit(X, NUMBERS)
        expected = np.mean((model.predict(NEW_X) - NEW_NUMBERS) ** 2) / 2
        assert losses[number - 1] == pytest.approx(expected, rel=1e-12)


def test_dropout_keeps_the_sum_of_scores() -> None:
    """Dropped rounds and the new one are scaled such that a perfect fit is kept."""
    rows, y = np.arange(60.0)[:, None], np.repeat([0.0, 1.0], 30)
    model = GradientBoostingRegressor(
        40, dropout=0.3, learning_rate=1.0, min_samples_leaf=1, reg_lambda=0.0, init="zero"
    ).fit(rows, y)  # fmt: skip
    np.testing.assert_allclose(model.predict(rows), y, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_dropout_of_nothing_is_no_dropout(kind: Any) -> None:
    plain = kind(5).fit(X, target_of(kind))
    dropped = kind(5, dropout=1e-12).fit(X, target_of(kind))
    assert bits(plain) == bits(dropped)
