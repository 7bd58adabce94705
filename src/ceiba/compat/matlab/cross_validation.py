"""Cross-validated models under MATLAB's names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.inputs import Response
from ceiba.compat.matlab.name_value import NameValue


@dataclass(frozen=True, eq=False)
class PartitionedModel:
    """Trees of the folds of a cross-validation, as ``crossval`` of a tree returns them.

    Parameters
    ----------
    Trained : list
        A tree for each fold, grown without its rows.
    test : list of ndarray
        Held-out rows of each fold, numbered from 0.
    model : ClassificationTree or RegressionTree
        The tree of all rows.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import fitctree
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> cv = fitctree(meas.to_numpy(), species).crossval("KFold", 5)
    >>> cv.KFold, bool(cv.kfoldLoss() < 0.1)
    (5, True)
    """

    Trained: list[Any]
    test: list[Array]
    model: Any

    @classmethod
    def of(cls, model: Any, folds: list[Array]) -> PartitionedModel:
        """Grow the trees of some folds."""
        every = np.arange(len(model._training_rows.response.values))
        trained = [model._training_rows.grow(np.setdiff1d(every, held_out)) for held_out in folds]
        return cls(trained, folds, model)

    def __repr__(self) -> str:
        return f"PartitionedModel: {type(self.model).__name__}, KFold: {self.KFold}"

    @property
    def KFold(self) -> int:
        """Number of folds."""
        return len(self.Trained)

    @property
    def NumObservations(self) -> int:
        """Number of rows."""
        return len(self.model._training_rows.response.values)

    def kfoldPredict(self) -> Array:
        """Return the prediction of each row by the tree grown without it.

        With ``Holdout`` the other rows are predicted by NaN, or None for classes.
        """
        labels = self.model._training_rows.response.labels
        is_class = hasattr(self.model, "ClassNames")
        partial = sum(map(len, self.test)) < len(labels)
        found = np.full(len(labels), None if is_class else np.nan, object if is_class else float)
        for tree, rows in zip(self.Trained, self.test, strict=True):
            found[rows] = tree.predict(self.model._training_rows.columns.take(rows))
        return found if partial or not is_class else found.astype(labels.dtype)

    def kfoldLoss(self, *pairs: Any, **named: Any) -> Any:
        """Return the mean loss of the held-out rows.

        Parameters
        ----------
        *pairs, **named
            ``Mode``: "average" over all rows, or "individual" for a loss of each fold.
        """
        options = NameValue.read("kfoldLoss", ("Mode",), pairs, named, {})
        response = self.model._training_rows.response
        weights = self.model._loss_weights(response)
        predicted = self.kfoldPredict()
        sums, totals = [], []
        for rows in self.test:
            losses = self.model._row_losses(predicted[rows], response.labels[rows])
            sums.append(float(losses @ weights[rows]))
            totals.append(float(weights[rows].sum()))
        if options.word("Mode", ["average", "individual"], "average") == "individual":
            return np.array(sums) / np.array(totals)
        return sum(sums) / sum(totals)


def read_folds(options: NameValue, response: Response) -> list[Array]:
    """Return the held-out rows of each fold: of the same class proportions, drawn by a seed."""
    chosen = [name for name in ("KFold", "Holdout", "Leaveout") if name in options.given]
    if len(chosen) > 1:
        raise ValueError(f"crossval takes one of KFold, Holdout and Leaveout, got {chosen}.")
    n = len(response.values)
    if options.switch("Leaveout", False):
        return [np.array([row]) for row in range(n)]
    order = np.random.default_rng(options.count("random_state", 0, 0)).permutation(n)
    if len(response.classes):  # classes one after the other: neighbors are in different folds
        order = order[np.argsort(response.values[order], kind="stable")]
    if "Holdout" in options.given:
        fraction = options.number("Holdout", 0.0)
        n_held_out = round(fraction * n)
        if not 0 < n_held_out < n:
            raise ValueError(
                f"Holdout must be a fraction in (0, 1) that holds out a row, got {fraction!r}."
            )
        return [np.sort(order[np.arange(n_held_out) * n // n_held_out])]
    n_folds = options.count("KFold", 10, 2)
    if n_folds > n:
        raise ValueError(f"KFold must be an int in [2, {n}], got {n_folds}.")
    return [np.sort(order[fold::n_folds]) for fold in range(n_folds)]
