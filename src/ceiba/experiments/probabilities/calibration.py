"""Calibrated probabilities: maps from predicted probabilities to frequencies of held-out rows.

A learner that separates the classes well may still predict probabilities that are too extreme
(naive Bayes with dependent columns) or too moderate (forests). A calibration map of each class is
fitted to the probabilities of rows that did not train the model, with their true classes; the model
itself is fitted to all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, clone
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import AtLeast, check_unused
from ceiba.data.target import Target
from ceiba.experiments.probabilities.wrapper import (
    EstimatorWrapper,
    class_probabilities,
    fit_rows,
    read_weights,
)
from ceiba.experiments.results.scores import MIN_PROBABILITY
from ceiba.experiments.running.units import take_rows

SPECS = ("isotonic", "sigmoid", "isotonic oob", "sigmoid oob")


class CalibratedClassifier(ClassifierMixin, EstimatorWrapper):
    """Calibrate the probabilities of a classifier on held-out rows.

    {parameters}

    Attributes
    ----------
    estimator_ : estimator
        The learner, fitted to all rows.
    calibrators_ : list of length n_classes
        The calibration map of each class against all others: an ``IsotonicRegression`` of the
        probability, or a `SigmoidMap` of its log-odds.
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
        Frequencies of the classes, which are predicted for rows whose calibrated values are all 0.
    min_probability_ : float
        Probabilities below it are raised to it before the log-odds are computed: half of the
        smallest positive one of held-out rows.
    n_calibration_rows_ : int
        Number of rows that the maps were fitted to.

    Notes
    -----
    The calibrated values of a row, one per class, are divided by their sum. The predicted class is
    the one with the greatest calibrated probability, and may differ from that of the learner.

    ``sample_weight`` is passed to the learner, and weights the rows of the maps.

    For inner folds and isotonic maps the result is that of scikit-learn's
    ``CalibratedClassifierCV(ensemble=False)`` with the same folds. Sigmoid maps differ for learners
    without ``decision_function``: those of scikit-learn take the probability instead of its
    log-odds, and cannot make probabilities near 0 and 1 much less extreme.

    References
    ----------
    Platt (1999), "Probabilistic outputs for support vector machines and comparisons to regularized
    likelihood methods", Advances in Large Margin Classifiers.
    Zadrozny & Elkan (2002), "Transforming classifier scores into accurate multiclass probability
    estimates", KDD.

    Examples
    --------
    Eight copies of a column make naive Bayes too confident:

    >>> import numpy as np
    >>> from ceiba import NaiveBayesClassifier
    >>> from ceiba.experiments import CalibratedClassifier
    >>> random = np.random.default_rng(0)
    >>> y = np.repeat(["a", "b"], 500)
    >>> X = np.repeat(random.normal(size=(1000, 1)) + (y == "b")[:, None], 8, axis=1)
    >>> bayes = NaiveBayesClassifier(distributions="gaussian")
    >>> bayes.fit(X, y).predict_proba(np.full((1, 8), 1.5)).round(2)
    array([[0., 1.]])
    >>> model = CalibratedClassifier(bayes, method="sigmoid").fit(X, y)
    >>> model.predict_proba(np.full((1, 8), 1.5)).round(2)      # the truth is 0.27 and 0.73
    array([[0.27, 0.73]])
    """

    method: Annotated[
        Literal["isotonic", "sigmoid"],
        "The form of the maps: any increasing step function, for 1000 held-out rows or more, or "
        "Platt's sigmoid of the log-odds, with two parameters per class.",
    ] = "isotonic"
    rows: Annotated[
        Literal["folds", "oob"],
        "Where held-out probabilities come from: stratified inner folds, which fit the learner "
        "``n_folds`` more times, or the out-of-bag rows of a forest or of bagging, which fit it "
        "once.",
    ] = "folds"
    n_folds: Annotated[int, AtLeast(2), "Number of inner folds."] = 5

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the learner to all rows, and the calibration maps to held-out probabilities.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows, in a container that the learner accepts.
        y : array of shape (n_rows,)
            Classes.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row.

        Returns
        -------
        self : estimator
        """
        X, target = self._read(X, y, "classification")
        self._check_probabilities()
        weights = read_weights(sample_weight, len(target.values))
        if self.rows == "oob":
            check_unused(self, ["n_folds"], "rows='oob'")
            model, held_out = self._fit_out_of_bag(X, target, weights)
        else:
            model, held_out = self._fit_folds(X, target, weights)
        # Rows in the samples of all members have no out-of-bag probabilities: NaN in Ceiba and in
        # scikit-learn's bagging, zeros in its forests.
        known = np.isfinite(held_out).all(axis=1) & held_out.any(axis=1)
        if not known.any():
            raise ValueError(
                "rows='oob' requires rows that are out-of-bag for a member, got none: increase "
                "n_estimators, or use rows='folds'."
            )
        row_weights = np.ones(len(held_out)) if weights is None else weights
        minimum = _min_probability(held_out[known])
        inputs = _map_inputs(self.method, held_out[known], minimum)
        calibrators = [
            _fit_map(self.method, column, target.values[known] == code, row_weights[known])
            for code, column in enumerate(inputs.T)
        ]
        self._set_fitted(
            model,
            calibrators_=calibrators,
            classes_=target.classes,
            class_prior_=np.bincount(target.values, row_weights) / row_weights.sum(),
            min_probability_=minimum,
            n_calibration_rows_=int(known.sum()),
        )
        return self

    def predict_proba(self, X: Any) -> Array:
        """Return the calibrated probabilities.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        check_is_fitted(self)
        probabilities = class_probabilities(self.estimator_, X, self.classes_)
        inputs = _map_inputs(self.method, probabilities, self.min_probability_)
        values = np.column_stack(
            [
                calibrator.predict(column)
                for calibrator, column in zip(self.calibrators_, inputs.T, strict=True)
            ]
        )
        totals = values.sum(axis=1, keepdims=True)
        prior = np.tile(self.class_prior_, (len(values), 1))
        return np.asarray(np.divide(values, totals, out=prior, where=totals > 0))

    def predict(self, X: Any) -> Array:
        """Return the class with the greatest calibrated probability.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        # Not the class of the learner: where the maps disagree with it, the held-out rows did, and
        # a label must not contradict the probabilities beside it.
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def _fit_folds(self, X: Any, target: Target, weights: Array | None) -> tuple[Any, Array]:
        """Return the learner fitted to all rows, and each row as predicted by other folds.

        scikit-learn's cross_val_predict would fit class indices instead of labels, for which
        parameters such as ``class_weight={"yes": 2}`` have no meaning.
        """
        assert target.classes is not None
        counts = np.bincount(target.values)
        if counts.min() < 2:
            label = target.classes.tolist()[counts.argmin()]
            raise ValueError(
                f"rows='folds' requires at least 2 rows of every class, got 1 of class {label!r}: "
                "merge or remove the class, or use rows='oob' with a forest or bagging."
            )
        labels, folds = target.labels, stratified_folds(target.values, self.n_folds)
        held_out = np.empty((len(labels), len(target.classes)))
        for fold in np.unique(folds):
            test = np.flatnonzero(folds == fold)
            member = clone(self.estimator)
            fit_rows(member, X, labels, weights, np.flatnonzero(folds != fold))
            held_out[test] = class_probabilities(member, take_rows(X, test), target.classes)
        model = clone(self.estimator)
        return fit_rows(model, X, labels, weights, np.arange(len(labels))), held_out

    def _fit_out_of_bag(self, X: Any, target: Target, weights: Array | None) -> tuple[Any, Array]:
        """Return the learner fitted to all rows, and its out-of-bag probabilities."""
        model = clone(self.estimator)
        params = model.get_params(deep=False)
        # A pipeline is refused as well: its other steps are fitted to the out-of-bag rows.
        if "oob_score" not in params:
            raise ValueError(
                "rows='oob' requires a forest or bagging with out-of-bag predictions, got "
                f"{type(model).__name__}: use rows='folds'."
            )
        if not params["oob_score"]:
            model.set_params(oob_score=True)
        fit_rows(model, X, target.labels, weights, np.arange(len(target.values)))
        return model, np.asarray(model.oob_decision_function_, np.float64)


