"""Base of estimators that wrap a learner: its rows, labels, weights and tags."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import _num_samples, check_is_fitted

from ceiba._typing import Array
from ceiba.base import Explanation, Parameters, parameter, validate
from ceiba.data.target import Target, Task
from ceiba.ensemble.common.parameters import Learner
from ceiba.experiments.running.units import align_columns, take_rows


class EstimatorWrapper(Parameters, MetaEstimatorMixin, BaseEstimator):
    """Base of meta-estimators that fit one learner, and learn something more from held-out rows.

    Rows are passed to the learner in the container of the user: an array, a frame of pandas or
    polars, a Table or a list, with whatever missing values and nominal columns it accepts.
    """

    estimator: Annotated[
        Learner, "The learner, of Ceiba or scikit-learn, or a pipeline. It is cloned."
    ] = parameter(kw_only=False)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the hyper-parameters as they were passed, in the spelling of the user.

        Parameters
        ----------
        deep : bool
            Whether to return those of the learner as well, such as ``estimator__random_state``.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=deep)
        return {name: vars(self).get(name, value) for name, value in params.items()}

    def explain(self, X: Any) -> Explanation:
        """Explain the scores of the learner for one row.

        Contributions add up to the scores of the learner, as its own ``explain`` returns them;
        prediction and probabilities are those of this estimator.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
        """
        check_is_fitted(self)
        model: Any = self.estimator_
        if not hasattr(model, "explain"):
            raise ValueError(
                f"explain requires a learner of Ceiba, got estimator={type(model).__name__}."
            )
        found: Explanation = model.explain(X)
        learner: Any = self
        probabilities = None
        if found.outputs:
            classes = learner.classes_.tolist()
            own = [classes.index(label) for label in found.outputs]
            probabilities = learner.predict_proba(X)[0, own]
        return replace(
            found,
            learner=type(self).__name__,
            prediction=np.asarray(learner.predict(X))[0].item(),
            probabilities=probabilities,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags

    def _read(self, X: Any, y: Any, task: Task) -> tuple[Any, Target]:
        """Check parameters and lengths, and return rows that can be indexed, and the target."""
        validate(self)
        kind, expected = get_tags(self.estimator).estimator_type, _KINDS[task]
        if kind not in (None, expected):
            raise ValueError(
                f"estimator of {type(self).__name__} must be a {expected}, got "
                f"{type(self.estimator).__name__}, a {kind}."
            )
        (X,) = indexable(X)
        n_rows = _num_samples(X)
        target = Target.of(y, n_rows, task=task)
        if n_rows < 2:
            raise ValueError(
                f"{type(self).__name__} requires at least 2 rows, since some are held out, got "
                f"n_samples={n_rows}."
            )
        return X, target

    def _check_probabilities(self) -> None:
        """Raise unless the learner predicts probabilities."""
        if not hasattr(self.estimator, "predict_proba"):
            raise ValueError(
                f"estimator of {type(self).__name__} must have predict_proba, got "
                f"{type(self.estimator).__name__}: choose a learner with probabilities."
            )

    def _set_fitted(self, model: Any, **attributes: Any) -> None:
        """Set the fitted attributes together, so that a fit that fails leaves the old model."""
        columns = {
            name: getattr(model, name)
            for name in ("n_features_in_", "feature_names_in_")
            if hasattr(model, name)
        }
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = kept | columns | attributes | {"estimator_": model}


_KINDS = {"classification": "classifier", "regression": "regressor"}


def fit_rows(model: Any, X: Any, y: Array, weights: Array | None, indices: Array) -> Any:
    """Fit a model to some of the rows, with their weights if there are any."""
    options = {} if weights is None else {"sample_weight": weights[indices]}
    return model.fit(take_rows(X, indices), y[indices], **options)


def read_weights(sample_weight: Any, n_rows: int) -> Array | None:
    """Return the weights of rows as an array, if there are any."""
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape {(n_rows,)}, got {weights.shape}.")
    return weights


def class_probabilities(model: Any, X: Any, classes: Array) -> Array:
    """Return the probabilities of all classes; those that the model does not have are 0."""
    return align_columns(np.asarray(model.predict_proba(X)), model.classes_, classes)
