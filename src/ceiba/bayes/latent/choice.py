"""Choice of the number of components by information criteria."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, prod
from typing import Annotated, Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.bayes.families import Structure


@dataclass(frozen=True, eq=False)
class LatentChoice(Record):
    """Criteria of each number of components; one entry per mixture.

    Attributes
    ----------
    n_components, n_parameters : ndarray of int64
    log_likelihood : ndarray of float64
    bic, aic : ndarray of float64
        Information criteria; smaller is better.
    criterion : {"bic", "aic"}
        The criterion that decides.

    Examples
    --------
    >>> from ceiba import LatentClassMixture, datasets
    >>> iris = datasets.load("iris")
    >>> model = LatentClassMixture("bic", max_components=3, n_bins=3).fit(iris.table)
    >>> model.choice_.n_components
    array([1, 2, 3])
    >>> model.choice_.chosen == model.n_components_
    True
    """

    n_components: Annotated[Array, ArrayOf("int64", "n")]
    n_parameters: Annotated[Array, ArrayOf("int64", "n")]
    log_likelihood: Annotated[Array, ArrayOf("float64", "n")]
    bic: Annotated[Array, ArrayOf("float64", "n")]
    aic: Annotated[Array, ArrayOf("float64", "n")]
    criterion: Literal["bic", "aic"]

    @classmethod
    def of(cls, candidates: Sequence[dict[str, Any]], criterion: Any) -> LatentChoice:
        """Collect the candidates, one dict of values each."""
        columns = {name: np.array([c[name] for c in candidates]) for name in candidates[0]}
        return cls(**columns, criterion=criterion)

    @property
    def chosen(self) -> int:
        """Number of components with the smallest criterion, ties to fewer."""
        values = self.bic if self.criterion == "bic" else self.aic
        return int(self.n_components[np.argmin(values)])


def information_criteria(
    log_likelihood: float, n_parameters: int, weight: float
) -> dict[str, float]:
    """Return BIC and AIC of a mixture; smaller is better.

    A weight w counts as w rows. A parameter costs no less than in AIC, since below e² rows BIC
    would reward parameters.
    """
    return {
        "n_parameters": n_parameters,
        "log_likelihood": log_likelihood,
        "bic": n_parameters * max(log(weight), 2.0) - 2.0 * log_likelihood,
        "aic": 2.0 * n_parameters - 2.0 * log_likelihood,
    }


def count_parameters(structure: Structure, n_observed: Sequence[int], k: int) -> int:
    """Return the number of free parameters; ``n_observed`` categories occur."""
    free = k - 1
    for feature, parents in zip(structure.features, structure.parents, strict=True):
        groups = prod(n_observed[parent] for parent in parents)
        free += k * groups * max(n_observed[feature] - 1, 0)
    return free
