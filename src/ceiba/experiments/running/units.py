"""The units of an experiment: one learner on one fold of one dataset.

A unit is fitted on copies of the training rows alone, so that whatever is learned from data
(categories, thresholds, scaling, pruning, the number of neighbors) is learned inside the fold. Its
key is a hash of everything that the result depends on: rows and target, class and parameters of the
learner, the fold, the seed, and the versions of the libraries.
"""

from __future__ import annotations

import hashlib
import sys
import threading
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import _safe_indexing

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import Target, Task
from ceiba.experiments.results.scores import Predictions
from ceiba.experiments.running.journal import UnitResult

# Version of what a unit computes: another one computes all units again.
_UNIT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with a target, under a name.

    Parameters
    ----------
    name : str
    X : array, frame, Table or list
        Rows in memory, as learners get them.
    y : array of shape (n_rows,)
    task : {"classification", "regression"}
    groups : array of shape (n_rows,), optional
        Rows of a group are never both in training and test, in protocols of groups.
    bundled : bool
        Whether ``ceiba.datasets.load(name)`` returns these rows.

    Examples
    --------
    >>> data = Dataset("small", [[0.0], [1.0], [2.0]], ["a", "b", "a"], "classification")
    >>> data.classes.tolist(), len(data)
    (['a', 'b'], 3)
    """

    name: str
    X: Any
    y: Any
    task: Task
    groups: Any = None
    bundled: bool = False

    @cached_property
    def target(self) -> Target:
        """The target as class indices or numbers."""
        return Target.of(self.y, len(self._table), task=self.task)

    @cached_property
    def labels(self) -> Array:
        """The target as learners get it."""
        return self.target.labels

    @property
    def classes(self) -> Array | None:
        """Sorted classes; None for a regression."""
        return self.target.classes

    @cached_property
    def key(self) -> str:
        """Hash of rows and target, the same for equal values in any container."""
        parts: list[Any] = [self.task, self.labels]
        if self.groups is not None:
            parts.append(np.asarray(self.groups))
        for j, column in enumerate(self._table.schema):
            missing = self._table.missing_mask(j)
            # The hash of an array depends on its layout.
            values = np.ascontiguousarray(self._table.column(j))
            parts += [column.name, str(column.kind), column.categories, values]
            parts.append(None if missing is None else np.flatnonzero(missing))
        return content_hash(*parts)

    @cached_property
    def _table(self) -> Table:
        return Table.of(self.X, warn=False)

    @property
    def n_columns(self) -> int:
        """Number of columns, without the target."""
        return len(self._table.schema)

    def __len__(self) -> int:
        return len(self._table)

    def rows(self, indices: Array) -> Any:
        """Return some rows, in the container that the user passed."""
        return take_rows(self.X, indices)


def take_rows(X: Any, indices: Array) -> Any:
    """Return some rows of an array, frame, Table or list, in the same container.

    Examples
    --------
    >>> take_rows([[0.0], [1.0], [2.0]], np.array([2, 0]))
    [[2.0], [0.0]]
    """
    return X.take(indices) if isinstance(X, Table) else _safe_indexing(X, indices)


def content_hash(*parts: Any) -> str:
    """Return a hash of values: arrays, numbers, text, estimators.

    Examples
    --------
    >>> import numpy as np
    >>> content_hash(np.arange(3), "a") == content_hash(np.array([0, 1, 2]), "a")
    True
    """
    return str(joblib.hash(parts, hash_name="sha1"))


@dataclass(frozen=True, eq=False)
class Learner:
    """An estimator under a name.

    Parameters
    ----------
    name : str
    estimator : estimator of Ceiba or scikit-learn, or a pipeline
        It is cloned for every unit.
    given_key : str, optional
        In place of the hash, for estimators that cannot be hashed and are not kept in a journal.
    """

    name: str
    estimator: Any
    given_key: str | None = None

    @cached_property
    def libraries(self) -> set[str]:
        """Top-level modules of the estimator and of all estimators inside of it."""
        parts = [self.estimator, *self.estimator.get_params(deep=True).values()]
        return {
            type(part).__module__.partition(".")[0]
            for part in parts
            if hasattr(part, "get_params") and not isinstance(part, type)
        }

    @cached_property
    def key(self) -> str:
        """Hash of class, parameters and versions."""
        if self.given_key is not None:
            return self.given_key
        cls = type(self.estimator)
        versions = {name: _version(name) for name in sorted(self.libraries | {"numpy", "sklearn"})}
        try:
            return content_hash(cls.__module__, cls.__qualname__, versions, clone(self.estimator))
        except Exception as error:
            raise ValueError(
                f"Learner {self.name!r} cannot be kept in a journal, since its parameters cannot "
                f"be hashed ({str(error).splitlines()[0][:100]}): replace lambda functions by "
                "functions of a module, or leave out the journal."
            ) from error


def _version(library: str) -> str:
    return str(getattr(sys.modules.get(library), "__version__", ""))


@dataclass(frozen=True, eq=False)
class Unit:
    """One learner on one fold.

    Parameters
    ----------
    dataset : Dataset
    learner : Learner
    repeat, fold : int
    train, test : ndarray of int64
        Numbers of the rows.
    seed : int
        Seed of the experiment.
    """

    dataset: Dataset
    learner: Learner
    repeat: int
    fold: int
    train: Array
    test: Array
    seed: int

    @cached_property
    def key(self) -> str:
        """Hash of everything that the result depends on."""
        return content_hash(
            _UNIT_VERSION, self.dataset.key, self.learner.key, self.train, self.test, self.seed,
            self.repeat, self.fold,
        )  # fmt: skip

    def run(self) -> UnitResult:
        """Fit the learner on the training rows, and predict the test rows.

        Errors and warnings of the learner are part of the result.
        """
        start = perf_counter()
        with RecordedWarnings() as recorded:
            try:
                result = self._fit_and_predict()
            except (Exception, SystemExit) as error:
                message = f"{type(error).__name__}: {error}"
                seconds = perf_counter() - start
                result = UnitResult(self.test, None, None, seconds, 0.0, error=message)
        return replace(result, warnings=tuple(recorded.messages))

    def _fit_and_predict(self) -> UnitResult:
        data, start = self.dataset, perf_counter()
        model = set_seeds(clone(self.learner.estimator), self._seed())
        fit_options = {}
        if data.groups is not None and isinstance(model, BaseSearchCV):
            fit_options["groups"] = np.asarray(data.groups)[self.train]  # for inner folds
        model.fit(data.rows(self.train), data.labels[self.train], **fit_options)
        fitted = perf_counter()
        rows = data.rows(self.test)
        predictions = _encoded(np.asarray(model.predict(rows)), data.classes)
        probabilities = None
        if data.classes is not None and hasattr(model, "predict_proba"):
            probabilities = align_columns(
                np.asarray(model.predict_proba(rows)), model.classes_, data.classes
            )
        regions = _regions(model, rows, data.classes)
        end = perf_counter()
        result = UnitResult(
            self.test,
            predictions,
            probabilities,
            fitted - start,
            end - fitted,
            chosen=_chosen(model),
            regions=regions,
        )
        self.predictions(result)  # wrong shapes and numbers fail the unit
        return result

    def predictions(self, result: UnitResult) -> Predictions | None:
        """Return the predictions of a result with their true values; None if it failed."""
        data = self.dataset
        if result.predictions is None:
            return None
        truth = data.labels[result.test]
        if data.classes is None:
            return Predictions(truth, result.predictions, task="regression", regions=result.regions)
        return Predictions(
            truth,
            data.classes[result.predictions],
            result.probabilities,
            data.classes,
            regions=result.regions,
        )

    def _seed(self) -> int:
        """Return the seed of the learner: that of the experiment, repeat and fold."""
        text = f"{self.seed} {self.repeat} {self.fold}".encode()
        return int.from_bytes(hashlib.sha256(text).digest()[:4], "little") % (2**31)


class RecordedWarnings:
    """Record the warnings of a block of this thread, in place of showing them.

    ``warnings.catch_warnings`` would record those of all threads, in any of them. Warnings that
    Python shows once are recorded every time, since another unit may have been the first.
    """

    _lock = threading.Lock()
    _local = threading.local()
    _n_open = 0
    _filters: Any = None
    _show_others: Any = None

    def __enter__(self) -> RecordedWarnings:
        cls = RecordedWarnings
        with cls._lock:
            if cls._n_open == 0:
                cls._filters = warnings.catch_warnings()
                cls._filters.__enter__()
                warnings.simplefilter("always", append=True)
                cls._show_others, warnings.showwarning = warnings.showwarning, cls._show
            cls._n_open += 1
        self.messages: list[str] = []
        self._outer = getattr(cls._local, "messages", None)
        cls._local.messages = self.messages
        return self

    def __exit__(self, *exception: object) -> None:
        cls = RecordedWarnings
        cls._local.messages = self._outer
        with cls._lock:
            cls._n_open -= 1
            if cls._n_open == 0:
                cls._filters.__exit__(*exception)

    @classmethod
    def _show(cls, message: Any, category: Any, *location: Any, **options: Any) -> None:
        messages = getattr(cls._local, "messages", None)
        if messages is None:
            cls._show_others(message, category, *location, **options)
        elif (text := f"{category.__name__}: {message}") not in messages:
            messages.append(text)


def set_seeds(estimator: Any, seed: int) -> Any:
    """Set every random_state that is None, so that a unit gives the same result again."""
    params = estimator.get_params(deep=True)
    names = [name for name in params if name.rpartition("__")[2] == "random_state"]
    return estimator.set_params(**{name: seed for name in names if params[name] is None})


def _chosen(model: Any) -> dict[str, Any] | None:
    """Return the parameters that a search inside of the model chose, as values of JSON."""
    search = model
    while not hasattr(search, "best_params_"):  # calibration and conformal regions wrap it
        search = getattr(search, "estimator_", None)
        if search is None:
            return None
    chosen = {}
    for name, value in search.best_params_.items():
        plain = value.item() if isinstance(value, np.generic) else value
        is_json = plain is None or isinstance(plain, bool | int | float | str)
        chosen[name] = plain if is_json else repr(plain)
    return chosen


def _encoded(predictions: Array, classes: Array | None) -> Array:
    """Return predicted class indices, or numbers; raise for labels that no row has."""
    if predictions.ndim != 1:
        raise ValueError(f"predict must return an array of shape (n,), got {predictions.shape}.")
    if classes is None:
        return predictions.astype(np.float64)
    index = {label: k for k, label in enumerate(classes.tolist())}
    unknown = [label for label in predictions.tolist() if label not in index]
    if unknown:
        raise ValueError(f"predict returned {unknown[0]!r}, which is not a class of y.")
    return np.array([index[label] for label in predictions.tolist()], np.int32)


def align_columns(values: Array, own: Array, classes: Array) -> Array:
    """Return a column for each class; classes that the training rows lack have 0 or False.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_own)
        Probabilities, or whether a set has the class.
    own : ndarray of shape (n_own,)
        Classes of the columns, those of the model.
    classes : ndarray of shape (n_classes,)
        All classes.

    Examples
    --------
    >>> align_columns(np.array([[0.25, 0.75]]), ["a", "c"], np.array(["a", "b", "c"]))
    array([[0.25, 0.  , 0.75]])
    """
    if values.ndim != 2 or values.shape[1] != len(own):
        raise ValueError(
            f"predict_proba must return a column for each of {len(own)} classes, got shape "
            f"{values.shape}."
        )
    aligned = np.zeros((len(values), len(classes)), values.dtype)
    aligned[:, _encoded(np.asarray(own), classes)] = values
    return aligned


def _regions(model: Any, rows: Any, classes: Array | None) -> Array | None:
    """Return the prediction sets or intervals of a model that has a confidence level.

    Other models may have such a method as well, with options of its own: the intervals of a forest
    require out-of-bag errors.
    """
    method = "predict_interval" if classes is None else "predict_set"
    if not (hasattr(model, "confidence_level") and hasattr(model, method)):
        return None
    found = getattr(model, method)(rows)
    if classes is None:
        return np.asarray(found, np.float64)
    return align_columns(np.asarray(found, bool), model.classes_, classes)
