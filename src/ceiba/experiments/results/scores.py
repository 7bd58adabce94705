"""Scores of raw predictions: accuracy, AUC, log-loss, calibration, R² and others.

An experiment keeps the predictions of its test rows (`Predictions`), and every score is computed
from them later. `SCORES` declares all scores once; tables, plots and command lines derive from it.

Test folds are small, and may lack classes that the training rows have, or have classes that the
training rows lack. The rules for both are the same for all scores:

- A class that the training rows lacked has probability 0 in all predictions.
- Means over classes leave out the classes without test rows. The F1 score of a class that is
  predicted but has no test row is 0.
- A score that is undefined is None with the reason, never NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
from sklearn import metrics

from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.base.spelling import fold
from ceiba.experiments.results.labels import encode_labels, label_type, sort_labels

Task = Literal["classification", "regression"]

# Largest difference from 1 of the sum of a row's probabilities: float32 models with hundreds of
# classes differ by 1e-6, and scikit-learn's AUC of several classes refuses more than this.
SUM_TOLERANCE = 1e-5
# Probabilities below it are raised to it by the log-loss, so that one row adds at most 36.04. It is
# the limit of scikit-learn's log_loss for float64.
MIN_PROBABILITY = float(np.finfo(np.float64).eps)
# Bins of the expected calibration error, as in Guo et al.
N_BINS = 15


@dataclass(frozen=True, eq=False)
class Predictions:
    """Raw predictions of test rows, with what they should have been.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        Labels, or finite numbers with ``task="regression"``.
    probabilities : array of shape (n, n_classes) or None
        Predicted probability of each class; rows sum to 1.
    classes : array of shape (n_classes,) or None
        Label of each column of ``probabilities``, usually ``model.classes_``. Required with
        probabilities; without them, the classes of the training rows if they are known.
    task : {"classification", "regression"}
    regions : array or None
        Prediction sets, bool of shape (n, n_classes) with the columns of ``probabilities``, or
        intervals with their two ends, float of shape (n, 2), which may be infinite.

    Attributes
    ----------
    classes : tuple or None
        The given classes, then all other labels of ``y_true`` and ``y_pred`` in sorted order. None
        for a regression.
    probabilities : array of shape (n, len(classes)) or None
        The given probabilities, and 0 for the classes that were not given.
    regions : array or None
        The given regions; sets lack the classes that were not given.
    true_codes, predicted_codes : array of int64 and shape (n,)
        Indices of the labels in ``classes``. Empty for a regression.

    Examples
    --------
    A fold of which the training rows had no class "c":

    >>> fold = Predictions(
    ...     ["a", "b", "c"], ["a", "b", "b"], [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], ["a", "b"]
    ... )
    >>> fold.classes
    ('a', 'b', 'c')
    >>> fold.probabilities[2]
    array([0.25, 0.75, 0.  ])
    """

    y_true: Any
    y_pred: Any
    probabilities: Any = None
    classes: Any = None
    task: Task = "classification"
    regions: Any = None
    true_codes: Array = field(init=False, repr=False)
    predicted_codes: Array = field(init=False, repr=False)

    __repr__ = fields_repr

    def __post_init__(self) -> None:
        if self.task == "regression":
            values = _check_regression(self)
        elif self.task == "classification":
            values = _check_classification(self)
        else:
            raise ValueError(f"task must be 'classification' or 'regression', got {self.task!r}.")
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __len__(self) -> int:
        return len(self.y_true)


def _check_regression(given: Predictions) -> dict[str, Any]:
    """Return the fields of checked predictions of numbers."""
    if given.probabilities is not None or given.classes is not None:
        raise ValueError("probabilities and classes have no effect with task='regression'.")
    values: dict[str, Any] = {}
    for name in ("y_true", "y_pred"):
        try:
            array = np.asarray(getattr(given, name), dtype=np.float64)
        except (TypeError, ValueError):
            raise ValueError(f"{name} must be numbers with task='regression'.") from None
        if array.ndim != 1 or not len(array):
            raise ValueError(f"{name} must be 1D with at least one row, got shape {array.shape}.")
        if not np.isfinite(array).all():
            row = int(np.argmin(np.isfinite(array)))
            raise ValueError(f"{name} must be finite, got {array[row]} in row {row}.")
        values[name] = array
    _check_lengths(values["y_true"], values["y_pred"])
    empty = np.empty(0, np.int64)
    regions = _check_intervals(given.regions, len(values["y_true"]))
    return values | {"true_codes": empty, "predicted_codes": empty, "regions": regions}


def _check_intervals(given: Any, n_rows: int) -> Array | None:
    """Return the ends of prediction intervals."""
    if given is None:
        return None
    regions = np.asarray(given, np.float64)
    if regions.shape != (n_rows, 2):
        raise ValueError(
            f"regions must have shape (n_rows, 2) = {(n_rows, 2)}, got {regions.shape}."
        )
    valid = regions[:, 0] <= regions[:, 1]  # NaN is not
    if not valid.all():
        row = int(np.argmin(valid))
        raise ValueError(
            f"regions must be intervals (lower, upper), got {regions[row].tolist()} in row {row}."
        )
    return regions


def _check_classification(given: Predictions) -> dict[str, Any]:
    """Return the fields of checked predictions of labels."""
    encoded = {name: encode_labels(name, getattr(given, name)) for name in ("y_true", "y_pred")}
    _check_lengths(given.y_true, given.y_pred)
    found = {name: labels for name, (labels, _) in encoded.items()}
    if given.classes is not None:
        unique, codes = encode_labels("classes", given.classes)
        if len(unique) < len(codes):
            raise ValueError(f"classes must be different labels, got {list(given.classes)}.")
        # In the given order, as Python objects.
        found["classes"] = [unique[code] for code in codes]
    types = {name: label_type(name, labels) for name, labels in found.items()}
    if len(set(types.values())) > 1:
        listed = ", ".join(f"{kind} in {name}" for name, kind in types.items())
        raise ValueError(f"y_true, y_pred and classes must have labels of one type, got {listed}.")
    known = dict.fromkeys(found.get("classes", []))
    others = {label for label in (*found["y_true"], *found["y_pred"]) if label not in known}
    classes = (*known, *sort_labels(others))
    index = {label: code for code, label in enumerate(classes)}
    true_codes, predicted_codes = (
        np.array([index[label] for label in labels], np.int64)[codes]
        for labels, codes in encoded.values()
    )
    return {
        "y_true": np.asarray(given.y_true),
        "y_pred": np.asarray(given.y_pred),
        "probabilities": _check_probabilities(given, len(true_codes), len(known), len(others)),
        "regions": _check_sets(given, len(true_codes), len(known), len(others)),
        "classes": classes,
        "true_codes": true_codes,
        "predicted_codes": predicted_codes,
    }


def _check_probabilities(
    given: Predictions, n_rows: int, n_known: int, n_others: int
) -> Array | None:
    """Return the probabilities with a column of zeros for each class that was not given."""
    if given.probabilities is None:
        return None
    if given.classes is None:
        raise ValueError("probabilities require classes: the label of each column.")
    array = np.asarray(given.probabilities, dtype=np.float64)
    if array.shape != (n_rows, n_known):
        remedy = ""
        if array.shape == (n_rows,):
            remedy = " Of two classes, pass np.column_stack([1 - p, p])."
        raise ValueError(
            f"probabilities must have shape (n_rows, n_classes) = {(n_rows, n_known)}, "
            f"got {array.shape}.{remedy}"
        )
    # The first row with NaN, infinity, a negative number or another sum.
    valid = (array >= 0).all(axis=1) & (np.abs(array.sum(axis=1) - 1) <= SUM_TOLERANCE)
    if not valid.all():
        row = int(np.argmin(valid))
        raise ValueError(
            f"probabilities must be at least 0 and have row sums of 1, got {array[row].tolist()} "
            f"in row {row}."
        )
    return np.hstack([array, np.zeros((n_rows, n_others))])


def _check_sets(given: Predictions, n_rows: int, n_known: int, n_others: int) -> Array | None:
    """Return prediction sets that lack each class that was not given."""
    if given.regions is None:
        return None
    if given.classes is None:
        raise ValueError("regions require classes: the label of each column.")
    regions = np.asarray(given.regions)
    if regions.dtype != bool or regions.shape != (n_rows, n_known):
        raise ValueError(
            f"regions must be bool with shape (n_rows, n_classes) = {(n_rows, n_known)}, "
            f"got {regions.dtype} with {regions.shape}."
        )
    return np.hstack([regions, np.zeros((n_rows, n_others), bool)])


def _check_lengths(y_true: Any, y_pred: Any) -> None:
    if len(y_true) != len(y_pred):
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{len(y_true)} in y_true and {len(y_pred)} in y_pred."
        )


def pool(folds: Sequence[Predictions]) -> Predictions:
    """Join the predictions of several folds, matching their classes by label.

    Scores that a small fold does not define, such as AUC or R² of leave-one-out, are defined for
    the pooled rows. Probabilities and regions are kept if all folds have them.

    Examples
    --------
    >>> first = Predictions(["a", "b"], ["a", "b"], [[1, 0], [0.5, 0.5]], ["a", "b"])
    >>> second = Predictions(["c"], ["b"], [[0.25, 0.75]], ["b", "c"])
    >>> pool([first, second]).probabilities
    array([[1.  , 0.  , 0.  ],
           [0.5 , 0.5 , 0.  ],
           [0.  , 0.25, 0.75]])
    """
    if not folds:
        raise ValueError("folds must have at least one Predictions, got none.")
    tasks = {fold.task for fold in folds}
    if len(tasks) > 1:
        raise ValueError("folds must have one task, got classification and regression.")
    y_true = np.concatenate([fold.y_true for fold in folds])
    y_pred = np.concatenate([fold.y_pred for fold in folds])
    if tasks == {"regression"}:
        intervals = [fold.regions for fold in folds if fold.regions is not None]
        regions = np.concatenate(intervals) if len(intervals) == len(folds) else None
        return Predictions(y_true, y_pred, task="regression", regions=regions)
    classes = list(dict.fromkeys(label for fold in folds for label in fold.classes))
    probabilities, sets = (
        _pool_columns(folds, name, classes) for name in ("probabilities", "regions")
    )
    return Predictions(y_true, y_pred, probabilities, classes, regions=sets)


def _pool_columns(folds: Sequence[Predictions], name: str, classes: list[Any]) -> Array | None:
    """Join arrays with a column per class; None if a fold lacks its array."""
    blocks = []
    for part in folds:
        values = getattr(part, name)
        if values is None:
            return None
        block = np.zeros((len(part), len(classes)), values.dtype)
        block[:, [classes.index(label) for label in part.classes]] = values
        blocks.append(block)
    return np.concatenate(blocks)


@dataclass(frozen=True, slots=True)
class ScoreValue:
    """A score of some predictions, or the reason why it is undefined.

    Parameters
    ----------
    value : float or None
        Finite; None if the score is undefined.
    reason : str
        Why it is undefined; empty if it is defined.

    Examples
    --------
    >>> print(ScoreValue(0.875))
    0.875
    >>> print(ScoreValue(None, "all 3 rows have class 'a'"))
    undefined: all 3 rows have class 'a'
    """

    value: float | None
    reason: str = ""

    def __str__(self) -> str:
        return f"undefined: {self.reason}" if self.value is None else f"{self.value:.4g}"


class UndefinedScoreError(ValueError):
    """The predictions do not define the score; the message is the reason."""


@dataclass(frozen=True)
class Score:
    """A declared score: its function, and what tables and tests need of it.

    Parameters
    ----------
    name : str
        Key in `SCORES`.
    label : str
        Short text for tables and axes.
    task : {"classification", "regression"} or None
        None for scores of both.
    function : callable
        From `Predictions` to a float; raises `UndefinedScoreError` with the reason.
    greater_is_better : bool or None
        None if neither is: the best coverage is the confidence level.
    needs_probabilities, needs_regions : bool
    row_function : callable or None
        From `Predictions` to an array with a value for each row, if the score is their mean.
    is_proportion : bool
        Whether the row values are 0 and 1. A proportion has a Wilson or Clopper-Pearson interval,
        other means of rows a bootstrap interval.

    Examples
    --------
    >>> score = SCORES["accuracy"]
    >>> rows = Predictions([1, 0, 1, 1], [1, 1, 1, 1])
    >>> score(rows)
    ScoreValue(value=0.75, reason='')
    >>> score.row_values(rows)
    array([1., 0., 1., 1.])
    >>> score.is_row_mean, score.greater_is_better, score.needs_probabilities
    (True, True, False)
    """

    name: str
    label: str
    task: Task | None
    function: Callable[[Predictions], float] = field(repr=False)
    greater_is_better: bool | None = True
    needs_probabilities: bool = False
    row_function: Callable[[Predictions], Array] | None = field(default=None, repr=False)
    is_proportion: bool = False
    needs_regions: bool = False

    @property
    def is_row_mean(self) -> bool:
        """Whether the score is the mean of a value per row."""
        return self.row_function is not None

    def __call__(self, predictions: Predictions) -> ScoreValue:
        """Compute the score, or the reason why it is undefined."""
        self._check_task(predictions)
        lacking = self._lacking(predictions)
        if lacking:
            return ScoreValue(None, f"{self.name} requires {lacking}, and there are none")
        try:
            # Numbers near 1e308 overflow; the result is refused below.
            with np.errstate(all="ignore"):
                value = float(self.function(predictions))
        except UndefinedScoreError as error:
            return ScoreValue(None, str(error))
        if not math.isfinite(value):
            return ScoreValue(None, f"{self.name} is beyond the range of float64")
        return ScoreValue(value)

    def check_direction(self) -> bool:
        """Return whether greater is better; raise if a greater score is not better or worse."""
        if self.greater_is_better is None:
            raise ValueError(
                f"{self.name!r} has no best value among learners: it should be near the confidence "
                "level. Choose another score."
            )
        return self.greater_is_better

    def row_values(self, predictions: Predictions) -> Array:
        """Return the value of each row, whose mean is the score.

        Returns
        -------
        array of float64 and shape (n,)
        """
        if self.row_function is None:
            names = ", ".join(score.name for score in SCORES.values() if score.is_row_mean)
            raise ValueError(f"{self.name!r} is not a mean over rows; these scores are: {names}.")
        self._check_task(predictions)
        lacking = self._lacking(predictions)
        if lacking:
            raise ValueError(f"{self.name!r} requires {lacking}, and there are none.")
        return self.row_function(predictions)

    def _lacking(self, predictions: Predictions) -> str:
        """Return what the score requires and the predictions lack."""
        if self.needs_probabilities and predictions.probabilities is None:
            return "probabilities"
        if self.needs_regions and predictions.regions is None:
            return "prediction sets or intervals (conformal prediction)"
        return ""

    def _check_task(self, predictions: Predictions) -> None:
        if self.task not in (None, predictions.task):
            raise ValueError(
                f"{self.name!r} is a score of {self.task}, got predictions of {predictions.task}."
            )


def _row_mean(
    name: str, label: str, task: Task | None, rows: Callable[[Predictions], Array], **options: Any
) -> Score:
    """Declare a score that is the mean of its row values, exactly."""
    return Score(name, label, task, partial(_mean, rows), row_function=rows, **options)


def _mean(rows: Callable[[Predictions], Array], p: Predictions) -> float:
    return float(rows(p).mean())


def _hits(p: Predictions) -> Array:
    return np.asarray(p.true_codes == p.predicted_codes, np.float64)


def _misses(p: Predictions) -> Array:
    return np.asarray(p.true_codes != p.predicted_codes, np.float64)


def _log_losses(p: Predictions) -> Array:
    true = p.probabilities[np.arange(len(p)), p.true_codes]
    return np.asarray(-np.log(np.clip(true, MIN_PROBABILITY, 1 - MIN_PROBABILITY)))


def _brier_losses(p: Predictions) -> Array:
    indicators = p.true_codes[:, None] == np.arange(len(p.classes))
    return np.asarray(((p.probabilities - indicators) ** 2).sum(axis=1))


def _absolute_errors(p: Predictions) -> Array:
    return np.asarray(np.abs(p.y_true - p.y_pred))


def _covered(p: Predictions) -> Array:
    if p.task == "classification":
        inside = p.regions[np.arange(len(p)), p.true_codes]
    else:
        inside = (p.regions[:, 0] <= p.y_true) & (p.y_true <= p.regions[:, 1])
    return np.asarray(inside, np.float64)


def _set_sizes(p: Predictions) -> Array:
    return np.asarray(p.regions.sum(axis=1), np.float64)


def _interval_widths(p: Predictions) -> Array:
    n_infinite = int((~np.isfinite(p.regions)).any(axis=1).sum())
    if n_infinite:
        raise UndefinedScoreError(
            f"{n_infinite} of {len(p)} intervals are infinite; more calibration rows are required, "
            "or a smaller confidence level"
        )
    return np.asarray(p.regions[:, 1] - p.regions[:, 0])


def _balanced_accuracy(p: Predictions) -> float:
    present = np.unique(p.true_codes)
    return float(
        metrics.recall_score(p.true_codes, p.predicted_codes, labels=present, average="macro")
    )


def _kappa(p: Predictions) -> float:
    used = np.union1d(p.true_codes, p.predicted_codes)
    if len(used) == 1:
        raise UndefinedScoreError(
            f"all {len(p)} rows have class {p.classes[used[0]]!r} and are predicted so, "
            "which is also the agreement by chance"
        )
    return float(metrics.cohen_kappa_score(p.true_codes, p.predicted_codes))


def _f1_macro(p: Predictions) -> float:
    return float(
        metrics.f1_score(p.true_codes, p.predicted_codes, average="macro", zero_division=0)
    )


def _present_classes(p: Predictions) -> Array:
    """Return the codes of the classes with test rows; an AUC requires two."""
    present = np.unique(p.true_codes)
    if len(present) < 2:
        label = p.classes[present[0]]
        raise UndefinedScoreError(
            f"all {len(p)} rows have class {label!r}, and AUC compares rows of two classes; "
            "pool the rows of several folds"
        )
    return present


def _auc(p: Predictions) -> float:
    if len(p.classes) > 2:
        raise UndefinedScoreError(
            f"auc is of two classes, and there are {len(p.classes)}; "
            "'auc_ovr' and 'auc_ovo' are of several"
        )
    _present_classes(p)
    return float(metrics.roc_auc_score(p.true_codes, p.probabilities[:, 1]))


def _auc_ovr(p: Predictions) -> float:
    aucs = [
        metrics.roc_auc_score(p.true_codes == code, p.probabilities[:, code])
        for code in _present_classes(p)
    ]
    return float(np.mean(aucs))


def _auc_ovo(p: Predictions) -> float:
    _present_classes(p)
    if len(p.classes) == 2:
        return _auc(p)
    # Pairs of classes with test rows; scikit-learn takes the columns by code.
    codes = np.arange(len(p.classes))
    return float(
        metrics.roc_auc_score(p.true_codes, p.probabilities, multi_class="ovo", labels=codes)
    )


def calibration_error(predictions: Predictions, n_bins: int = N_BINS) -> float:
    """Compute the expected calibration error of the most probable class.

    The confidence of a row is its largest probability. Rows are divided into ``n_bins`` intervals
    of equal width of the confidence, closed at the upper end; the result is the mean over all rows
    of \\|share of correct rows − mean confidence\\| of their interval. Of equal probabilities the
    first class counts.

    Parameters
    ----------
    predictions : Predictions
        With probabilities.
    n_bins : int
        At least 1. The estimate depends on it: few bins hide errors of opposite sign, and with
        few rows per bin noise is counted as error.

    Returns
    -------
    float
        From 0, calibrated, to 1.

    References
    ----------
    Naeini, Cooper & Hauskrecht (2015), "Obtaining well calibrated probabilities using Bayesian
    binning", AAAI. Guo, Pleiss, Sun & Weinberger (2017), "On calibration of modern neural
    networks", ICML.

    Examples
    --------
    Four rows with confidence 0.75, of which two are correct:

    >>> rows = Predictions([0, 0, 1, 1], [0, 0, 0, 0], [[0.75, 0.25]] * 4, [0, 1])
    >>> calibration_error(rows)
    0.25
    """
    if isinstance(n_bins, bool) or not isinstance(n_bins, int | np.integer) or n_bins < 1:
        raise ValueError(f"n_bins must be an int >= 1, got {n_bins!r}.")
    if predictions.probabilities is None:
        raise ValueError("calibration_error requires probabilities, and there are none.")
    top = predictions.probabilities.argmax(axis=1)
    confidence = predictions.probabilities.max(axis=1)
    hits = top == predictions.true_codes
    inner_edges = np.arange(1, n_bins) / n_bins
    bins = np.digitize(confidence, inner_edges, right=True)
    differences = np.bincount(bins, weights=hits - confidence, minlength=n_bins)
    return float(np.abs(differences).sum() / len(predictions))


def _r2(p: Predictions) -> float:
    if (p.y_true == p.y_true[0]).all():
        raise UndefinedScoreError(
            f"the targets of all {len(p)} rows are equal, and R² compares with their variance; "
            "pool the rows of several folds"
        )
    # A common power of two changes no digit, and squares of any unit are then representable.
    exponent = _exponent(p.y_true, p.y_pred)
    scaled = np.ldexp(p.y_true, -exponent), np.ldexp(p.y_pred, -exponent)
    return float(metrics.r2_score(*scaled, force_finite=False))


def _rmse(p: Predictions) -> float:
    halves = p.y_true / 2 - p.y_pred / 2  # the difference of 1e308 and -1e308 is not representable
    exponent = _exponent(halves)
    scaled = np.ldexp(halves, -exponent)
    error = metrics.root_mean_squared_error(scaled, np.zeros_like(scaled))
    return float(np.ldexp(error, exponent + 1))


def _exponent(*arrays: Array) -> int:
    """Return the binary exponent of the largest absolute value."""
    return int(np.frexp(max(float(np.abs(array).max()) for array in arrays))[1])


_ALL = (
    _row_mean("accuracy", "Accuracy", "classification", _hits, is_proportion=True),
    _row_mean(
        "error", "Error", "classification", _misses, is_proportion=True, greater_is_better=False
    ),
    Score("balanced_accuracy", "Balanced accuracy", "classification", _balanced_accuracy),
    Score("kappa", "Kappa", "classification", _kappa),
    Score("f1_macro", "F1", "classification", _f1_macro),
    Score("auc", "AUC", "classification", _auc, needs_probabilities=True),
    Score("auc_ovr", "AUC, one vs rest", "classification", _auc_ovr, needs_probabilities=True),
    Score("auc_ovo", "AUC, one vs one", "classification", _auc_ovo, needs_probabilities=True),
    _row_mean(
        "log_loss",
        "Log-loss",
        "classification",
        _log_losses,
        greater_is_better=False,
        needs_probabilities=True,
    ),
    _row_mean(
        "brier",
        "Brier",
        "classification",
        _brier_losses,
        greater_is_better=False,
        needs_probabilities=True,
    ),
    Score(
        "calibration_error",
        "Calibration error",
        "classification",
        calibration_error,
        greater_is_better=False,
        needs_probabilities=True,
    ),
    Score("r2", "R²", "regression", _r2),
    Score("rmse", "RMSE", "regression", _rmse, greater_is_better=False),
    _row_mean("mae", "MAE", "regression", _absolute_errors, greater_is_better=False),
    _row_mean(
        "coverage",
        "Coverage",
        None,
        _covered,
        is_proportion=True,
        needs_regions=True,
        greater_is_better=None,
    ),
    _row_mean(
        "set_size",
        "Set size",
        "classification",
        _set_sizes,
        greater_is_better=False,
        needs_regions=True,
    ),
    _row_mean(
        "interval_width",
        "Interval width",
        "regression",
        _interval_widths,
        greater_is_better=False,
        needs_regions=True,
    ),
)
SCORES: Mapping[str, Score] = MappingProxyType({score.name: score for score in _ALL})
# Folded synonym -> name. "Efficiency" is the word of some lectures.
_SYNONYMS = {
    "efficiency": "accuracy",
    "acc": "accuracy",
    "cohenkappa": "kappa",
    "f1": "f1_macro",
    "ece": "calibration_error",
    "brierscore": "brier",
}


def default_score(task: Task) -> str:
    """Return the score of a task that tables show if none is chosen.

    Examples
    --------
    >>> default_score("classification"), default_score("regression")
    ('accuracy', 'r2')
    """
    return "accuracy" if task == "classification" else "r2"


def get_score(name: str) -> Score:
    """Return the score of a name; case, dashes and underscores do not matter.

    Examples
    --------
    >>> get_score("Log-loss").name, get_score("efficiency").name
    ('log_loss', 'accuracy')
    """
    names = {fold(known): known for known in SCORES} | _SYNONYMS
    found = names.get(fold(name)) if isinstance(name, str) else None
    if found is None:
        raise ValueError(f"score must be one of {', '.join(SCORES)}, got {name!r}.")
    return SCORES[found]


def compute_scores(
    predictions: Predictions, names: Iterable[str] | None = None
) -> dict[str, ScoreValue]:
    """Compute several scores, by default all scores of the task.

    Scores of prediction sets and intervals are among the default only if there are such regions.

    Parameters
    ----------
    predictions : Predictions
    names : iterable of str or None
        Names of `SCORES`.

    Returns
    -------
    dict of str to ScoreValue
        In the order of the names.

    Examples
    --------
    >>> rows = Predictions([1.0, 2.0, 4.0], [1.0, 3.0, 4.0], task="regression")
    >>> for name, value in compute_scores(rows).items():
    ...     print(name, value)
    r2 0.7857
    rmse 0.5774
    mae 0.3333
    """
    if names is None:
        chosen = [
            score
            for score in SCORES.values()
            if score.task in (None, predictions.task)
            and (predictions.regions is not None or not score.needs_regions)
        ]
    elif isinstance(names, str):
        raise ValueError(f"names must be a list of names, got {names!r}: pass [{names!r}].")
    else:
        chosen = [get_score(name) for name in names]
    return {score.name: score(predictions) for score in chosen}


def confusion_matrix(predictions: Predictions) -> Array:
    """Count the rows of each true class (rows) that are predicted as each class (columns).

    Returns
    -------
    array of int64 and shape (n_classes, n_classes)
        In the order of ``predictions.classes``, with classes that no row has.

    Examples
    --------
    >>> confusion_matrix(Predictions(["no", "yes", "yes"], ["no", "no", "yes"]))
    array([[1, 0],
           [1, 1]])
    """
    _check_labels(predictions, "confusion_matrix")
    n_classes = len(predictions.classes)
    if n_classes == 1:  # scikit-learn warns
        return np.array([[len(predictions)]])
    matrix = metrics.confusion_matrix(
        predictions.true_codes, predictions.predicted_codes, labels=np.arange(n_classes)
    )
    return np.asarray(matrix, np.int64)


@dataclass(frozen=True, slots=True)
class ClassScores:
    """Precision, recall and F1 of one class.

    Parameters
    ----------
    label : label
    precision : float or None
        Share of the rows predicted as this class that have it; None if no row is predicted so.
    recall : float or None
        Share of the rows of this class that are predicted so; None if there is no such row.
    f1 : float or None
        Harmonic mean of both, 2 tp / (2 tp + fp + fn); None if no row has the class or is predicted
        so.
    n_true, n_predicted : int
        Rows that have the class, and that are predicted so.
    """

    label: Any
    precision: float | None
    recall: float | None
    f1: float | None
    n_true: int
    n_predicted: int


def class_scores(predictions: Predictions) -> tuple[ClassScores, ...]:
    """Compute precision, recall and F1 of every class.

    Returns
    -------
    tuple of ClassScores
        One for each of ``predictions.classes``.

    Examples
    --------
    >>> rows = Predictions(["a", "a", "b"], ["a", "a", "a"], classes=["a", "b", "c"])
    >>> for scores in class_scores(rows):
    ...     print(scores.label, scores.precision, scores.recall, scores.f1)
    a 0.6666666666666666 1.0 0.8
    b None 0.0 0.0
    c None None None
    """
    _check_labels(predictions, "class_scores")
    codes = np.arange(len(predictions.classes))
    precision, recall, f1, n_true = metrics.precision_recall_fscore_support(
        predictions.true_codes, predictions.predicted_codes, labels=codes, zero_division=0
    )
    n_predicted = np.bincount(predictions.predicted_codes, minlength=len(codes))
    return tuple(
        ClassScores(
            predictions.classes[code],
            float(precision[code]) if n_predicted[code] else None,
            float(recall[code]) if n_true[code] else None,
            float(f1[code]) if n_true[code] or n_predicted[code] else None,
            int(n_true[code]),
            int(n_predicted[code]),
        )
        for code in codes
    )


def _check_labels(predictions: Predictions, function: str) -> None:
    if predictions.task != "classification":
        raise ValueError(f"{function} requires predictions of labels, got {predictions.task}.")
