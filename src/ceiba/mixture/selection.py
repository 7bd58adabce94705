"""Choosing the number of components and the form of covariances: the table, and one row of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.mixture.covariance import Form
from ceiba.mixture.densities import Fit
from ceiba.mixture.fitter import Learnt, Plan, learn
from ceiba.mixture.summary import Surveyed


def n_parameters(form: Form, k: int, d: int) -> int:
    """Free parameters of a mixture: weights, means and covariances."""
    return k - 1 + k * d + form.numbers(k, d)


@dataclass(frozen=True, slots=True)
class Criteria:
    """AIC, BIC and ICL of one mixture on some rows; less is better.

    Parameters
    ----------
    log_likelihood : float
    n_parameters : int
    weight : float
        Weight of the rows: their number, unless they are weighted.
    entropy : float
        Of the rows' posteriors.

    References
    ----------
    Akaike (1974), "A new look at the statistical model identification", IEEE TAC 19.
    Schwarz (1978), "Estimating the dimension of a model", Annals of Statistics 6.
    Biernacki, Celeux & Govaert (2000), "Assessing a mixture model for clustering with the
    integrated completed likelihood", IEEE PAMI 22.
    """

    log_likelihood: float
    n_parameters: int
    weight: float
    entropy: float = 0.0

    @property
    def aic(self) -> float:
        """Akaike's information criterion."""
        return 2.0 * self.n_parameters - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's Bayesian information criterion."""
        return self.n_parameters * log(self.weight) - 2.0 * self.log_likelihood

    @property
    def icl(self) -> float:
        """Integrated completed likelihood: BIC, and twice the entropy of the posteriors."""
        return self.bic + 2.0 * self.entropy


CRITERIA = ("bic", "aic", "icl", "cv")
FEWEST_STARTS = 3


@dataclass(frozen=True, slots=True)
class Tried:
    """One number of components with one form: how it fits, and how its starts disagree."""

    n_components: int
    covariance_type: str
    criteria: Criteria
    spread: float
    converged: bool
    held: int
    left: int
    cv: float = float("nan")

    def of(self, criterion: str) -> float:
        """The value of a criterion; less is better but for ``"cv"``."""
        return self.cv if criterion == "cv" else float(getattr(self.criteria, criterion))


