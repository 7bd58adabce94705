"""Nested validation: parameters are chosen inside of each fold, and tested outside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV

from ceiba._typing import Array
from ceiba.experiments.compare import Comparison, compare, task_of
from ceiba.experiments.protocols import GroupFolds, Protocol, parse_protocol
from ceiba.experiments.results.scores import Predictions, default_score, get_score
from ceiba.experiments.running.units import Dataset
from ceiba.experiments.sweep import parameter_grid


def nested(
    learner: Any,
    parameter: str | Sequence[str],
    values: Sequence[Any],
    data: Any,
    *,
    score: str | None = None,
    inner: str = "5-fold",
    seed: int = 0,
    **options: Any,
) -> Comparison:
    """Test a learner whose parameters are chosen on the training rows of each fold.

    The test rows of a fold take no part in the choice, so that the scores are honest estimates of
    the whole procedure; the best score of a `sweep` is not. The choice is by scikit-learn's
    ``GridSearchCV``.

    Parameters
    ----------
    learner : estimator
        Of Ceiba or scikit-learn, or a pipeline.
    parameter : str or list of str
    values : list, or list of lists
        As in `sweep`.
    data : str, mapping or list
        Datasets, as in `compare`.
    score : str, optional
        What the choice is by; by default accuracy, or R² of a regression.
    inner : str
        Protocol that divides the training rows of each fold.
    seed : int
        Seed of both protocols, and of learners whose ``random_state`` is None.
    **options
        ``protocol``, ``journal`` and all others of `compare`.

    Returns
    -------
    Comparison
        Of one learner. ``results.folds[i].result.chosen`` has the chosen values of a fold.

    References
    ----------
    Cawley & Talbot (2010), "On over-fitting in model selection and subsequent selection bias in
    performance evaluation", Journal of Machine Learning Research 11.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier
    >>> from ceiba.experiments import nested
    >>> tree = DecisionTreeClassifier()
    >>> results = nested(tree, "max_depth", [1, 2, 3], "iris", protocol="3-fold")
    >>> [fold.result.chosen for fold in results.folds]
    [{'max_depth': 3}, {'max_depth': 2}, {'max_depth': 3}]
    >>> round(results.mean("accuracy", "iris", "DecisionTreeClassifier"), 2)
    0.95
    """
    grid = parameter_grid(learner, parameter, values)
    task = task_of(learner)
    chosen_by = get_score(score or default_score(task))
    chosen_by.check_direction()
    if chosen_by.task != task:
        raise ValueError(f"score must be a score of {task}, got {chosen_by.name!r}.")
    folds = InnerFolds(parse_protocol(inner, task=task, random_state=seed))
    _check_groups(data, folds.protocol, options)
    # An error of an inner fit fails the fold, with its own message.
    search = GridSearchCV(
        learner, grid, scoring=Scorer(chosen_by.name), cv=folds, error_score="raise"
    )
    return compare({type(learner).__name__: search}, data, seed=seed, **options)


def _check_groups(data: Any, inner: Protocol, options: Mapping[str, Any]) -> None:
    """Raise if rows have groups that the inner folds would divide."""
    entries = data.values() if isinstance(data, Mapping) else data
    for entry in entries if isinstance(entries, Iterable) and not isinstance(data, str) else [data]:
        has_groups = isinstance(entry, tuple) and len(entry) == 3 and entry[2] is not None
        if isinstance(entry, Dataset):
            has_groups = entry.groups is not None
        if has_groups and not isinstance(inner, GroupFolds):
            raise ValueError(
                "inner must have the form 'groups 5' for rows with groups, got "
                f"{inner.to_text()!r}."
            )
        if has_groups and (options.get("calibrate") or options.get("conformal")):
            raise ValueError(
                "calibrate and conformal divide the rows of groups, which inner='groups ...' must "
                "not: leave them out."
            )


@dataclass(frozen=True)
class InnerFolds:
    """A protocol as scikit-learn's searches use it."""

    protocol: Protocol

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Array, Array]]:
        """Return pairs of training and test rows."""
        return ((split.train, split.test) for split in self.protocol.splits(y, groups))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits."""
        return len(self.protocol.splits(y, groups))


@dataclass(frozen=True)
class Scorer:
    """A score as scikit-learn's searches use it: greater is better."""

    score: str

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Score a fitted estimator on rows."""
        score = get_score(self.score)
        assert score.task is not None  # `nested` refuses scores of both tasks
        probabilities, classes = None, None
        if score.task == "classification":
            classes = estimator.classes_
            if score.needs_probabilities:
                probabilities = estimator.predict_proba(X)
        predicted = np.asarray(estimator.predict(X))
        value = score(Predictions(y, predicted, probabilities, classes, task=score.task))
        if value.value is None:
            raise ValueError(f"score {score.name!r} has no value on inner folds: {value.reason}")
        return value.value if score.greater_is_better else -value.value
