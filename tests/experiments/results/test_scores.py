"""Scores beside scikit-learn's, naive versions, and the rules for absent classes."""

from __future__ import annotations

import math
import pickle
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from ceiba.experiments import (
    SCORES,
    Predictions,
    ScoreValue,
    UndefinedScoreError,
    calibration_error,
    class_scores,
    compute_scores,
    confusion_matrix,
    get_score,
    pool,
)
from tests.budget import examples

LABELS = ("ant", "bee", "cat", "dog")


@st.composite
def folds(draw, n_classes=None):
    """Draw predictions whose fold may lack classes or have ones that training lacked."""
    n_classes = n_classes or draw(st.integers(2, 4))
    labels = LABELS[:n_classes]
    n_known = draw(st.integers(1, n_classes))
    n = draw(st.integers(1, 25))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Multiples of 1/8, so that probabilities tie.
    probabilities = random.multinomial(8, np.full(n_known, 1 / n_known), size=n) / 8
    y_true = random.choice(labels, n)
    y_pred = np.array(labels)[probabilities.argmax(axis=1)]
    return Predictions(y_true, y_pred, probabilities, labels[:n_known])


def naive_auc(positive, score):
    pairs = [(a, b) for a in score[positive] for b in score[~positive]]
    return np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])


@examples(100)
@given(folds())
def test_scores_of_labels_are_scikit_learns(rows):
    y_true, y_pred = rows.y_true, rows.y_pred
    values = {name: value.value for name, value in compute_scores(rows).items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # labels that are predicted only
        assert values["accuracy"] == pytest.approx(metrics.accuracy_score(y_true, y_pred))
        assert values["error"] == pytest.approx(metrics.zero_one_loss(y_true, y_pred))
        assert values["balanced_accuracy"] == pytest.approx(
            metrics.balanced_accuracy_score(y_true, y_pred)
        )
        assert values["f1_macro"] == pytest.approx(
            metrics.f1_score(y_true, y_pred, average="macro")
        )
        if values["kappa"] is None:
            assert len({*y_true, *y_pred}) == 1
        else:
            assert values["kappa"] == pytest.approx(metrics.cohen_kappa_score(y_true, y_pred))
    order = sorted(rows.classes)
    columns = rows.probabilities[:, [rows.classes.index(label) for label in order]]
    if len(order) > 1:
        assert values["log_loss"] == pytest.approx(
            metrics.log_loss(y_true, columns, labels=order), rel=1e-9
        )
        assert values["brier"] == pytest.approx(
            metrics.brier_score_loss(y_true, columns, labels=order, scale_by_half=False)
        )


@examples(100)
@given(folds())
def test_auc_is_the_share_of_pairs_in_order(rows):
    codes, columns = rows.true_codes, rows.probabilities
    present = np.unique(codes)
    values = compute_scores(rows, ["auc", "auc_ovr", "auc_ovo"])
    if len(present) == 1:
        assert all(value.value is None for value in values.values())
        assert "all" in values["auc_ovr"].reason
        return
    one_vs_rest = [naive_auc(codes == code, columns[:, code]) for code in present]
    assert values["auc_ovr"].value == pytest.approx(np.mean(one_vs_rest))
    one_vs_one = []
    for a, b in combinations(present, 2):
        both = np.isin(codes, [a, b])
        one_vs_one += [
            naive_auc(codes[both] == a, columns[both, a]),
            naive_auc(codes[both] == b, columns[both, b]),
        ]
    assert values["auc_ovo"].value == pytest.approx(np.mean(one_vs_one))
    if len(rows.classes) == 2:
        for value in values.values():
            assert value.value == pytest.approx(naive_auc(codes == 1, columns[:, 1]))
    else:
        assert values["auc"].value is None
        assert "auc_ovr" in values["auc"].reason


def naive_calibration_error(rows, n_bins):
    total = 0.0
    top = rows.probabilities.max(axis=1)
    for i in range(n_bins):
        inside = (top > i / n_bins) & (top <= (i + 1) / n_bins)
        if inside.any():
            hits = rows.probabilities[inside].argmax(axis=1) == rows.true_codes[inside]
            total += inside.sum() * abs(hits.mean() - top[inside].mean())
    return total / len(rows)


@examples(60)
@given(folds(), st.integers(1, 20))
def test_calibration_error_is_the_naive_one(rows, n_bins):
    assert calibration_error(rows, n_bins) == pytest.approx(naive_calibration_error(rows, n_bins))
    assert SCORES["calibration_error"](rows).value == calibration_error(rows, 15)


def test_calibrated_probabilities_have_no_error():
    rows = Predictions([0] * 3 + [1], [0] * 4, [[0.75, 0.25]] * 4, [0, 1])
    assert calibration_error(rows) == 0
    sure = Predictions([0, 1], [0, 0], [[1.0, 0.0]] * 2, [0, 1])
    assert calibration_error(sure) == 0.5


@examples(60)
@given(folds())
def test_scores_are_means_of_their_rows_and_always_finite(rows):
    for score in SCORES.values():
        if score.task == "regression":
            continue
        found = score(rows)
        assert (found.value is None) == bool(found.reason)
        assert found.value is None or math.isfinite(found.value)
        if score.is_row_mean and not score.needs_regions:
            values = score.row_values(rows)
            assert values.shape == (len(rows),)
            assert found.value == values.mean()
            if score.is_proportion:
                assert set(values) <= {0.0, 1.0}


@examples(60)
@given(folds())
def test_scores_do_not_depend_on_the_order_of_classes(rows):
    order = np.arange(len(rows.classes))[::-1]
    turned = Predictions(
        rows.y_true,
        rows.y_pred,
        rows.probabilities[:, order],
        [rows.classes[code] for code in order],
    )
    # Of equal probabilities the calibration error takes the first class.
    names = [n for n, s in SCORES.items() if s.task != "regression" and n != "calibration_error"]
    for name in names:
        expected, found = SCORES[name](rows), SCORES[name](turned)
        assert found.reason == expected.reason
        if expected.value is not None:
            assert found.value == pytest.approx(expected.value, rel=1e-12, abs=1e-15)


@examples(60)
@given(folds())
def test_class_scores_and_confusion_matrix_are_counts(rows):
    matrix = confusion_matrix(rows)
    assert matrix.sum() == len(rows)
    for code, scores in enumerate(class_scores(rows)):
        label = rows.classes[code]
        hits = int(((rows.y_true == label) & (rows.y_pred == label)).sum())
        n_true, n_predicted = int((rows.y_true == label).sum()), int((rows.y_pred == label).sum())
        assert (scores.label, scores.n_true, scores.n_predicted) == (label, n_true, n_predicted)
        assert (matrix[code, code], matrix[code].sum()) == (hits, n_true)
        assert matrix[:, code].sum() == n_predicted
        assert scores.recall == (pytest.approx(hits / n_true) if n_true else None)
        assert scores.precision == (pytest.approx(hits / n_predicted) if n_predicted else None)
        either = n_true + n_predicted
        assert scores.f1 == (pytest.approx(2 * hits / either) if either else None)
    f1 = [scores.f1 for scores in class_scores(rows) if scores.f1 is not None]
    assert SCORES["f1_macro"](rows).value == pytest.approx(np.mean(f1))


@examples(60)
@given(st.lists(folds(), min_size=1, max_size=4))
def test_pooled_rows_are_the_rows_of_all_folds(parts):
    rows = pool(parts)
    for name in ("accuracy", "error", "log_loss", "brier"):
        score = SCORES[name]
        values = np.concatenate([score.row_values(part) for part in parts])
        np.testing.assert_allclose(score.row_values(rows), values)
    assert rows.y_true.tolist() == [label for part in parts for label in part.y_true]


def test_pool_without_probabilities_or_of_numbers():
    sure = Predictions(["a", "b"], ["a", "b"], [[1, 0], [0, 1]], ["a", "b"])
    assert pool([sure, Predictions(["a"], ["c"])]).probabilities is None
    assert pool([sure, Predictions(["a"], ["c"])]).classes == ("a", "b", "c")
    one = Predictions([1.0], [2.0], task="regression")
    assert SCORES["r2"](one).value is None
    other = Predictions([2.0], [2.0], task="regression")
    assert SCORES["r2"](pool([one, other])).value == -1.0
    with pytest.raises(ValueError, match="at least one"):
        pool([])
    with pytest.raises(ValueError, match="one task"):
        pool([one, sure])


# ---- regression ------------------------------------------------------------------------------

NUMBERS = st.lists(
    st.tuples(*[st.floats(-1e6, 1e6).map(lambda x: round(x, 3))] * 2), min_size=2, max_size=20
)


@examples(100)
@given(NUMBERS)
def test_scores_of_numbers_are_scikit_learns(pairs):
    y_true, y_pred = np.array(pairs).T
    rows = Predictions(y_true, y_pred, task="regression")
    values = {name: value.value for name, value in compute_scores(rows).items()}
    assert values["rmse"] == pytest.approx(metrics.root_mean_squared_error(y_true, y_pred))
    assert values["mae"] == pytest.approx(metrics.mean_absolute_error(y_true, y_pred))
    if len(set(y_true)) == 1:
        assert values["r2"] is None
    else:
        assert values["r2"] == pytest.approx(metrics.r2_score(y_true, y_pred), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e200, 1e300])
