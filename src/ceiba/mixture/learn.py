"""Learning a mixture: several starts, short runs first, the best to its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ceiba.base import Steps, Trace
from ceiba.mixture.account import Account, Event
from ceiba.mixture.em import Run, Setting, em
from ceiba.mixture.floor import Floor
from ceiba.mixture.form import Form
from ceiba.mixture.given import GivenParameters
from ceiba.mixture.maximise import Rules, maximise
from ceiba.mixture.prior import ConjugatePrior, Penalty
from ceiba.mixture.repair import Repair
from ceiba.mixture.starts import Start
from ceiba.mixture.surveyed import Surveyed
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.mixture_sums import MixtureSums
from ceiba.stats.posteriors import Extremes

_ROWS_TOLD = 10


@dataclass(frozen=True, slots=True)
class Plan:
    """The hyper-parameters of a fit, resolved.

    Parameters
    ----------
    form : Form
    start : Start
    given : GivenParameters
        Parameters that replace what a start found.
    floor_share, reg_covar, tol : float
    prior : ConjugatePrior or None
    max_iter, n_init : int
    short_iter : int or None
        Steps of the first, short runs; None for whole ones.
    reseed : bool
    trace : bool
    """

    form: Form
    start: Start
    floor_share: float
    reg_covar: float
    tol: float
    prior: ConjugatePrior | None
    max_iter: int
    n_init: int
    short_iter: int | None
    reseed: bool
    trace: bool = False
    given: GivenParameters = field(default_factory=GivenParameters)


@dataclass(frozen=True, slots=True)
class Learnt:
    """The best run, its trace and account, and the objective that each start reached."""

    run: Run
    trace: Trace | None
    account: Account
    objectives: tuple[float, ...]


def learn(
    data: Surveyed,
    plan: Plan,
    sizes: tuple[int, ...],
    estimator: Any = None,
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {},
) -> Learnt:
    """Fit ``sizes`` components to groups of rows.

    References
    ----------
    Biernacki, Celeux & Govaert (2003), "Choosing starting values for the EM algorithm for getting
    the highest likelihood in multivariate Gaussian mixture models", Computational Statistics &
    Data Analysis 41.
    """
    lesson = Lesson(data, plan, sizes, estimator, fitted)
    runs = 1 if plan.given.whole or plan.start.shares is not None else plan.n_init
    short = runs > 1 and plan.short_iter is not None and plan.short_iter < plan.max_iter
    most = plan.short_iter if short and plan.short_iter is not None else plan.max_iter
    tried = [lesson.run(run, most, runs) for run in range(runs)]
    best, steps = max(tried, key=lambda pair: pair[0].objective)
    if short and not best.converged:
        best, steps = lesson.go_on(best, steps)
    account = lesson.account(best)
    return Learnt(best, steps.trace, account, tuple(run.objective for run, _ in tried))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One fit: what all its runs share."""

    data: Surveyed
    plan: Plan
    sizes: tuple[int, ...]
    estimator: Any = None
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {}

    def run(self, number: int, most: int, runs: int) -> tuple[Run, Steps]:
        """A run from start ``number``, of at most so many steps."""
        rules = self.rules()
        model = self.start(number, rules)
        steps = Steps(self.estimator, most, trace=self.plan.trace, name="EM", runs=runs)
        return self._em(model, rules, steps, self.repair()), steps

    def go_on(self, run: Run, steps: Steps) -> tuple[Run, Steps]:
        """The same run to its end."""
        if steps.trace is not None:
            steps.trace.take_back()  # the end of the short run is the next step of the long one
        longer = Steps(self.estimator, self.plan.max_iter, name="EM", after=steps)
        done = self._em(run.model, run.rules, longer, self.repair())
        return replace(done, events=run.events + done.events), longer

    def _em(self, model: Gaussians, rules: Rules, steps: Steps, repair: Repair) -> Run:
        data = self.data
        setting = Setting(data.groups, data.engine, data.weight, data.units, self.plan.tol)
        return em(setting, model, rules, steps, repair, self.fitted)

    def start(self, number: int, rules: Rules) -> Gaussians:
        """The parameters that run ``number`` begins with."""
        plan, d = self.plan, len(self.data.variances)
        if plan.given.whole:
            return plan.given.gaussians(rules.form, sum(self.sizes), d)
        moments = plan.start.moments(self.data, self.sizes, rules.form.full, number)
        # A centre that no row is nearest to begins as light as a row, where all rows are.
        least = self.data.weight / self.data.n_rows
        empty = moments.weights < 1e-6 * least
        if empty.any():
            common = self.data.common(len(empty), rules.form.full)
            wide = empty.reshape(-1, *[1] * (moments.scatters.ndim - 1))
            moments = replace(
                moments,
                weights=np.where(empty, least, moments.weights),
                scatters=np.where(wide, least * common.covariances, moments.scatters),
            )
        return plan.given.over(maximise(moments, rules)[0], rules.form)

    def rules(self) -> Rules:
        """How this fit maximises."""
        plan, data = self.plan, self.data
        make = Floor.isotropic if plan.form.isotropic else Floor
        floor = make(plan.floor_share, data.variances)
        return Rules(plan.form, floor, plan.reg_covar, self._penalty(), self.sizes)

    def _penalty(self) -> Penalty | None:
        plan, data = self.plan, self.data
        if plan.prior is None:
            return None
        one = data.common(1, True)
        sums = [data.engine.reduce(rows, MixtureSums.of, one) for rows in data.groups]
        total = sum(s.weights[0] for s in sums)
        covariance = sum(s.second[0] for s in sums) / total
        shift = sum(s.first[0] for s in sums) / total
        covariance = covariance - np.outer(shift, shift)
        form = plan.form
        return plan.prior.resolved(
            sum(self.sizes), data.mean + shift, covariance, form.full, form.isotropic
        )

    def repair(self) -> Repair:
        """What is done with components that lose their rows."""
        data = self.data
        return Repair(self.plan.reseed, data.weight / data.n_rows, data.mean, sum(self.sizes))

    def account(self, run: Run) -> Account:
        """What happened, with the rows of components that the floor holds in the end."""
        events = list(run.events)
        edges = np.cumsum((0, *run.rules.groups))
        for component in np.flatnonzero(run.held):
            group = int(np.searchsorted(edges, component, side="right")) - 1
            part = run.model.take(slice(edges[group], edges[group + 1]))
            place = int(component - edges[group])
            reduce = self.data.engine.reduce
            members = reduce(self.data.groups[group], Extremes.members, part, place, _ROWS_TOLD)
            own = members.rows[members.values > 0.5]
            weight = float(run.model.weights[component] * self.data.weight)
            events.append(
                Event("held", run.n_iter, int(component), weight, tuple(int(r) for r in own))
            )
        return Account(tuple(events))
