"""What every learner shares: scikit-learn's contract, and the way from data to an engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from ceiba.base.parameters import declare, validate
from ceiba.base.progress import CallbackMixin
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.engine import Engine, choose_engine


class Estimator(CallbackMixin, BaseEstimator):
    """Base of all learners: declared parameters, a schema learnt in ``fit`` and followed after.

    A learner writes ``fit`` as: open the data, learn, keep the model::

        engine, source = self._open(X, sample_weight, y=y, reset=True)
        ...
        self._become({**schema_attributes(source.schema), "centres_": ...}, without=("trace_",))

    and every later method with ``reset=False``. Attributes are set when all is learnt: a fit that
    fails leaves the model as it was. A learner states what it does with gaps and nominal columns in
    its docstring; levels that training did not see are gaps at prediction. A supervised one says
    its ``_task``: the chunks of its source then carry a target, for `ceiba.stats.ToLabelled`.
    """

    # Fitted attributes that do not end in "_" and belong into a model file all the same.
    _state_names: ClassVar[tuple[str, ...]] = ()

    # Whether nominal columns, text among them, are taken; a learner that refuses them says so.
    _takes_nominal: ClassVar[bool] = True

    # What a supervised learner is to predict; None for the others.
    _task: ClassVar[Task | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        declare(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = self._takes_nominal
        tags.input_tags.string = self._takes_nominal
        return tags

    def _become(self, learnt: dict[str, Any], without: Iterable[str] = ()) -> None:
        """Set what was learnt, in the place of what a fit before left; all in one step.

        So that Ctrl-C finds the model as it was, or as it is to be.
        """
        gone = {"feature_names_in_", *without}
        self.__dict__ = {name: v for name, v in vars(self).items() if name not in gone} | learnt

    def _open(
        self,
        X: Any,
        sample_weight: Any = None,
        *,
        reset: bool,
        y: Any = None,
        task: Task | None = None,
    ) -> tuple[Engine, Source]:
        """The engine that ``X`` calls for, and its rows under the schema.

        With ``reset`` parameters are validated and ``X`` brings its own schema; otherwise it must
        follow the one that ``fit`` learnt. There must be a target if ``task`` says so, which is the
        learner's own with ``reset`` or a ``y``, and None otherwise, as at prediction.
        """
        if task is None and (reset or y is not None):
            task = self._task
        supervised = task is not None
        if reset:
            validate(self)
            return choose_engine(X, sample_weight, y=y, supervised=supervised, n_jobs=self.n_jobs)
        check_is_fitted(self)
        self._check_columns(X)
        return choose_engine(
            X,
            sample_weight,
            y=y,
            supervised=supervised,
            n_jobs=self.n_jobs,
            schema=self.schema_,
        )

    def _check_columns(self, X: Any) -> None:
        """Names and number of columns as in ``fit``, in scikit-learn's words."""
        dicts = isinstance(X, list) and bool(X) and isinstance(X[0], dict)
        dask_frame = hasattr(X, "npartitions") and hasattr(X, "columns")
        if dicts or dask_frame or isinstance(getattr(X, "schema", None), Schema):
            return  # names that scikit-learn does not see: Table.of compares them itself
        if type(X) is not np.ndarray or self.schema_.named:
            _check_feature_names(self, X, reset=False)
        width = X.shape[1] if getattr(X, "ndim", 0) == 2 else self.n_features_in_
        if width != self.n_features_in_:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input."
            )


def schema_attributes(schema: Schema) -> dict[str, Any]:
    """What a fitted estimator says of its columns, in scikit-learn's names and ours."""
    attributes = {"schema_": schema, "n_features_in_": len(schema)}
    if schema.named:
        attributes["feature_names_in_"] = np.array(schema.names, dtype=object)
    return attributes
