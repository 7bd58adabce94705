"""Explanations of the learners whose scores are weighted sums of trees."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base.explanation import Explanation, row_values
from ceiba.data.table import Table
from ceiba.engine.choose import check_in_memory
from ceiba.tree.explain.conditions import branch_condition
from ceiba.tree.explain.shap import ShapValues, TreeSum
from ceiba.tree.model.tree import Tree

# Conditions of an ensemble that an explanation has.
_MAX_CONDITIONS = 8


class ExplainedTreesMixin:
    """Add ``shap_values`` and ``explain`` to a learner with a `TreeSum`."""

    _score_name = "prediction"

    def _tree_sum(self) -> TreeSum:
        """Return the sum of trees whose values are the scores."""
        raise NotImplementedError

    def _explained_trees(self) -> list[Tree]:
        """Return the trees, for the conditions that a row satisfies."""
        raise NotImplementedError

    def _explained_table(self, X: Any, method: str) -> tuple[Table, int]:
        """Return rows under the schema of the model, and the number of threads."""
        check_in_memory(method, X)
        learner: Any = self
        engine, source = learner._open_source(X, reset=False)
        return source.partitions[0].load().table, engine.threads

    def shap_values(self, X: Any, background: Any = None) -> Array:
        """Compute the Shapley value of each column for the score of each row.

        The values of a row and the base value add up to the score of the row: a class
        probability, or the predicted number.

        Parameters
        ----------
        X : array, frame, Table or list
        background : array, frame, Table or list, optional
            Rows whose values replace those of unknown columns (interventional values). By default
            the expectation over unknown columns follows the training rows in the branches of each
            tree (path-dependent values), whose weights the model has.

        Returns
        -------
        ndarray of shape (n_rows, n_columns), for a classifier (n_rows, n_columns, n_classes)

        References
        ----------
        Lundberg et al. (2020), "From local explanations to global understanding with explainable
        AI for trees", Nature Machine Intelligence 2.
        """
        found = self._shap(*self._explained_table(X, "shap_values"), background)
        return found.values if hasattr(self, "classes_") else found.values[:, :, 0]

    def _shap(self, table: Table, threads: int, background: Any) -> ShapValues:
        trees = self._tree_sum()
        if background is None:
            return trees.explain(table, threads=threads)
        others, _ = self._explained_table(background, "background")
        return trees.explain(table, others, threads)

    def explain(self, X: Any, background: Any = None) -> Explanation:
        """Explain the prediction for one row by its path and the values of `shap_values`.

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
        table, threads = self._explained_table(X, "explain")
        values = row_values(table)
        found = self._shap(table, threads, background)
        learner: Any = self
        is_classifier = hasattr(self, "classes_")
        trees = self._explained_trees()
        return Explanation(
            learner=type(self).__name__,
            prediction=np.asarray(learner.predict(X))[0].item(),
            columns=list(table.schema.names),
            values=values,
            score=self._score_name,
            outputs=learner.classes_.tolist() if is_classifier else [],
            scores=found.base + found.values[0].sum(axis=0),
            base=found.base,
            contributions=found.values[0],
            probabilities=learner.predict_proba(X)[0] if is_classifier else None,
            path=common_conditions(trees, table),
            n_trees=len(trees),
        )


def path_conditions(tree: Tree, table: Table) -> list[str]:
    """Return the conditions that the only row of a table satisfies, from the root."""
    node, texts = int(tree.apply(table)[0]), []
    while (parent := int(tree.parent[node])) >= 0:
        split, branch = tree.split(parent), node - int(tree.child[parent])
        is_missing_branch = branch == split.missing_branch
        column = tree.schema[split.column]
        condition = branch_condition(split, branch, column, is_missing_branch)
        texts.append(condition.to_text(show_missing=False))
        node = parent
    return texts[::-1]


def common_conditions(trees: list[Tree], table: Table) -> list[str]:
    """Return the path of one tree, or the conditions on the largest number of paths."""
    paths = [path_conditions(tree, table) for tree in trees]
    if len(paths) == 1:
        return paths[0]
    counts = Counter(text for path in paths for text in dict.fromkeys(path))
    top = counts.most_common(_MAX_CONDITIONS)
    return [f"{text} ({n} trees)" for text, n in top]