@dataclass(frozen=True, eq=False, repr=False)
class MixtureChoice:
    """What each criterion says about each number of components and form of covariances.

    Attributes
    ----------
    table : dict of arrays
        ``n_components``, ``covariance_type``, ``log_likelihood``, ``n_parameters``, ``bic``,
        ``aic``, ``icl`` (less is better), ``cv`` (mean log density of rows left out; more is
        better; NaN where it was not asked for), ``spread`` (of the objective between the best and
        the worst start), ``converged``, ``held`` (components that have shrunk to the floor) and
        ``left`` (components after those without rows were dropped): a line for each mixture.
    best : dict
        For each criterion the (n_components, covariance_type) that it prefers, among mixtures
        without shrunken components if there are any: the likelihood of the others says more about
        the floor than about the data.
    criterion : str
        The one that decides.
    n_init : int
        Starts of each mixture.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.mixture import choose_components
    >>> choice = choose_components(datasets.load("iris").table, range(1, 5), ["full"])
    >>> choice.best["bic"]
    (2, 'full')
    """

    table: dict[str, Array]
    best: dict[str, tuple[int, str]]
    criterion: str
    n_init: int

    @classmethod
    def of(cls, tried: Sequence[Tried], criterion: str, n_init: int) -> MixtureChoice:
        """The table of what was tried; the first of equals wins."""
        table = {
            "n_components": np.array([t.n_components for t in tried]),
            "covariance_type": np.array([t.covariance_type for t in tried]),
            "log_likelihood": np.array([t.criteria.log_likelihood for t in tried]),
            "n_parameters": np.array([t.criteria.n_parameters for t in tried]),
            **{name: np.array([t.of(name) for t in tried]) for name in CRITERIA},
            "spread": np.array([t.spread for t in tried]),
            "converged": np.array([t.converged for t in tried]),
            "held": np.array([t.held for t in tried]),
            "left": np.array([t.left for t in tried]),
        }
        best = {}
        for name in CRITERIA:
            place = _winner(table, name)
            if place is not None:
                best[name] = tried[place].n_components, tried[place].covariance_type
        return cls(table, best, criterion, n_init)

    @property
    def chosen(self) -> tuple[int, str]:
        """Number of components and form that the deciding criterion prefers."""
        return self.best[self.criterion]

    @property
    def disputed(self) -> Array:
        """Which mixtures would lose or win the choice by the start alone.

        A start decides where the winner, had it ended at its worst start, would have lost to
        another; `spread` counts twice, as log-likelihoods do in the criteria.
        """
        values, spread = self.table[self.criterion], 2.0 * self.table["spread"]
        winner = _winner(self.table, self.criterion)
        if self.criterion == "cv" or winner is None:
            return np.zeros(len(values), bool)
        worst = values[winner] + spread[winner]
        sound = (self.table["held"] == 0) | (self.table["held"][winner] > 0)
        rivals: Array = sound & (values < worst) & (np.arange(len(values)) != winner)
        rivals[winner] = bool(rivals.any())
        return rivals

    @property
    def dispute(self) -> str:
        """Which mixtures the start decides among, in a sentence; empty where it does not."""
        return dispute(self)

    def __repr__(self) -> str:
        return describe(self)

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {
            "table": dict(self.table),
            "best": {name: list(pair) for name, pair in self.best.items()},
            "criterion": self.criterion,
            "n_init": self.n_init,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> MixtureChoice:
        """The choice that `to_json` wrote."""
        best = {name: (pair[0], pair[1]) for name, pair in record["best"].items()}
        return cls(dict(record["table"]), best, record["criterion"], record["n_init"])


def _winner(table: dict[str, Array], criterion: str) -> int | None:
    """The line that a criterion prefers, the first of equals; None where it was not taken."""
    values = -table[criterion] if criterion == "cv" else table[criterion]
    sound = np.isfinite(values)
    if (sound & (table["held"] == 0)).any():
        sound &= table["held"] == 0
    return int(np.argmin(np.where(sound, values, np.inf))) if sound.any() else None


def attempt(
    data: Surveyed, plan: Plan, k: int, name: str, estimator: Any = None
) -> tuple[Tried, Learnt]:
    """Fit ``k`` components; every start runs to its end, so that starts can be compared."""
    learnt = learn(data, replace(plan, short_iter=None), (k,), estimator, alone=False)
    model = learnt.run.model
    (rows,) = data.groups
    fit = data.engine.reduce(rows, Fit.of, model, True)
    numbers = n_parameters(plan.form, *model.shape)
    criteria = Criteria(fit.log_likelihood, numbers, fit.weight, fit.entropy)
    spread = max(learnt.objectives) - min(learnt.objectives)
    held = int(learnt.run.held.sum())
    left = len(model.weights)
    return Tried(k, name, criteria, spread, learnt.run.converged, held, left), learnt


def choose_number(
    data: Surveyed,
    plan: Plan,
    numbers: Iterable[int],
    criterion: str,
    name: str,
    estimator: Any = None,
) -> tuple[MixtureChoice, Learnt]:
    """The number of components that a criterion prefers, and the mixture itself.

    A single start could decide the choice unseen: there are at least three.
    """
    plan = replace(plan, n_init=max(plan.n_init, FEWEST_STARTS))
    pairs: list[tuple[Tried, Learnt]] = []
    for k in numbers:
        pairs.append(attempt(data, plan, k, name, estimator))
        if pairs[-1][1].stopped:
            break
    choice = MixtureChoice.of([tried for tried, _ in pairs], criterion, plan.n_init)
    place = [tried.n_components for tried, _ in pairs].index(choice.chosen[0])
    return choice, pairs[place][1]


_HEADS = (
    "components", "form", "log-likelihood", "parameters", "BIC", "AIC", "ICL", "CV", "spread", "",
)  # fmt: skip
_NUMBERS = ("log_likelihood", "n_parameters", "bic", "aic", "icl", "cv", "spread")


def describe(choice: MixtureChoice) -> str:
    """The table, the choice of each criterion, and where starts disagree."""
    lines = [_HEADS, *(_line(choice, row) for row in range(len(choice.table["bic"])))]
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEADS))]
    shown = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    return "\n".join([*shown, "", *_verdicts(choice)])


def _line(choice: MixtureChoice, row: int) -> tuple[str, ...]:
    table = choice.table
    cells = [str(table["n_components"][row]), str(table["covariance_type"][row])]
    for name in _NUMBERS:
        value = table[name][row]
        whole = name == "n_parameters"
        digits = 3 if name == "spread" else 6
        cells.append("" if np.isnan(value) else f"{value:d}" if whole else f"{value:.{digits}g}")
    marks = [] if table["converged"][row] else ["not converged"]
    if table["held"][row]:
        marks.append(f"{table['held'][row]} at the floor")
    if table["left"][row] < table["n_components"][row]:
        marks.append(f"{table['left'][row]} left")
    return (*cells, ", ".join(marks))


def _verdicts(choice: MixtureChoice) -> list[str]:
    lines = []
    for name, (k, form) in choice.best.items():
        mark = "  <- decides" if name == choice.criterion else ""
        lines.append(f"{name.upper()}: {k} component{'s' * (k > 1)}, {form}{mark}")
    return [*lines, dispute(choice)] if choice.disputed.any() else lines


def dispute(choice: MixtureChoice) -> str:
    """Which mixtures the start decides among, in a sentence; empty where it does not."""
    disputed = choice.disputed
    if not disputed.any():
        return ""
    sizes, forms = choice.table["n_components"][disputed], choice.table["covariance_type"][disputed]
    named = ", ".join(f"{k} {form}" for k, form in zip(sizes, forms, strict=True))
    return f"The start decides among: {named}. Try more starts (n_init)."