def stratified_folds(codes: Array, n_folds: int) -> Array:
    """Return the fold of each row: rows of a class are spread over all folds, at random.

    The rows of a class with fewer rows than folds are in different folds, so that the other folds
    have some of them. scikit-learn's StratifiedKFold warns of such a class. The folds of the same
    labels are always the same.

    Examples
    --------
    >>> import numpy as np
    >>> folds = stratified_folds(np.repeat([0, 1], [6, 2]), 3)
    >>> np.bincount(folds[:6]).tolist(), np.bincount(folds[6:]).tolist()
    ([2, 2, 2], [1, 1])
    """
    order = np.lexsort((np.random.default_rng(0).random(len(codes)), codes))
    folds = np.empty(len(codes), np.int64)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def _min_probability(held_out: Array) -> float:
    """Return the value to which the maps of log-odds raise smaller probabilities.

    It is half of the smallest positive one of held-out rows. The log-odds of 0 are infinite, and
    forests predict 0 beside 0.02: with a fixed 1e-16, such rows determine the slope of the sigmoid
    alone, and the calibration error of a forest increases from 0.04 to 0.13 (table vote).
    """
    return max(float(held_out[held_out > 0].min()) / 2, MIN_PROBABILITY)


def _map_inputs(method: str, probabilities: Array, minimum: float) -> Array:
    """Return what the maps take: probabilities, or the log-odds of each class.

    The odds are those against the sum of the other classes, since 1 - p is 0 for p near 1.
    """
    if method == "isotonic":
        return probabilities
    rest = probabilities @ (1 - np.eye(probabilities.shape[1]))
    both = np.log(np.maximum([probabilities, rest], minimum))
    return np.asarray(both[0] - both[1])