def test_units_change_no_score(scale):
    y_true, y_pred = np.array([1.0, 2.0, 4.0]), np.array([1.5, 2.0, 3.0])
    plain = compute_scores(Predictions(y_true, y_pred, task="regression"))
    scaled = compute_scores(Predictions(y_true * scale, y_pred * scale, task="regression"))
    assert scaled["r2"].value == pytest.approx(plain["r2"].value, rel=1e-12)
    for name in ("rmse", "mae"):
        assert scaled[name].value / scale == pytest.approx(plain[name].value, rel=1e-12)


def test_one_exact_huge_row_hides_no_error():
    rows = Predictions([1e200, 0.0], [1e200, 3.0], task="regression")
    assert SCORES["rmse"](rows).value == pytest.approx(3 / math.sqrt(2))


def test_a_score_beyond_float64_is_undefined():
    far = Predictions([1e308, 1e308 / 2], [-1e308, -1e308], task="regression")
    assert SCORES["rmse"](far).value == pytest.approx(1.768e308, rel=1e-3)
    assert SCORES["mae"](far) == ScoreValue(None, "mae is beyond the range of float64")
    worse = Predictions([0.0, 1e-200], [1e200, 1e200], task="regression")
    assert "beyond" in SCORES["r2"](worse).reason


# ---- rules -----------------------------------------------------------------------------------


