"""Model selection: information criteria, and the table of compared mixtures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Annotated, Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.covariance import CovarianceForm
from ceiba.mixture.densities import LikelihoodSums
from ceiba.mixture.fitter import FitResult, fit_mixture

CRITERIA = ("bic", "aic", "icl", "cv")
# A single initialization could decide the choice by accident.
MIN_SELECTION_INIT = 3


def information_criteria(
    sums: LikelihoodSums, form: CovarianceForm, k: int, d: int
) -> dict[str, float]:
    """Compute AIC, BIC and ICL (BIC plus twice the entropy); smaller is better.

    References
    ----------
    Akaike (1974), "A new look at the statistical model identification", IEEE TAC 19.
    Schwarz (1978), "Estimating the dimension of a model", Annals of Statistics 6.
    Biernacki, Celeux & Govaert (2000), "Assessing a mixture model for clustering with the
    integrated completed likelihood", IEEE PAMI 22.
    """
    n_parameters = k - 1 + k * d + form.n_parameters(k, d)
    bic = n_parameters * log(sums.weight) - 2.0 * sums.log_likelihood
    return {
        "log_likelihood": sums.log_likelihood,
        "n_parameters": n_parameters,
        "bic": bic,
        "aic": 2.0 * n_parameters - 2.0 * sums.log_likelihood,
        "icl": bic + 2.0 * sums.entropy,
    }


@dataclass(frozen=True, eq=False, repr=False)
class MixtureChoice(Record):
    """Criteria of each number of components and covariance type; one entry per mixture.

    Attributes
    ----------
    n_components, covariance_type : ndarray
    log_likelihood, n_parameters : ndarray
    bic, aic, icl : ndarray
        Information criteria; smaller is better.
    cv : ndarray
        Mean log density of held-out rows, larger is better; NaN without cross-validation.
    spread : ndarray
        Difference of the objective between the best and the worst initialization.
    converged : ndarray of bool
    n_floored : ndarray
        Components at the covariance floor.
    n_remaining : ndarray
        Components that remain after those without rows were dropped.
    criterion : str
        The criterion that decides.
    n_init : int
        Initializations of each mixture.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.mixture import choose_components
    >>> choice = choose_components(datasets.load("iris").table, range(1, 5), ["full"])
    >>> choice.best["bic"]
    (2, 'full')
    """

    n_components: Annotated[Array, ArrayOf("int64", "n")]
    covariance_type: Annotated[Array, ArrayOf("U", "n")]
    log_likelihood: Annotated[Array, ArrayOf("float64", "n")]
    n_parameters: Annotated[Array, ArrayOf("int64", "n")]
    bic: Annotated[Array, ArrayOf("float64", "n")]
    aic: Annotated[Array, ArrayOf("float64", "n")]
    icl: Annotated[Array, ArrayOf("float64", "n")]
    cv: Annotated[Array, ArrayOf("float64", "n")]
    spread: Annotated[Array, ArrayOf("float64", "n")]
    converged: Annotated[Array, ArrayOf("bool", "n")]
    n_floored: Annotated[Array, ArrayOf("int64", "n")]
    n_remaining: Annotated[Array, ArrayOf("int64", "n")]
    criterion: Literal["bic", "aic", "icl", "cv"]
    n_init: Annotated[int, AtLeast(1)]

    @classmethod
    def of(cls, candidates: Sequence[dict[str, Any]], criterion: Any, n_init: int) -> MixtureChoice:
        """Collect the candidates, one dict of values each; ties go to the first."""
        columns = {name: np.array([c[name] for c in candidates]) for name in candidates[0]}
        return cls(**columns, criterion=criterion, n_init=n_init)

    @property
    def table(self) -> dict[str, Array]:
        """All columns by name."""
        return {name: value for name, value in vars(self).items() if isinstance(value, np.ndarray)}

    @property
    def best(self) -> dict[str, tuple[int, str]]:
        """The (n_components, covariance_type) that each criterion selects.

        Mixtures without components at the floor are preferred: the likelihood of the others depends
        more on the floor than on the data.
        """
        selected = {name: self._best_index(name) for name in CRITERIA}
        return {
            name: (int(self.n_components[index]), str(self.covariance_type[index]))
            for name, index in selected.items()
            if index is not None
        }

    @property
    def chosen(self) -> tuple[int, str]:
        """Number of components and covariance type that the deciding criterion selects."""
        return self.best[self.criterion]

    @property
    def unstable(self) -> Array:
        """Mask of the mixtures among which the initialization decides.

        It decides where the selected mixture, had it ended as its worst initialization, would have
        lost to another; `spread` counts twice, as log-likelihoods do in the criteria.
        """
        values, spread = getattr(self, self.criterion), 2.0 * self.spread
        best = self._best_index(self.criterion)
        if self.criterion == "cv" or best is None:
            return np.zeros(len(values), bool)
        worst = values[best] + spread[best]
        eligible = (self.n_floored == 0) | (self.n_floored[best] > 0)
        rivals: Array = eligible & (values < worst) & (np.arange(len(values)) != best)
        rivals[best] = bool(rivals.any())
        return rivals

    @property
    def instability(self) -> str:
        """Message that lists the `unstable` mixtures; empty where there are none."""
        unstable = self.unstable
        if not unstable.any():
            return ""
        pairs = zip(self.n_components[unstable], self.covariance_type[unstable], strict=True)
        names = ", ".join(f"{k} {form}" for k, form in pairs)
        return f"The initialization decides among: {names}. Increase n_init."

    def summary(self) -> str:
        """Format the table, the mixture that each criterion selects, and instability."""
        lines = [_HEADINGS, *(self._line(index) for index in range(len(self.bic)))]
        widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADINGS))]
        shown = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        selected = [
            f"{name.upper()}: {k} component{'s' * (k > 1)}, {form}"
            + ("  <- decides" if name == self.criterion else "")
            for name, (k, form) in self.best.items()
        ]
        note = self.instability
        return "\n".join([*shown, "", *selected, *([note] if note else [])])

    def __repr__(self) -> str:
        return self.summary()

    def _best_index(self, criterion: str) -> int | None:
        """Return the first best mixture; None where the criterion was not computed."""
        values = -self.cv if criterion == "cv" else getattr(self, criterion)
        eligible = np.isfinite(values)
        if (eligible & (self.n_floored == 0)).any():
            eligible &= self.n_floored == 0
        return int(np.argmin(np.where(eligible, values, np.inf))) if eligible.any() else None

    def _line(self, index: int) -> tuple[str, ...]:
        cells = [str(self.n_components[index]), str(self.covariance_type[index])]
        for name in _NUMBERS:
            value = getattr(self, name)[index]
            if np.isnan(value):
                cells.append("")
            elif name == "n_parameters":
                cells.append(f"{value:d}")
            else:
                cells.append(f"{value:.{3 if name == 'spread' else 6}g}")
        marks = [] if self.converged[index] else ["not converged"]
        if self.n_floored[index]:
            marks.append(f"{self.n_floored[index]} at the floor")
        if self.n_remaining[index] < self.n_components[index]:
            marks.append(f"{self.n_remaining[index]} remaining")
        return (*cells, ", ".join(marks))


_HEADINGS = (
    "components", "form", "log-likelihood", "parameters", "BIC", "AIC", "ICL", "CV", "spread", "",
)  # fmt: skip
_NUMBERS = ("log_likelihood", "n_parameters", "bic", "aic", "icl", "cv", "spread")


def fit_candidate(
    data: MixtureData, config: EMConfig, k: int, covariance_type: str, estimator: Any = None
) -> tuple[dict[str, Any], FitResult]:
    """Fit ``k`` components; every run is complete, so that initializations are comparable."""
    complete = replace(config, short_iter=None)
    result = fit_mixture(data, complete, (k,), estimator, single=False)
    model = result.best.model
    (rows,) = data.groups
    sums = data.engine.reduce(rows, LikelihoodSums.of, model, True)
    candidate = {
        "n_components": k,
        "covariance_type": covariance_type,
        **information_criteria(sums, config.form, *model.shape),
        "cv": float("nan"),
        "spread": max(result.objectives) - min(result.objectives),
        "converged": result.best.converged,
        "n_floored": int(result.best.floored.sum()),
        "n_remaining": len(model.weights),
    }
    return candidate, result


def select_n_components(
    data: MixtureData, config: EMConfig, criterion: str, estimator: Any
) -> FitResult:
    """Fit each number of components up to ``max_components`` and return the selected mixture."""
    config = replace(config, n_init=max(config.n_init, MIN_SELECTION_INIT))
    fits: list[tuple[dict[str, Any], FitResult]] = []
    for k in range(1, min(estimator.max_components, data.n_rows) + 1):
        fits.append(fit_candidate(data, config, k, estimator.covariance_type, estimator))
        if fits[-1][1].stopped:
            break
    choice = MixtureChoice.of([candidate for candidate, _ in fits], criterion, config.n_init)
    # The candidates are 1, 2, ... components.
    return replace(fits[choice.chosen[0] - 1][1], choice=choice)
