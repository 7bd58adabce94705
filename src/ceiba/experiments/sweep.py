"""Sweeps: one learner with several values of its parameters, on the same folds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from sklearn.base import clone

from ceiba._typing import Array
from ceiba.experiments.compare import Comparison, compare
from ceiba.experiments.results.scores import default_score
from ceiba.experiments.results.summary import Summary, summarize


@dataclass(frozen=True, eq=False)
class Sweep:
    """The results of a learner for all combinations of values of parameters.

    Parameters
    ----------
    comparison : Comparison
        Its learners are the combinations, named such as ``"max_depth=3, criterion='gini'"``.
    parameters : tuple of str
    settings : tuple of tuple
        The values of the parameters, for each learner of the comparison.
    """

    comparison: Comparison
    parameters: tuple[str, ...]
    settings: tuple[tuple[Any, ...], ...]

    def summarize(self, score: str | None = None, **options: Any) -> Summary:
        """Summarize a score, with a row for each combination.

        Parameters
        ----------
        score : str, optional
        **options
            Those of `summarize`.

        Returns
        -------
        Summary
        """
        return summarize(self.comparison, score, rows="learners", **options)

    def means(self, score: str | None = None) -> Array:
        """Return the mean scores as an array with an axis for each parameter, and one of datasets.

        Parameters
        ----------
        score : str, optional
            By default accuracy, or R² of a regression.

        Returns
        -------
        float64 array of shape (n_values of each parameter, n_datasets)
            NaN where a learner failed or the score is undefined.
        """
        chosen = score or default_score(self.comparison.task)
        means = [
            [
                self.comparison.mean(chosen, table.name, learner.name)
                for table in self.comparison.datasets
            ]
            for learner in self.comparison.learners
        ]
        shape = [
            len(dict.fromkeys(map(repr, values))) for values in zip(*self.settings, strict=True)
        ]
        return np.array(means, np.float64).reshape(*shape, len(self.comparison.datasets))

    def best(self, score: str | None = None, dataset: str | None = None) -> dict[str, Any]:
        """Return the values with the best mean score on a dataset.

        This score is optimistic for new rows: it was chosen on the rows that test it.
        `nested` chooses inside of the folds.
        """
        name = self.comparison.best(score, dataset)
        names = [learner.name for learner in self.comparison.learners]
        return dict(zip(self.parameters, self.settings[names.index(name)], strict=True))


def sweep(
    learner: Any,
    parameter: str | Sequence[str],
    values: Sequence[Any],
    data: Any,
    **options: Any,
) -> Sweep:
    """Fit and test a learner with several values of parameters.

    Parameters
    ----------
    learner : estimator
        Of Ceiba or scikit-learn, or a pipeline.
    parameter : str or list of str
        One parameter, or several whose values are combined, each with each; those of nested
        estimators such as ``"estimator__max_depth"``.
    values : list, or list of lists
        Values of the parameter, or a list for each of several parameters.
    data : str, mapping or list
        Datasets, as in `compare`.
    **options
        ``protocol``, ``seed``, ``journal`` and all others of `compare`.

    Returns
    -------
    Sweep

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier
    >>> from ceiba.experiments import sweep
    >>> depths = sweep(DecisionTreeClassifier(), "max_depth", [1, 2, 3], "iris", protocol="5-fold")
    >>> print(depths.summarize())
    Accuracy     iris
    max_depth=1  0.667 [0.588, 0.737]
    max_depth=2  0.927 [0.873, 0.959]
    max_depth=3  0.927 [0.873, 0.959]
    95 % intervals: Wilson's, of the rows of all folds.
    >>> depths.best()
    {'max_depth': 2}
    """
    grid = parameter_grid(learner, parameter, values)
    settings = list(product(*grid.values()))
    learners = {}
    for setting in settings:
        changed = dict(zip(grid, setting, strict=True))
        learners[setting_text(changed)] = clone(learner).set_params(**changed)
    if len(learners) < len(settings):
        raise ValueError(f"values must be different, got {values!r}.")
    comparison = compare(learners, data, **options)
    return Sweep(comparison, tuple(grid), tuple(settings))


def setting_text(setting: dict[str, Any]) -> str:
    """Return values of parameters as text.

    Examples
    --------
    >>> setting_text({"max_depth": 3, "criterion": "gini"})
    "max_depth=3, criterion='gini'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in setting.items())


def parameter_grid(
    learner: Any, parameter: str | Sequence[str], values: Sequence[Any]
) -> dict[str, list[Any]]:
    """Return the values of each parameter; raise if the learner has no such parameter."""
    names = [parameter] if isinstance(parameter, str) else list(parameter)
    lists = [values] if isinstance(parameter, str) else list(values)
    if not names or len(set(names)) < len(names):
        raise ValueError(f"parameter must be one or more different names, got {parameter!r}.")
    if len(lists) != len(names):
        raise ValueError(
            f"values must have a list for each of {len(names)} parameters, got {len(lists)}."
        )
    known = learner.get_params(deep=True) if hasattr(learner, "get_params") else {}
    grid = {}
    for name, entries in zip(names, lists, strict=True):
        if name not in known:
            raise ValueError(
                f"parameter must be one of {type(learner).__name__}'s parameters "
                f"({', '.join(sorted(known))}), got {name!r}."
            )
        if isinstance(entries, str) or not hasattr(entries, "__iter__") or not list(entries):
            raise ValueError(f"values of {name!r} must be a list, not empty, got {entries!r}.")
        grid[name] = [_plain(value) for value in entries]
    return grid


def _plain(value: Any) -> Any:
    """Return numbers of NumPy, as in a range of values, as numbers of Python."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