def test_a_class_that_training_lacked_has_probability_zero():
    rows = Predictions(["a", "b", "z"], ["a", "b", "b"], np.eye(2)[[0, 1, 1]], ["a", "b"])
    assert rows.classes == ("a", "b", "z")
    assert SCORES["log_loss"].row_values(rows)[2] == pytest.approx(36.0437, abs=1e-4)
    assert SCORES["brier"].row_values(rows).tolist() == [0, 0, 2]
    assert SCORES["balanced_accuracy"](rows).value == pytest.approx(2 / 3)
    # A constant column orders no pair: 0.5 for the new class, against 1 and 0.75.
    assert SCORES["auc_ovr"](rows).value == pytest.approx((1 + 0.75 + 0.5) / 3)


def test_a_fold_of_one_class():
    rows = Predictions([1, 1], [1, 1], [[0.5, 0.5], [0.25, 0.75]], [0, 1])
    values = compute_scores(rows)
    undefined = {name for name, value in values.items() if value.value is None}
    assert undefined == {"kappa", "auc", "auc_ovr", "auc_ovo"}
    assert "all 2 rows have class 1" in values["auc"].reason
    assert "pool" in values["auc"].reason
    assert str(values["kappa"]).startswith("undefined: all 2 rows")
    lonely = Predictions(["a"], ["a"], [[1.0]], ["a"])
    assert SCORES["log_loss"](lonely).value == pytest.approx(0, abs=1e-15)
    assert SCORES["f1_macro"](lonely).value == 1


def test_scores_without_probabilities_have_the_reason():
    values = compute_scores(Predictions([0, 1], [0, 1]))
    for name, value in values.items():
        if SCORES[name].needs_probabilities:
            assert value == ScoreValue(None, f"{name} requires probabilities, and there are none")
        else:
            assert value.value is not None
    with pytest.raises(ValueError, match="requires probabilities"):
        SCORES["brier"].row_values(Predictions([0, 1], [0, 1]))
    with pytest.raises(ValueError, match="requires probabilities"):
        calibration_error(Predictions([0, 1], [0, 1]))


