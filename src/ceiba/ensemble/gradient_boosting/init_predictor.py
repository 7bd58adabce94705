"""The init predictor of gradient boosting: its fit, and the raw scores that it adds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from ceiba._typing import Array
from ceiba.base import Estimator, fitted
from ceiba.base.value_types import format_value
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.ensemble.gradient_boosting.losses.base import Link
from ceiba.ensemble.gradient_boosting.parameters import BoostingParameters
from ceiba.ensemble.gradient_boosting.training_rows import ScoredRows
from ceiba.stats import LabeledRows


class InitMixin(BoostingParameters, Estimator):
    """The part of gradient boosting that starts from the predictions of another estimator."""

    init_: Any = fitted()
    # The name of the loss of the fit, None for a loss of the user.
    _fitted_loss: str | None

    def _link(self, loss: Any, classes: Array | None) -> Link:
        """Return what turns predictions of these classes into raw scores and back.

        ``loss`` is a value of the parameter: that of the fit, which may have been changed since.
        """
        raise NotImplementedError

    def _fit_init(self, X: Any, labeled: LabeledRows) -> Any:
        """Return the init predictor fitted to the training rows, None without one."""
        if self.init is None or self.init == "zero":
            return None
        if self.warm_start and getattr(self, "init_", None) is not None:
            return self.init_
        init, target = clone(self.init), labeled.target
        rows = select_rows(X, labeled.kept)
        y = target.values if target.classes is None else target.classes[target.values]
        if labeled.weight is None:
            return init.fit(rows, y)
        if not has_fit_parameter(init, "sample_weight"):
            raise ValueError(
                f"init must accept sample_weight, got {type(init).__name__}: leave out "
                "sample_weight and class_weight, or use another estimator."
            )
        return init.fit(rows, y, sample_weight=labeled.weight)

    def _init_predictions(self, init: Any, X: Any, classes: Array | None) -> Array:
        """Return what the init predictor predicts: numbers, or probabilities of the classes."""
        raise NotImplementedError

    def _init_scores(
        self, init: Any, X: Any, link: Link, classes: Array | None,
        row_number: Callable[[int], Any],
    ) -> Array:  # fmt: skip
        """Return the raw scores (n_rows, n_outputs) of the init predictor.

        ``row_number`` returns the number of a row in messages.
        """
        predicted = self._init_predictions(init, X, classes)
        valid, rule = np.isfinite(predicted), "finite numbers"
        if valid.all() and link.link_name == "log":
            valid, rule = predicted > 0, f"positive numbers with loss={self.loss!r}"
        if not valid.all():
            wrong = np.argwhere(~valid)[0]
            raise ValueError(
                f"init must predict {rule}, got {predicted[tuple(wrong)]:g} in row "
                f"{row_number(int(wrong[0]))}."
            )
        return link.link(predicted)

    def _with_init_scores(
        self, labeled: LabeledRows, X: Any, attributes: dict[str, Any]
    ) -> ScoredRows:
        """Return labeled rows of X with their scores by the init predictor."""
        init = attributes["init_"]
        if init is None:
            return ScoredRows(labeled, None)
        rows = select_rows(X, labeled.kept)
        classes = attributes.get("classes_")
        link = self._link(self.loss, classes)
        scores = self._init_scores(init, rows, link, classes, labeled.row_number)
        return ScoredRows(labeled, scores)

    def _add_init_scores(
        self, raw: Array, X: Any, row_number: Callable[[int], Any] = int
    ) -> Array:  # fmt: skip
        """Return raw scores of rows plus those of the init predictor, if there is one."""
        if getattr(self, "init_", None) is None:
            return raw
        classes = getattr(self, "classes_", None)
        return raw + self._init_scores(self.init_, X, self._fitted_link(), classes, row_number)

    def _check_state(self) -> None:
        super()._check_state()
        init = getattr(self, "init_", None)
        if init is not None and not hasattr(init, "predict"):
            raise ValueError(f"init_ must be None or an estimator, got {format_value(init)}.")

    def _fitted_link(self) -> Link:
        """Return the link of the loss that the trees were fitted with."""
        loss = getattr(self, "_fitted_loss", None)  # older model files lack it
        return self._link(self.loss if loss is None else loss, getattr(self, "classes_", None))


def select_rows(X: Any, kept: Array | None) -> Any:
    """Select rows of data as the user passed them, all for None."""
    if kept is None:
        return X
    if isinstance(X, Table):
        return X.take(kept)
    return _safe_indexing(X.tocsr() if issparse(X) else X, kept)


def init_input(table: Table, init: Any) -> Any:
    """Convert rows of a partition to what an init predictor takes.

    Learners of Ceiba take tables, others frames, or arrays if they were fitted to one.
    """
    if isinstance(init, Estimator):
        return table
    is_numeric = all(column.kind is Kind.NUMERIC for column in table.schema)
    if is_numeric and not hasattr(init, "feature_names_in_"):
        return np.asarray(table)
    return table.to_pandas()
