"""Losses of a fitted tree: on the training rows, on others, and by cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.cross_validation import PartitionedModel, read_folds
from ceiba.compat.matlab.inputs import Response, read_data
from ceiba.compat.matlab.name_value import NameValue, check_nargout
from ceiba.data.table import Table

_SUBTREE_OPTIONS = ("Subtrees", "TreeSize")
_LOSSES = {True: ("mincost", "classiferror"), False: ("mse",)}


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """The training rows of a tree: predictors, response, and how to grow a tree from some."""

    columns: Table
    response: Response
    grow_from: Callable[[Training, Array], Any]

    def grow(self, rows: Array) -> Any:
        """Grow a tree from some of the rows, with the same options."""
        return self.grow_from(self, rows)


class TreeLosses:
    """Methods that compute losses of a fitted tree under MATLAB's names.

    With ``nargout`` up to 4 they return, for each level of ``Subtrees``, the loss, its standard
    error and the number of leaves, and the best level: by ``TreeSize="se"`` the smallest tree whose
    loss is within one standard error of the minimum, by ``"min"`` the smallest of minimum loss.
    """

    path: Any
    training: Training | None

    def resubLoss(self, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Return the loss on the training rows.

        Parameters
        ----------
        *pairs, **named
            ``LossFun``: "mincost" (the cost of the predicted class; by default 1 for an error) or
            "classiferror"; of regression trees "mse". ``Subtrees``: pruning steps, or "all"; by
            default 0, the whole tree. ``TreeSize``: "se" or "min".
        nargout : int
        """
        options = NameValue.read("resubLoss", ("LossFun", *_SUBTREE_OPTIONS), pairs, named, {})
        response = self._training_rows.response
        return self._losses(self._training_rows.columns, response, options, nargout)

    def loss(self, X: Any, Y: Any, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Return the loss on other rows.

        Parameters
        ----------
        X : array, frame or Table
            Rows with the columns of training.
        Y : array, or str
            Their response, or the name of the column of ``X`` that holds it.
        *pairs, **named
            As in `resubLoss`, and ``Weights`` of the rows. In each class they are scaled to its
            ``Prior``, as in MATLAB.
        nargout : int
        """
        known = ("LossFun", "Weights", *_SUBTREE_OPTIONS)
        options = NameValue.read("loss", known, pairs, named, {})
        table, Y, _ = read_data(X, Y)
        response = Response.of(Y, options, len(table), hasattr(self, "ClassNames"))
        return self._losses(table.take(response.rows), response, options, nargout)

    def cvLoss(self, *pairs: Any, nargout: int = 1, **named: Any) -> Any:
        """Return the loss by cross-validation: of every row by a tree grown without it.

        The subtrees of the folds are those for the geometric mean of the alphas at which a level
        begins and ends (Breiman et al. 1984, section 11.4).

        Parameters
        ----------
        *pairs, **named
            ``KFold``: number of folds, by default 10. ``Subtrees`` and ``TreeSize`` as in
            `resubLoss`. ``random_state``: seed of the folds, by default 0.
        nargout : int
        """
        known = ("KFold", "random_state", *_SUBTREE_OPTIONS)
        options = NameValue.read("cvLoss", known, pairs, named, {})
        steps = self._steps(options)
        alphas = self.path.alphas
        # The root alone has no end of its range.
        means = np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)
        rows = self._training_rows.response
        losses = np.empty((len(steps), len(rows.values)))
        for held_out in read_folds(options, rows):
            tree = self._training_rows.grow(np.setdiff1d(np.arange(len(rows.values)), held_out))
            columns, labels = self._training_rows.columns.take(held_out), rows.labels[held_out]
            for i, step in enumerate(steps):
                # At the last step all leaves are pruned.
                at = tree.path.step_at(means[step]) if np.isfinite(means[step]) else -1
                at = range(tree.path.n_steps)[at] if step else 0
                pruned = tree.collapse(tree.path.pruned_nodes(at))
                losses[i, held_out] = self._row_losses(pruned.predict(columns), labels)
        return self._summary(losses, self._loss_weights(rows), steps, options, nargout)

    cvloss = cvLoss

    def crossval(self, *pairs: Any, **named: Any) -> PartitionedModel:
        """Grow a tree for each fold of a cross-validation.

        Parameters
        ----------
        *pairs, **named
            One of ``KFold`` (by default 10), ``Holdout`` (a fraction) and ``Leaveout`` ("on");
            ``random_state``: seed of the folds, by default 0.

        Returns
        -------
        PartitionedModel
            With ``kfoldLoss()``, ``kfoldPredict()`` and ``Trained``.
        """
        known = ("KFold", "Holdout", "Leaveout", "random_state")
        options = NameValue.read("crossval", known, pairs, named, {})
        folds = read_folds(options, self._training_rows.response)
        return PartitionedModel.of(self, folds)

    @property
    def _training_rows(self) -> Training:
        if self.training is None:
            raise ValueError(
                "the tree must have its training rows, but trees of a bag do not: use the methods "
                "of the bag, or loss(X, Y)."
            )
        return self.training

    def _steps(self, options: NameValue) -> list[int]:
        """Return the listed pruning steps."""
        given, last = options.of("Subtrees", 0), self.path.n_steps - 1
        if isinstance(given, str) and given.lower() == "all":
            return list(range(last + 1))
        steps = np.atleast_1d(np.asarray(given)).tolist()
        if not steps or any(step not in range(last + 1) for step in steps):
            raise ValueError(f"Subtrees must be 'all' or ints in [0, {last}], got {given!r}.")
        return [int(step) for step in steps]

    def _losses(self, X: Any, response: Response, options: NameValue, nargout: int) -> Any:
        words = _LOSSES[hasattr(self, "ClassNames")]
        name = options.word("LossFun", words, words[0])
        steps = self._steps(options)
        tree: Any = self
        losses = np.stack(
            [
                self._row_losses(
                    tree.collapse(self.path.pruned_nodes(step)).predict(X), response.labels, name
                )
                for step in steps
            ]
        )
        return self._summary(losses, self._loss_weights(response), steps, options, nargout)

    def _row_losses(self, predicted: Array, labels: Array, name: str = "mincost") -> Array:
        if not hasattr(self, "ClassNames"):
            return np.asarray((predicted - labels) ** 2)
        if name == "classiferror":
            return np.asarray(predicted != labels, np.float64)
        names = self.ClassNames.tolist()
        known = [label in names for label in labels.tolist()]
        costs = np.ones(len(labels))  # of a class that the tree does not have
        true = [names.index(label) for label in labels[known].tolist()]
        chosen = [names.index(label) for label in predicted[known].tolist()]
        costs[known] = self.Cost[true, chosen]  # type: ignore[attr-defined]
        return costs

    def _loss_weights(self, response: Response) -> Array:
        """Return weights of the rows of sum 1, in each class in proportion to its prior."""
        weights = response.row_weights
        if hasattr(self, "ClassNames"):
            names = self.ClassNames.tolist()
            prior = dict(zip(names, self.Prior.tolist(), strict=True))  # type: ignore[attr-defined]
            totals = np.bincount(response.values, weights, len(response.classes))
            factors = [prior.get(label, 0.0) for label in response.classes.tolist()] / totals
            weights = weights * factors[response.values]
        return np.asarray(weights / weights.sum())

    def _summary(
        self, losses: Array, weights: Array, steps: Sequence[int], options: NameValue, nargout: int
    ) -> Any:
        """Return mean losses, standard errors, numbers of leaves and the best level."""
        check_nargout(nargout, 4)
        mean = losses @ weights
        spread = ((losses - mean[:, None]) ** 2) @ weights
        errors = np.sqrt(spread / losses.shape[1])
        best = int(np.argmin(mean))
        limit = mean[best] + errors[best] * (options.word("TreeSize", ["se", "min"], "se") == "se")
        # Risks that are equal but for rounding count as equal.
        level = max(s for s, e in zip(steps, mean, strict=True) if e <= limit * (1 + 1e-12))
        leaves = self.path.n_leaves[list(steps)]
        if "Subtrees" not in options.given:
            outputs: Any = float(mean[0]), float(errors[0]), int(leaves[0]), level
        else:
            outputs = mean, errors, leaves, level
        return outputs[0] if nargout == 1 else outputs[:nargout]