def test_scores_of_prediction_sets():
    sets = np.array([[True, False], [True, True], [False, False], [False, True]])
    rows = Predictions(["a", "b", "a", "z"], ["a", "b", "a", "b"], None, ["a", "b"], regions=sets)
    # The class of the last row is not among those of the sets.
    assert rows.regions.tolist()[3] == [False, True, False]
    assert SCORES["coverage"].row_values(rows).tolist() == [1, 1, 0, 0]
    assert SCORES["coverage"](rows).value == 0.5
    assert SCORES["set_size"](rows).value == 1
    assert {"coverage", "set_size"} <= set(compute_scores(rows))
    assert "interval_width" not in compute_scores(rows)


def test_scores_of_prediction_intervals():
    regions = [[0, 2], [1, 1], [-math.inf, 0]]
    rows = Predictions([1, 1, 1], [1, 1, 1], task="regression", regions=regions)
    assert SCORES["coverage"].row_values(rows).tolist() == [1, 1, 0]
    width = SCORES["interval_width"](rows)
    assert width.value is None
    assert width.reason.startswith("1 of 3 intervals are infinite; more calibration rows")
    finite = Predictions([1, 1], [1, 1], task="regression", regions=regions[:2])
    assert SCORES["interval_width"](finite).value == 1
    assert list(compute_scores(finite)) == ["r2", "rmse", "mae", "coverage", "interval_width"]


def test_scores_without_regions_have_the_reason():
    rows = Predictions([0, 1], [0, 1])
    reason = "prediction sets or intervals (conformal prediction), and there are none"
    for name in ("coverage", "set_size"):
        assert SCORES[name](rows) == ScoreValue(None, f"{name} requires {reason}")
        assert name not in compute_scores(rows)
    with pytest.raises(ValueError, match="'coverage' requires prediction sets or intervals"):
        SCORES["coverage"].row_values(rows)


def test_pooled_regions_match_classes_by_label():
    first = Predictions(["a"], ["a"], classes=["a", "b"], regions=[[True, False]])
    second = Predictions(["c"], ["b"], classes=["c", "b"], regions=[[False, True]])
    pooled = pool([first, second])
    assert pooled.classes == ("a", "b", "c")
    assert pooled.regions.tolist() == [[True, False, False], [False, True, False]]
    assert pool([first, Predictions(["a"], ["a"])]).regions is None
    numbers = [
        Predictions([1.0], [1.0], task="regression", regions=[[0.0, end]]) for end in (1.0, 2.0)
    ]
    assert pool(numbers).regions.tolist() == [[0, 1], [0, 2]]
    assert pool([*numbers, Predictions([1.0], [1.0], task="regression")]).regions is None


def test_labels_of_one_kind_are_matched_by_value():
    mixed = Predictions(np.array([True, False]), np.array([1, 1]), classes=[0.0, 1.0])
    assert SCORES["accuracy"](mixed).value == 0.5
    objects = Predictions(np.array(["a", "b"], object), np.array(["a", "a"]))
    assert SCORES["accuracy"](objects).value == 0.5


def test_the_table_of_scores():
    assert list(SCORES) == [score.name for score in SCORES.values()]
    assert {name for name, score in SCORES.items() if score.greater_is_better is False} == {
        "error", "log_loss", "brier", "calibration_error", "rmse", "mae", "set_size",
        "interval_width",
    }  # fmt: skip
    assert {name for name, score in SCORES.items() if score.is_row_mean} == {
        "accuracy", "error", "log_loss", "brier", "mae", "coverage", "set_size", "interval_width",
    }  # fmt: skip
    assert {name for name, score in SCORES.items() if score.is_proportion} == {
        "accuracy", "error", "coverage",
    }  # fmt: skip
    assert len({score.label for score in SCORES.values()}) == len(SCORES)
    for name, score in SCORES.items():
        assert get_score(name.upper().replace("_", "-")) is score
        assert pickle.loads(pickle.dumps(score)).row_function is score.row_function
    assert get_score("efficiency") is SCORES["accuracy"]


