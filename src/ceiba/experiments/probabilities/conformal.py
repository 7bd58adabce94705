"""Split-conformal prediction: sets of classes and intervals that contain the truth at a given rate.

A part of the training rows, the calibration rows, is kept from the learner. Their nonconformity
scores measure how poorly the fitted model predicts a true value, and the region of a new row is all
values whose score is at most the k-th smallest of the n calibration scores, k = ceil((n + 1) times
the confidence level). If the calibration rows and the new row are exchangeable, such as rows of one
population in random order, the region contains the truth with at least that probability, for any
learner and any distribution. The probability is over calibration rows and new rows together: given
the calibration rows, the coverage varies, with a Beta(k, n + 1 - k) distribution for scores without
ties.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.model_selection import train_test_split
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import AtLeast, Between
from ceiba.data.target import Target, Task
from ceiba.data.warn import warn_user
from ceiba.experiments.probabilities.wrapper import (
    EstimatorWrapper,
    class_probabilities,
    fit_rows,
    read_weights,
)
from ceiba.experiments.running.units import take_rows

# (n + 1) times a confidence level such as 0.07 may exceed a whole number by its rounding error.
_ROUNDING = 1e-9
# Sums of probabilities that are equal differ by rounding: in calibration and prediction alike they
# are rounded to this number of decimals.
_DECIMALS = 9


class CalibrationRowsWarning(UserWarning):
    """There are too few calibration rows for the confidence level."""


def calibration_rank(n_rows: int, confidence_level: float) -> int:
    """Return which of the calibration scores, in ascending order and from 1, is the threshold.

    It is ceil((n + 1) times the confidence level). Greater than ``n_rows`` means that there are too
    few rows: no finite threshold has the coverage.

    Examples
    --------
    >>> calibration_rank(99, 0.9), calibration_rank(9, 0.9), calibration_rank(8, 0.9)
    (90, 9, 9)
    """
    return math.ceil((n_rows + 1) * confidence_level - _ROUNDING)


class _SplitConformal(EstimatorWrapper):
    """Base of split-conformal predictors: the split of the rows, and the threshold of the scores.

    The split is not stratified: strata would make the calibration rows more regular than new rows.
    """

    confidence_level: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Probability with which a region contains the truth, at least.",
    ] = 0.9
    calibration_size: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Share of the rows that calibrate instead of training the learner.",
    ] = 0.25
    random_state: Annotated[
        int, AtLeast(0), "Seed of the split into training and calibration rows."
    ] = 0

    def _fit(self, X: Any, target: Target, sample_weight: Any) -> tuple[Any, Array]:
        """Return the learner fitted to the training rows, and the numbers of the calibration rows.

        Weights are those of the fit; calibration rows count the same, as exchangeable rows do.
        """
        n = len(target.values)
        weights = read_weights(sample_weight, n)
        n_calibration = min(max(1, round(n * self.calibration_size)), n - 1)
        training, calibration = train_test_split(
            np.arange(n), test_size=n_calibration, random_state=self.random_state
        )
        model = clone(self.estimator)
        fit_rows(model, X, target.labels, weights, np.sort(training))
        return model, np.sort(calibration)

    def _threshold(self, scores: Array) -> float:
        """Return the threshold of the scores; infinite if there are too few of them."""
        rank = calibration_rank(len(scores), self.confidence_level)
        if rank <= len(scores):
            return float(np.partition(scores, rank - 1)[rank - 1])
        needed = math.ceil(self.confidence_level / (1 - self.confidence_level) - _ROUNDING)
        warn_user(
            f"confidence_level={self.confidence_level} requires at least {needed} calibration rows,"
            f" got {len(scores)}: every region contains all values. Add rows, increase "
            "calibration_size, or decrease confidence_level.",
            CalibrationRowsWarning,
        )
        return math.inf


class ConformalClassifier(ClassifierMixin, _SplitConformal):
    """Predict sets of classes that contain the true one at a given rate.

    {parameters}

    Attributes
    ----------
    estimator_ : estimator
        The learner, fitted to the training rows without the calibration rows.
    classes_ : ndarray of shape (n_classes,)
        Classes of all rows. One that only calibration rows have is predicted with probability 0.
    threshold_ : float
        Largest nonconformity score of the classes in a set; infinite if there are too few
        calibration rows, so that all classes are in every set.
    n_calibration_rows_ : int

    Notes
    -----
    ``method="threshold"`` (Sadinle et al.) has the smallest sets on average. A set may be empty:
    no class is plausible, as for a row unlike those of training, or for a learner whose accuracy is
    above the confidence level. The coverage is the one of all rows, and may differ by class.

    ``method="adaptive"`` (Romano et al.) adds the classes in descending order of probability, up to
    a threshold of their sum: sets are larger where the learner is unsure, never empty, and their
    coverage is closer to the confidence level in each part of the space. It is the version without
    randomization: equal rows have equal sets, classes of equal probability are in a set together,
    and the coverage is above the confidence level where that is below the accuracy.

    ``predict`` and ``predict_proba`` are those of ``estimator_``.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), "Algorithmic learning in a random world".
    Sadinle, Lei & Wasserman (2019), Journal of the American Statistical Association 114, pages
    223-234.
    Romano, Sesia & Candès (2020), "Classification with valid and adaptive coverage", NeurIPS.

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets
    >>> from ceiba.experiments import ConformalClassifier
    >>> X, y = datasets.load("iris")
    >>> model = ConformalClassifier(NaiveBayesClassifier(), confidence_level=0.95).fit(X, y)
    >>> model.predict_set(X[:2])
    array([[ True, False, False],
           [ True, False, False]])
    """

    method: Annotated[
        Literal["threshold", "adaptive"],
        "The nonconformity score of a class: minus its probability, or the sum of the "
        "probabilities of all classes that are more probable.",
    ] = "threshold"

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner to the training rows, and the threshold to the calibration rows.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows, in a container that the learner accepts.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Weights for the fit of the learner. Calibration rows all count the same.

        Returns
        -------
        self : estimator
        """
        X, target = self._read(X, y, "classification")
        self._check_probabilities()
        assert target.classes is not None
        model, rows = self._fit(X, target, sample_weight)
        probabilities = class_probabilities(model, take_rows(X, rows), target.classes)
        scores = _class_scores(self.method, probabilities)
        self._set_fitted(
            model,
            classes_=target.classes,
            threshold_=self._threshold(scores[np.arange(len(rows)), target.values[rows]]),
            n_calibration_rows_=len(rows),
        )
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the probabilities of the learner.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        return class_probabilities(self.estimator_, X, self.classes_)

    def predict(self, X: Any) -> Array:
        """Return the prediction of the learner.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    def predict_set(self, X: Any) -> Array:
        """Return whether each class is in the prediction set of a row.

        Returns
        -------
        ndarray of bool and shape (n_rows, n_classes)
        """
        return np.asarray(_class_scores(self.method, self.predict_proba(X)) <= self.threshold_)


def _class_scores(method: str, probabilities: Array) -> Array:
    """Return the nonconformity score of every class for each row."""
    if method == "threshold":
        return -probabilities
    columns = [
        np.where(probabilities > probabilities[:, [code]], probabilities, 0.0).sum(axis=1)
        for code in range(probabilities.shape[1])
    ]
    return np.round(np.column_stack(columns), _DECIMALS)


class ConformalRegressor(RegressorMixin, _SplitConformal):
    """Predict intervals that contain the true number at a given rate.

    The nonconformity score is the absolute error, so that all intervals have the same width.

    {parameters}

    Attributes
    ----------
    estimator_ : estimator
        The learner, fitted to the training rows without the calibration rows.
    threshold_ : float
        Half of the width of the intervals; infinite if there are too few calibration rows.
    n_calibration_rows_ : int

    Notes
    -----
    ``predict`` is that of ``estimator_``.

    References
    ----------
    Vovk, Gammerman & Shafer (2005), "Algorithmic learning in a random world".
    Lei, G'Sell, Rinaldo, Tibshirani & Wasserman (2018), "Distribution-free predictive inference for
    regression", Journal of the American Statistical Association 113.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor
    >>> from ceiba.experiments import ConformalRegressor
    >>> random = np.random.default_rng(0)
    >>> X = random.uniform(0, 10, (1000, 1))
    >>> y = X[:, 0] + random.uniform(-1, 1, 1000)
    >>> model = ConformalRegressor(DecisionTreeRegressor(max_depth=6)).fit(X[:800], y[:800])
    >>> low, high = model.predict_interval(X[800:]).T
    >>> float(np.mean((low <= y[800:]) & (y[800:] <= high)))
    0.895
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner to the training rows, and the threshold to the calibration rows.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows, in a container that the learner accepts.
        y : array of shape (n_rows,)
            Numbers.
        sample_weight : array of shape (n_rows,), optional
            Weights for the fit of the learner. Calibration rows all count the same.

        Returns
        -------
        self : estimator
        """
        X, target = self._read(X, y, "regression")
        model, rows = self._fit(X, target, sample_weight)
        errors = np.abs(target.values[rows] - model.predict(take_rows(X, rows)))
        self._set_fitted(model, threshold_=self._threshold(errors), n_calibration_rows_=len(rows))
        return self

    def predict(self, X: Any) -> Array:
        """Return the prediction of the learner.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict(X))

    def predict_interval(self, X: Any) -> Array:
        """Return the ends of the prediction interval of each row.

        Returns
        -------
        ndarray of float64 and shape (n_rows, 2)
        """
        center = np.asarray(self.predict(X), np.float64)
        # A row whose error is the threshold, as in a leaf with whole numbers, must not be outside
        # by rounding.
        rounding = 4 * np.finfo(np.float64).eps * (np.abs(center) + self.threshold_)
        half = self.threshold_ + rounding
        return np.column_stack([center - half, center + half])


def conformal(
    estimator: Any, confidence_level: float, task: Task
) -> ConformalClassifier | ConformalRegressor:
    """Wrap a learner by the conformal predictor of its task.

    Parameters
    ----------
    estimator : classifier or regressor
    confidence_level : float
        In (0, 1).
    task : {"classification", "regression"}

    Examples
    --------
    >>> from ceiba import DecisionTreeRegressor
    >>> type(conformal(DecisionTreeRegressor(), 0.9, "regression")).__name__
    'ConformalRegressor'
    """
    is_number = isinstance(confidence_level, float | np.floating)
    if not is_number or not 0 < confidence_level < 1:
        raise ValueError(f"conformal must be a float in (0, 1), got {confidence_level!r}.")
    if task == "classification":
        return ConformalClassifier(estimator, confidence_level=confidence_level)
    if task == "regression":
        return ConformalRegressor(estimator, confidence_level=confidence_level)
    raise ValueError(f"task must be 'classification' or 'regression', got {task!r}.")
