"""Explanations of the learners whose scores are weighted sums of trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base.explanation import Explanation, check_one_row, explained_table
from ceiba.data.table import Table
from ceiba.tree.explain.conditions import ConditionEvaluator, branch_condition
from ceiba.tree.explain.shap import ShapValues, TreeSum
from ceiba.tree.model.tree import Tree


class TreeShapMixin:
    """Add ``shap_values`` and ``explain`` to a learner with a `TreeSum`."""

    # What the scores are, in an Explanation.
    _score_name = "prediction"

    def _tree_sum(self) -> TreeSum:
        """Return the sum of trees whose values are the scores."""
        raise NotImplementedError

    def _explained_scores(self, X: Any) -> Array:
        """Predict the scores that the trees add up to: (n_rows, n_outputs)."""
        learner: Any = self
        # Raw scores of gradient boosting; its regressors predict what a link makes of them.
        names = ("_raw_scores", "decision_function", "predict_proba", "predict")
        predict = next(getattr(learner, name) for name in names if hasattr(learner, name))
        scores = np.asarray(predict(X))
        return scores.reshape(len(scores), -1)

    def _path(self, table: Table) -> list[str]:
        """Return the conditions that the only row of a table satisfies; none for ensembles."""
        return []

    def shap_values(self, X: Any, background: Any = None) -> Array:
        """Compute the Shapley value of each column for the score of each row.

        The values of a row and ``expected_value()`` add up to the score of the row: what
        ``decision_function`` returns if the learner has it, otherwise class probabilities or the
        predicted number. With gradient boosting it is the raw score, whose exponential is predicted
        with a logarithmic link.

        Parameters
        ----------
        X : array, frame, Table or list
        background : array, frame, Table or list, optional
            Rows whose values replace those of unknown columns (interventional values). By default
            the expectation over unknown columns follows the training rows in the branches of each
            tree (path-dependent values), whose weights the model has.

            With a background, paths of trees must test at most 64 columns, and memory grows with
            leaves times background rows, by up to 16 bytes each for 64 trees at a time: 64 trees of
            3,200 leaves took 250 MB with 100 rows and 600 MB with 400. A sparse background is made
            dense. Trees with ``missing="fractional"`` then require rows, explained ones and those
            of the background, whose tested values are known, in categories that the node has seen.

        Returns
        -------
        ndarray of shape (n_rows, n_columns) or (n_rows, n_columns, n_classes)
            Without classes if there is one score for each row.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import RandomForestRegressor, datasets
        >>> iris = datasets.load("iris").table
        >>> X, y = iris[iris.schema.names[:3]], iris["petal width (cm)"]
        >>> model = RandomForestRegressor(20).fit(X, y)
        >>> values = model.shap_values(X)
        >>> values.shape
        (150, 3)
        >>> np.allclose(model.expected_value() + values.sum(axis=1), model.predict(X))
        True

        References
        ----------
        Lundberg et al. (2020), "From local explanations to global understanding with explainable
        AI for trees", Nature Machine Intelligence 2.
        """
        check_is_fitted(self)
        trees = self._tree_sum()
        rows, threads = explained_table(self, X, "shap_values")
        values = self._shap(trees, rows, threads, background).values
        return values[:, :, 0] if values.shape[2] == 1 and self._single_score else values

    def expected_value(self, background: Any = None) -> float | Array:
        """Compute the base value of `shap_values`: the score before any column is known.

        Parameters
        ----------
        background : array, frame, Table or list, optional
            As in `shap_values`: the base value is the mean score of its rows. By default it is the
            mean score of the leaves, weighted by their training rows.

        Returns
        -------
        float or ndarray of shape (n_classes,)
            A float if there is one score for each row.

        Examples
        --------
        >>> from ceiba import GradientBoostingClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = GradientBoostingClassifier(5).fit(iris.table, iris.y)
        >>> values = model.shap_values(iris.table)
        >>> scores = model.expected_value() + values.sum(axis=1)
        >>> bool(abs(scores - model.decision_function(iris.table)).max() < 1e-9)
        True
        """
        check_is_fitted(self)
        trees = self._tree_sum()
        if background is None:
            base = trees.expected_scores()
        else:
            rows, _ = explained_table(self, background, "background")
            base = self._explained_scores(rows).mean(axis=0)
        return float(base[0]) if len(base) == 1 and self._single_score else base

    @property
    def _single_score(self) -> bool:
        """Whether one score is returned without an axis of classes."""
        return not hasattr(self, "classes_") or hasattr(self, "decision_function")

    def _shap(self, trees: TreeSum, table: Table, threads: int, background: Any) -> ShapValues:
        if background is None:
            return trees.explain(table, threads=threads)
        others, _ = explained_table(self, background, "background")
        return trees.explain(table, others, threads)

    def explain(self, X: Any, background: Any = None) -> Explanation:
        """Explain the prediction for one row by the values of `shap_values`.

        The explanation of a single tree also has the conditions on the path of the row. If two
        classes have one score, that of the first class is its negative.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.
        background : array, frame, Table or list, optional
            As in `shap_values`.

        Returns
        -------
        Explanation
            Print it; ``to_json()`` has the same keys for all learners.
        """
        check_is_fitted(self)
        trees = self._tree_sum()
        table, threads = explained_table(self, X, "explain")
        check_one_row(table)
        shap = self._shap(trees, table, threads, background)
        learner: Any = self
        classes = learner.classes_.tolist() if hasattr(self, "classes_") else []
        # Not the sum of the contributions: that it adds up to the scores can then be checked.
        scores = self._explained_scores(table)[0]
        probabilities = None
        if classes:
            is_score = self._score_name == "probability"
            probabilities = scores if is_score else learner.predict_proba(table)[0]
        base, contributions = shap.base, shap.values[0]
        if len(classes) == 2 and len(base) == 1:
            base, scores, contributions = map(_of_both_classes, (base, scores, contributions))
        return Explanation.of(
            self,
            table,
            np.asarray(learner.predict(table))[0],
            score=self._score_name,
            outputs=classes,
            scores=scores,
            base=base,
            contributions=contributions,
            probabilities=probabilities,
            path=self._path(table),
        )


def _of_both_classes(score: Array) -> Array:
    """Return the scores of two classes from that of the second."""
    return np.concatenate([-score, score], axis=-1)


def path_conditions(tree: Tree, table: Table) -> list[str]:
    """Return the conditions that the only row of a table satisfies, from the root.

    A missing value, or a category that no branch has, satisfies "... or missing".
    With ``missing="fractional"`` there are none if a tested value is missing: the row reaches
    several leaves.
    """
    evaluator = ConditionEvaluator(table, tree.columns)
    node, texts = int(tree.apply(table)[0]), []
    while (parent := int(tree.parent[node])) >= 0:
        split, branch = tree.split(parent), node - int(tree.child[parent])
        condition = branch_condition(split, branch, tree.schema[split.column], missing=False)
        is_known = bool(evaluator.satisfied(condition)[0])
        if not is_known and tree.missing == "fractional":
            return []
        texts.append(replace(condition, missing=not is_known).to_text())
        node = parent
    return texts[::-1]