@dataclass(frozen=True)
class SigmoidMap:
    """Platt's calibration map: a sigmoid of the log-odds.

    Parameters
    ----------
    slope, intercept : float

    Examples
    --------
    >>> import numpy as np
    >>> SigmoidMap(0.5, 0.0).predict(np.log([1.0, 9.0]))
    array([0.5 , 0.75])
    """

    slope: float
    intercept: float

    @classmethod
    def fit(cls, log_odds: Array, is_class: Array, weights: Array) -> SigmoidMap:
        """Fit the sigmoid by maximum likelihood to Platt's smoothed targets.

        The target of a row of the class is (n + 1) / (n + 2) instead of 1, with the n rows of the
        class, and that of another row 1 / (m + 2) instead of 0: the map is finite even if the
        classes are separable.
        """
        n, m = weights[is_class].sum(), weights[~is_class].sum()
        targets = np.where(is_class, (n + 1) / (n + 2), 1 / (m + 2))
        # A logistic regression of each row twice, as 1 and as 0, weighted by its target. The
        # problem has two parameters and full rank unless all log-odds are equal.
        if np.ptp(log_odds) == 0:
            mean = np.average(targets, weights=weights)
            return cls(0.0, float(np.log(mean / (1 - mean))))
        scale = np.abs(log_odds).max()
        model = LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-10)
        model.fit(
            np.concatenate([log_odds, log_odds])[:, None] / scale,
            np.repeat([1, 0], len(log_odds)),
            np.concatenate([weights * targets, weights * (1 - targets)]),
        )
        return cls(float(model.coef_[0, 0] / scale), float(model.intercept_[0]))

    def predict(self, log_odds: Array) -> Array:
        """Return the calibrated values, between 0 and 1."""
        return np.asarray(expit(self.slope * log_odds + self.intercept))


def _fit_map(method: str, inputs: Array, is_class: Array, weights: Array) -> Any:
    """Fit the calibration map of one class against all others."""
    if method == "sigmoid":
        return SigmoidMap.fit(inputs, is_class, weights)
    return IsotonicRegression(out_of_bounds="clip").fit(inputs, is_class, weights)


def calibrated(estimator: Any, spec: str) -> CalibratedClassifier:
    """Wrap a classifier by a short text, as command lines and experiment files have it.

    Parameters
    ----------
    estimator : classifier
    spec : {"isotonic", "sigmoid", "isotonic oob", "sigmoid oob"}
        The method, and "oob" for out-of-bag rows instead of inner folds.

    Returns
    -------
    CalibratedClassifier

    Examples
    --------
    >>> from ceiba import RandomForestClassifier
    >>> model = calibrated(RandomForestClassifier(), "sigmoid oob")
    >>> model.method, model.rows
    ('sigmoid', 'oob')
    """
    words = spec.lower().split() if isinstance(spec, str) else []
    if " ".join(words) not in SPECS:
        listed = ", ".join(map(repr, SPECS))
        raise ValueError(f"calibrate must be one of {listed}, got {spec!r}.")
    method: Any = words[0]
    return CalibratedClassifier(estimator, method=method, rows="oob" if words[1:] else "folds")
