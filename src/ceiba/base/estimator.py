"""Base class of all learners: scikit-learn's contract and the choice of engine."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ceiba.base.errstate import guard_methods, with_default_errstate
from ceiba.base.parameters import Parameters, validate
from ceiba.base.progress import CallbackMixin
from ceiba.base.value_types import format_value
from ceiba.data.arrays import is_dask_scan
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.data.target import Target, Task, is_multi_output, output_columns
from ceiba.engine import Engine, choose_engine


class Estimator(Parameters, CallbackMixin, BaseEstimator):
    """Base class of all learners.

    A learner declares its hyper-parameters in the class body (`Parameters`). Its ``fit`` opens the
    data, computes the model and sets the fitted attributes::

        engine, source = self._open_source(X, sample_weight, y=y, reset=True)
        ...
        self._set_fitted({**schema_attributes(source.schema), "cluster_centers_": ...})

    Every later method opens its data with ``reset=False``. Attributes are set last, so that a fit
    that fails leaves the model as it was. The docstring of a learner describes how it handles
    missing values and nominal columns; categories that were not seen in training are missing at
    prediction. A supervised learner sets ``_task``: the chunks of its source then have a target,
    which `ceiba.stats.ToLabeledRows` reads.
    """

    # Fitted attributes that do not end in "_" but are stored in a model file.
    _state_names: ClassVar[tuple[str, ...]] = ()

    # Whether nominal columns, text included, are accepted.
    _accepts_nominal: ClassVar[bool] = True

    # Whether missing values are accepted.
    _accepts_missing: ClassVar[bool] = True

    # Whether a sparse matrix is kept as it is, in a `SparseTable`, instead of being made dense.
    _keeps_sparse: ClassVar[bool] = False

    # "classification" or "regression" for a supervised learner, else None.
    _task: ClassVar[Task | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        guard_methods(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.categorical = self._accepts_nominal
        tags.input_tags.string = self._accepts_nominal
        tags.input_tags.sparse = True  # made dense, within a limit, unless kept
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters as they were passed, in the spelling of the user.

        Parameters
        ----------
        deep : bool
            Whether to return those of nested estimators as well.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=deep)
        return {name: vars(self).get(name, value) for name, value in params.items()}

    def _set_fitted(self, attributes: dict[str, Any], without: Iterable[str] = ()) -> None:
        """Replace the fitted attributes atomically, dropping those named in ``without``.

        An interrupted fit then leaves either the old model or the new one.
        """
        dropped = {"feature_names_in_", *without}
        kept = {name: value for name, value in vars(self).items() if name not in dropped}
        self.__dict__ = kept | attributes

    def _open_source(
        self,
        X: Any,
        sample_weight: Any = None,
        *,
        reset: bool,
        y: Any = None,
        task: Task | None = None,
    ) -> tuple[Engine, Source]:
        """Return the engine for ``X``, and ``X`` as a source of partitions.

        With ``reset`` the parameters are validated and the schema is inferred from ``X``;
        otherwise ``X`` must match the schema of ``fit``. A target is required if ``task`` is set.
        By default ``task`` is the learner's own if ``reset`` or ``y`` is given, and None otherwise,
        as at prediction.
        """
        if task is None and (reset or y is not None):
            task = self._task
        if reset:
            validate(self)
        else:
            check_is_fitted(self)
            self._check_columns(X)
        schema = None if reset else self.schema_
        supervised = task is not None
        return choose_engine(
            X, sample_weight, y=y, supervised=supervised, n_jobs=self.n_jobs, schema=schema,
            keep_sparse=self._keeps_sparse,
        )  # fmt: skip

    def _check_columns(self, X: Any) -> None:
        """Raise scikit-learn's errors unless the columns are those of ``fit``."""
        dicts = isinstance(X, list) and bool(X) and isinstance(X[0], dict)
        dask_frame = is_dask_scan(X) or (hasattr(X, "npartitions") and hasattr(X, "columns"))
        if dicts or dask_frame or isinstance(getattr(X, "schema", None), Schema):
            return  # scikit-learn does not see these names: Table.of compares them
        if type(X) is not np.ndarray or self.schema_.named:
            _check_feature_names(self, X, reset=False)
        width = X.shape[1] if getattr(X, "ndim", 0) == 2 else self.n_features_in_
        if width != self.n_features_in_:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )

    def _check_state(self) -> None:
        """Raise ValueError where attributes read from a model file are inconsistent."""
        check_schema_attributes(self)