def test_small_folds_with_many_classes_give_no_warning():
    y = np.arange(22) % 12
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compute_scores(Predictions(y, y[::-1], np.full((22, 12), 1 / 12), y[:12]))
        class_scores(Predictions(y, y[::-1]))
        confusion_matrix(Predictions(y, y[::-1]))
        confusion_matrix(Predictions([1, 1], [1, 1]))


def test_an_undefined_score_is_a_value_error():
    assert issubclass(UndefinedScoreError, ValueError)


HALF = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Predictions([], []), "y_true must be 1D with at least one row"),
        (lambda: Predictions([[0, 1]], [0]), r"got shape \(1, 2\)"),
        (lambda: Predictions([0, 1], [0]), "inconsistent numbers of samples: 2 in y_true and 1"),
        (lambda: Predictions(["a", None], ["a", "b"]), "missing values, got None in row 1"),
        (lambda: Predictions([0.0, math.nan], [0, 1]), "missing values, got nan in row 1"),
        (lambda: Predictions([0, 1], ["0", "1"]), "one type, got number in y_true, text in y_pred"),
        (lambda: Predictions(np.array([0, "a"], object), [0, 1]), "one type, got number and text"),
        (lambda: Predictions([0], [0], HALF), "require classes"),
        (lambda: Predictions([0], [0], HALF, [0, 0]), "classes must be different"),
        (lambda: Predictions([0], [0], HALF, [0, 1, 2]), r"\(1, 3\), got \(1, 2\)"),
        (lambda: Predictions([0], [0], [0.5], [0, 1]), "column_stack"),
        (lambda: Predictions([0], [0], [[0.5, 0.6]], [0, 1]), "row sums of 1, got .* in row 0"),
        (lambda: Predictions([0], [0], [[-0.5, 1.5]], [0, 1]), "at least 0"),
        (lambda: Predictions([0], [0], [[math.nan, 1]], [0, 1]), "row 0"),
        (lambda: Predictions([0], [0], task="ranking"), "task must be"),
        (lambda: Predictions([0], [0], classes=[0], task="regression"), "no effect"),
        (lambda: Predictions([0, 1], [0, math.inf], task="regression"), "finite, got inf in row 1"),
        (lambda: Predictions(["a"], [0], task="regression"), "y_true must be numbers"),
        (lambda: Predictions([[1]], [0], task="regression"), "must be 1D"),
        (lambda: Predictions([0], [0], regions=[[True]]), "regions require classes"),
        (lambda: Predictions([0], [0], classes=[0], regions=[[1]]), "must be bool .* got int64"),
        (lambda: Predictions([0], [0], classes=[0], regions=[[True] * 2]), r"got bool .*\(1, 2\)"),
        (
            lambda: Predictions([0], [0], task="regression", regions=[0, 1]),
            r"regions must have shape \(n_rows, 2\) = \(1, 2\), got \(2,\)",
        ),
        (
            lambda: Predictions([0], [0], task="regression", regions=[[1, 0]]),
            r"intervals \(lower, upper\), got \[1.0, 0.0\] in row 0",
        ),
        (
            lambda: Predictions([0], [0], task="regression", regions=[[0, math.nan]]),
            "in row 0",
        ),
        (lambda: get_score("accurracy"), "score must be one of accuracy, error"),
        (lambda: get_score(3), "score must be one of"),
        (lambda: compute_scores(Predictions([0], [0]), "auc"), r"pass \['auc'\]"),
        (lambda: SCORES["r2"](Predictions([0], [0])), "score of regression, got .* classification"),
        (lambda: SCORES["auc"].row_values(Predictions([0], [0])), "not a mean over rows"),
        (lambda: calibration_error(Predictions([0], [0], HALF, [0, 1]), 0), "n_bins must be"),
        (lambda: confusion_matrix(Predictions([0], [0], task="regression")), "requires predict"),
        (lambda: class_scores(Predictions([0], [0], task="regression")), "requires predict"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()


def test_missing_labels_of_pandas_are_refused():
    pandas = pytest.importorskip("pandas")
    labels = pandas.Series(["a", pandas.NA], dtype="string")
    with pytest.raises(ValueError, match=r"missing values, got .* in row 1"):
        Predictions(labels, ["a", "b"])
    category = pandas.Series(["a", "b"], dtype="category")
    assert SCORES["accuracy"](Predictions(category, ["a", "b"])).value == 1
