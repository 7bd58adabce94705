"""Predictions and explanations of fitted network classifiers.

Rows are encoded as category codes, and a `ClassScorer` computes log p(c, x) of each class; the
densities of numeric columns are added to it.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ArrayOf, Estimator, ScanScoreMixin, fitted
from ceiba.base.explanation import Explanation, explained_row
from ceiba.base.log_odds import compare_outputs
from ceiba.base.record import check_values
from ceiba.bayes.coding import check_stored_encoding
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.explain import Evidence, RowTerms, explain_row, probability_table
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.scoring import (
    ClassScorer,
    class_indices,
    class_probabilities,
    log_joint,
    predict_indices,
)
from ceiba.data.source import Source, chunk_table
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.stats import Accuracy, ToLabeledRows


class NetworkPredictor(ScanScoreMixin, ClassifierMixin, Estimator):
    """Predict and explain with a fitted network: encode the rows, and score the classes."""

    _task: ClassVar[Task] = "classification"
    _accepts_missing: ClassVar[bool] = True
    _accepts_nominal: ClassVar[bool] = True

    classes_: Array = fitted()
    class_count_: Array = fitted()
    encoding_: CategoryEncoding = fitted()
    model_: NetworkModel = fitted()

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        indices = self._predict(X, class_indices)
        return np.asarray(self.classes_[indices])

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the class probabilities of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._predict(X, partial(class_probabilities, logarithms=True))

    def predict_proba(self, X: Any) -> Array:
        """Compute the probability of each class for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._predict(X, class_probabilities)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Compute the logarithm of p(class, row) for each row of ``X``, as scikit-learn's.

        After discriminative training the joint distribution is that of the network with these
        class probabilities whose features have the margins of the training rows: the frequencies
        of categories, the mean and variance of normal columns, the mean of Poisson columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self._predict(X, log_joint)

    def probability_table(self, column: str) -> Any:
        """Return the distribution of a column, given its parents, as a pandas data frame.

        Parameters
        ----------
        column : str
            Name of a column of the model.

        Returns
        -------
        DataFrame
            Probability of each category (columns) for each class and each combination of the
            parents' categories (rows); the parameters of each class for a column with a density.
            After discriminative training it is that of the network with the same class
            probabilities (see `predict_joint_log_proba`).

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = NaiveBayesClassifier().fit(iris.table, iris.y)
        >>> model.probability_table(iris.table.schema.names[3]).round(2).shape
        (3, 3)
        """
        check_is_fitted(self)
        return probability_table(self._scorer(), self.schema_, self.classes_, column)

    def evidence(self, X: Any, label: Any = None, against: Any = None) -> Evidence:
        """Compute the contribution of each column to the decision about one row.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.
        label : object, optional
            The class; by default the most probable one.
        against : object, optional
            The class that it is compared with; by default all others together.

        Returns
        -------
        Evidence
            The log-odds contributions, which add up to the log-odds; print it.

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier
        >>> rows = [{"a": "x", "b": "u"}, {"a": "x", "b": "v"}, {"a": "y", "b": "v"}]
        >>> model = NaiveBayesClassifier().fit(rows, ["no", "yes", "yes"])
        >>> model.evidence(rows[:1], "no")
        Evidence for 'no' against 'yes'
        b = u       +0.981
        a = x       +0.288
        prior       -0.405
        log-odds    +0.863
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, chunk_table)
        return explain_row(self._scorer(), rows.table(), self.classes_, label, against)

    def explain(self, X: Any) -> Explanation:
        """Explain the prediction for one row by the contribution of each column.

        A column contributes log p(value | class), given the columns before it in the order of the
        arcs (in the order of the table with ``structure='aode'``), 0 if the value is missing. Of
        two classes, scores are log-odds; of several ones, log probabilities relative to their
        mean, whose softmax the probabilities are. The base has the probabilities of the classes
        alone. `evidence` compares a class with another one, or with all others together.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
            Print it; ``to_json()`` has the same keys for all learners.

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier
        >>> rows = [{"a": "x", "b": "u"}, {"a": "x", "b": "v"}, {"a": "y", "b": "v"}]
        >>> model = NaiveBayesClassifier().fit(rows, ["no", "yes", "yes"])
        >>> print(model.explain(rows[:1]))
        prediction: 'no' ('no' 0.703, 'yes' 0.297)
        contributions to the log-odds of 'no':
          base value        -0.4055
          b = u             +0.9808
          a = x             +0.2877
          log-odds of 'no'  +0.8630
        """
        table = explained_row(self, X)
        row = RowTerms.of(self._scorer(), table)
        score, base, contributions = compare_outputs(row.bias, row.by_column(len(table.schema)))
        return Explanation.of(
            self,
            table,
            self.predict(X)[0],
            score=score,
            outputs=self.classes_.tolist(),
            scores=base + contributions.sum(axis=0),
            base=base,
            contributions=contributions,
            probabilities=self.predict_proba(X)[0],
        )

    def _predict(self, X: Any, function: Any) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, chunk_table)
        return np.asarray(engine.predict(rows, function, self._scorer()))

    def _scorer(self) -> ClassScorer:
        """Return what computes the log scores of tables."""
        return ClassScorer(self.encoding_, self.model_, self.class_count_ > 0)

    def _score_on(self, engine: Engine, source: Source) -> float:
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        predict = partial(predict_indices, self._scorer())
        return engine.reduce(rows, Accuracy.of, self.classes_, predict).score

    def _check_state(self) -> None:
        super()._check_state()
        n = len(self.classes_)
        if len(self.model_.bias) != n:
            raise ValueError(f"model_ must have {n} classes, got {len(self.model_.bias)}.")
        count = self.class_count_
        ArrayOf("float64", n).check("class_count_", count, {})
        check_values("class_count_", count, np.isfinite(count) & (count >= 0), "finite and >= 0")
        if not count.any():
            raise ValueError("class_count_ must be positive for at least one class.")
        check_stored_encoding(self.encoding_, self.schema_, self.model_.sizes)