class ScanScoreMixin:
    """Add scans and Dask collections with a target to scikit-learn's ``score``.

    It must precede scikit-learn's mixin in the list of base classes. A learner implements
    ``_score_on(engine, source)``, which scores rows with a target in one pass.
    """

    @with_default_errstate
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier, or the R² of a regressor.

        With several targets these are the fraction of rows whose classes are all predicted
        right (subset accuracy), and the mean R² of the targets.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``: ``y`` is None if ``X`` is a scan with a target column.

        Returns
        -------
        float
        """
        score: float
        if y is not None and self._has_class_lists():
            score = _subset_accuracy(self, X, y, sample_weight)
        elif y is not None:
            score = super().score(X, y, sample_weight)  # type: ignore[misc]
        else:
            learner: Any = self
            opened = learner._open_source(X, sample_weight, reset=False, task=learner._task)
            score = learner._score_on(*opened)
        return score

    def _has_class_lists(self) -> bool:
        """Return whether this is a fitted classifier of several targets."""
        return hasattr(self, "classes_") and getattr(self, "n_outputs_", 1) > 1


def _subset_accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the weighted fraction of rows whose classes are all predicted right."""
    predicted = model.predict(X)
    columns = output_columns(y) if is_multi_output(y) else [y]
    if len(columns) != model.n_outputs_:
        raise ValueError(
            f"y must have {model.n_outputs_} columns, one for each target, got {len(columns)}."
        )
    right = np.ones(len(predicted), bool)
    for own, column in zip(predicted.T, columns, strict=True):
        right &= own == Target.of(column, len(predicted)).labels
    return float(np.average(right, weights=sample_weight))


def schema_attributes(schema: Schema) -> dict[str, Any]:
    """Return the fitted attributes that describe the columns."""
    attributes = {"schema_": schema, "n_features_in_": len(schema)}
    if schema.named:
        attributes["feature_names_in_"] = np.array(schema.names, dtype=object)
    return attributes


def check_schema_attributes(model: Any) -> None:
    """Raise ValueError if attributes read from a model file contradict ``schema_``."""
    schema = getattr(model, "schema_", None)
    if not isinstance(schema, Schema):
        raise ValueError(f"schema_ must be a Schema, got {format_value(schema)}.")
    if model.n_features_in_ != len(schema):
        raise ValueError(
            f"n_features_in_ must be {len(schema)}, the number of columns of schema_, got "
            f"{format_value(model.n_features_in_)}."
        )
    names = vars(model).get("feature_names_in_")
    expected = list(schema.names) if schema.named else None
    if (None if names is None else np.asarray(names).tolist()) != expected:
        raise ValueError(
            f"feature_names_in_ must be the names of schema_, {format_value(expected)}, got "
            f"{format_value(names)}."
        )


def seed_of(random_state: Any) -> int:
    """Convert scikit-learn's ``random_state`` to a 64-bit seed.

    An int is the seed itself, a generator draws one, and None takes one from the operating system.
    All random numbers of a fit are functions of this seed.

    Examples
    --------
    >>> seed_of(7)
    7
    """
    if random_state is None:
        return secrets.randbits(64)
    if isinstance(random_state, Integral):
        return int(random_state) % 2**64
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    return int(random_state.randint(2**31 - 1))
