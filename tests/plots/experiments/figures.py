"""Comparisons of learners with a known accuracy, without fits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from ceiba.experiments import Dataset, Sweep, compare


class LabelLearner(ClassifierMixin, BaseEstimator):
    """Predict the class in the first column of a row, and with some errors another one."""

    def __init__(self, accuracy=0.9, fails_on=None):
        self.accuracy = accuracy
        self.fails_on = fails_on

    def fit(self, X, y):
        if self.fails_on is not None and X[0, 1] == self.fails_on:
            raise ValueError("no such rows")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return self.classes_[self._probabilities(X).argmax(axis=1)]

    def _probabilities(self, X):
        X = np.asarray(X)
        n, n_classes = len(X), len(self.classes_)
        # The same rows have the same errors, whatever their fold.
        noise = np.array([np.random.default_rng(int(row)).random(2) for row in X[:, 2]])
        wrong = noise[:, 0] > self.accuracy
        codes = (X[:, 0].astype(int) + wrong) % n_classes
        result = np.full((n, n_classes), 0.0)
        top = 0.55 + 0.4 * noise[:, 1] - 0.1 * wrong
        result[:] = ((1 - top) / (n_classes - 1))[:, None]
        result[np.arange(n), codes] = top
        return result


class ProbabilityLearner(LabelLearner):
    """The same with probabilities."""

    def predict_proba(self, X):
        return self._probabilities(X)


LONG_NAMES = (
    "tree", "naive Bayes, TM, ridge 3", "forest", "neighbors, k = 15", "naive Bayes",
    "structural TM, ridge 0.5, BICd", "AdaBoost, 200 stumps", "bagging",
)  # fmt: skip


def dataset(number, n=90, n_classes=2):
    codes = np.arange(n) % n_classes
    X = np.column_stack([codes, np.full(n, number), np.arange(n) + 1000 * number])
    labels = np.array(["no", "yes"] if n_classes == 2 else ["a", "b", "c", "d"])[codes]
    return (X.astype(float), labels)


def comparison(n_learners=3, n_datasets=1, *, n_classes=2, n=90, protocol="3-fold", **given):
    """Compare learners of decreasing accuracy; ``given`` replaces some by name."""
    names = [LONG_NAMES[j % 8] + " again" * (j // 8) for j in range(n_learners)]
    learners = {
        name: ProbabilityLearner(0.95 - 0.35 * j / max(n_learners, 3))
        for j, name in enumerate(names)
    }
    learners |= given
    tables = {f"table {i}": dataset(i, n, n_classes) for i in range(n_datasets)}
    return compare(learners, tables, protocol=protocol, n_jobs=1)


def with_seconds(results, seconds, by="learner"):
    """Replace the seconds of fits, by the name of the learner or dataset."""
    folds = []
    for fold in results.folds:
        time = seconds[getattr(fold.unit, by).name]
        folds.append(replace(fold, result=replace(fold.result, fit_seconds=time)))
    return replace(results, folds=tuple(folds))


def sweep(parameters, settings, n_datasets=1, failing=()):
    """Return a sweep whose first values have the best accuracy."""
    learners = {}
    for j, setting in enumerate(settings):
        accuracy = 0.6 + 0.35 * np.sin(np.pi * (j + 1) / (len(settings) + 1))
        name = ", ".join(f"{p}={v!r}" for p, v in zip(parameters, setting, strict=True))
        learners[name] = ProbabilityLearner(accuracy, 0 if j in failing else None)
    tables = {f"table {i}": dataset(i) for i in range(n_datasets)}
    results = compare(learners, tables, protocol="3-fold", n_jobs=1)
    return Sweep(results, tuple(parameters), tuple(settings))


def regression():
    """Compare two regressors."""
    from sklearn.dummy import DummyRegressor

    X = np.arange(30.0)[:, None]
    table = Dataset("numbers", X, X[:, 0], "regression")
    learners = {"mean": DummyRegressor(), "median": DummyRegressor(strategy="median")}
    return compare(learners, {"numbers": table}, protocol="3-fold", n_jobs=1)


def by_gid(ax, gid):
    return [artist for artist in ax.get_children() if artist.get_gid() == gid]
