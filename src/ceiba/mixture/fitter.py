"""Learning a mixture: several starts, short runs first, the best to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.base import Steps, Trace, seed_of
from ceiba.mixture.covariance import Floor, Form
from ceiba.mixture.densities import Gaussians, Members, numbered_as_given
from ceiba.mixture.em import Run, Setting, em
from ceiba.mixture.events import Account, Event
from ceiba.mixture.init import GivenParameters, Start
from ceiba.mixture.m_step import Rules, maximise
from ceiba.mixture.prior import Anchor, ConjugatePrior, Penalty
from ceiba.mixture.repair import Repair
from ceiba.mixture.statistics import ComponentMoments, MixtureSums
from ceiba.mixture.summary import Surveyed

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
    anchor : Anchor or None
        What a prior refers to; None without one.
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
    anchor: Anchor | None = None
    given: GivenParameters = field(default_factory=GivenParameters)

    @classmethod
    def of(cls, learner: Any, form: Form, data: Surveyed, **more: Any) -> Plan:
        """What a learner's hyper-parameters say, and ``more``."""
        prior = ConjugatePrior() if learner.prior == "default" else learner.prior
        if prior is not None and more.get("anchor") is None:
            more["anchor"] = anchor_of(data)
        return cls(
            form=form,
            start=Start(learner.init_params, seed_of(learner.random_state)),
            floor_share=learner.covariance_floor,
            reg_covar=learner.reg_covar,
            tol=learner.tol,
            prior=prior,
            max_iter=learner.max_iter,
            n_init=learner.n_init,
            short_iter=learner.short_iter,
            reseed=learner.empty == "reseed",
            **more,
        )


def anchor_of(data: Surveyed) -> Anchor:
    """Mean and covariance of the rows; a gap counts as its column's mean and variance."""
    one = data.common(1, True)
    sums = data.engine.reduce(data.groups[0], MixtureSums.of, one)
    found = sums.centred()
    return Anchor(found.means[0], found.scatters[0] / found.weights[0])


@dataclass(frozen=True, slots=True)
class Learnt:
    """The best run, its trace and account, and the objective that each start reached.

    ``stopped`` says that a callback ended it.
    """

    run: Run
    trace: Trace | None
    account: Account
    objectives: tuple[float, ...]
    stopped: bool = False


def learn(
    data: Surveyed,
    plan: Plan,
    sizes: tuple[int, ...],
    estimator: Any = None,
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {},
    *,
    alone: bool = True,
) -> Learnt:
    """Fit ``sizes`` components to groups of rows.

    ``alone`` says that this is all that the fit of the estimator does.

    References
    ----------
    Biernacki, Celeux & Govaert (2003), "Choosing starting values for the EM algorithm for getting
    the highest likelihood in multivariate Gaussian mixture models", Computational Statistics &
    Data Analysis 41.
    """
    with singular_told(plan):
        return _best_of(Lesson(data, plan, sizes, estimator, fitted, alone))


@contextmanager
def singular_told(plan: Plan) -> Iterator[None]:
    """A covariance that has no inverse becomes an error that says what to do."""
    try:
        yield
    except np.linalg.LinAlgError:
        raise ValueError(
            f"a covariance is singular to rounding: covariance_floor={plan.floor_share:g} is too "
            "low for these data. Raise it, or give a reg_covar"
        ) from None


def _best_of(lesson: Lesson) -> Learnt:
    """The best of all starts; a callback that stops one stops them all."""
    tried: list[tuple[Run, Steps]] = []
    for number in range(lesson.runs):
        tried.append(lesson.run(number))
        if tried[-1][1].stopped:
            break
    best, steps = _first_of_the_best(tried, lesson.setting())
    stopped = tried[-1][1].stopped
    if lesson.short and not best.converged and not stopped:
        best, steps = lesson.go_on(best, steps)
    account = lesson.account(best)
    objectives = tuple(run.objective for run, _ in tried)
    return Learnt(best, steps.trace, account, objectives, stopped or steps.stopped)


def _first_of_the_best(tried: list[tuple[Run, Steps]], setting: Setting) -> tuple[Run, Steps]:
    """Starts often end at the same place: rounding must not decide which of them is kept."""
    most = max(run.objective for run, _ in tried)
    return next(pair for pair in tried if not setting.falls(pair[0].objective, most))


@dataclass(frozen=True, slots=True)
class Lesson:
    """One fit: what all its runs share."""

    data: Surveyed
    plan: Plan
    sizes: tuple[int, ...]
    estimator: Any = None
    fitted: Callable[[Gaussians], dict[str, Any]] = lambda model: {}
    alone: bool = True

    @property
    def runs(self) -> int:
        """Starts; one where they would all be the same."""
        same = self.plan.given.whole or self.plan.start.shares is not None or max(self.sizes) == 1
        return 1 if same else self.plan.n_init

    @property
    def short(self) -> bool:
        """Whether starts make a short run first."""
        few = self.plan.short_iter
        return self.runs > 1 and few is not None and few < self.plan.max_iter

    def run(self, number: int) -> tuple[Run, Steps]:
        """A run from start ``number``, to its end or a short one."""
        rules = self.rules()
        model = self.start(number, rules)
        most = self.plan.short_iter if self.short else None
        steps = Steps(
            self.estimator,
            most or self.plan.max_iter,
            trace=self.plan.trace,
            name="EM",
            runs=self.runs + self.short if self.alone else None,
        )
        return self._em(model, rules, steps, self.repair()), steps

    def go_on(self, run: Run, steps: Steps) -> tuple[Run, Steps]:
        """The same run to its end."""
        if steps.trace is not None:
            steps.trace.take_back()  # the end of the short run is the next step of the long one
        longer = Steps(self.estimator, self.plan.max_iter, name="EM", after=steps)
        done = self._em(run.model, run.rules, longer, self.repair(run.events))
        return replace(done, events=run.events + done.events), longer

    def _em(self, model: Gaussians, rules: Rules, steps: Steps, repair: Repair) -> Run:
        return em(self.setting(), model, rules, steps, repair, self.fitted)

    def setting(self) -> Setting:
        """What stays the same from step to step."""
        data = self.data
        least = self.plan.floor_share * data.variances
        return Setting(
            data.groups, data.engine, data.weight, data.units, self.plan.tol, data.mean, least
        )

    def start(self, number: int, rules: Rules) -> Gaussians:
        """The parameters that run ``number`` begins with."""
        plan, d = self.plan, len(self.data.variances)
        if plan.given.whole:
            return plan.given.gaussians(rules.form, sum(self.sizes), d, self.data.moments)
        moments = plan.start.moments(self.data, self.sizes, rules.form.full, number)
        moments = self._filled(moments, rules)
        return plan.given.over(maximise(moments, rules)[0], rules.form, self.data.moments)

    def _filled(self, moments: ComponentMoments, rules: Rules) -> ComponentMoments:
        """A centre that no row is nearest to begins as light as a row, where all rows are."""
        least = np.repeat(self.data.row_weights, rules.groups)
        empty = moments.weights < 1e-6 * least
        if not empty.any():
            return moments
        common = self.data.common(len(empty), rules.form.full)
        axes = [1] * (moments.scatters.ndim - 1)
        return replace(
            moments,
            weights=np.where(empty, least, moments.weights),
            scatters=np.where(
                empty.reshape(-1, *axes),
                least.reshape(-1, *axes) * common.covariances,
                moments.scatters,
            ),
        )

    def rules(self) -> Rules:
        """How this fit maximises."""
        plan, data = self.plan, self.data
        if plan.form.isotropic:
            floor = Floor.isotropic(plan.floor_share, data.variances)
        else:
            floor = Floor.of(plan.floor_share, data.variances, data.constant)
        return Rules(plan.form, floor, plan.reg_covar, self._penalty(), self.sizes)

    def _penalty(self) -> Penalty | None:
        plan = self.plan
        if plan.prior is None or plan.anchor is None:
            return None
        return plan.prior.resolved(sum(self.sizes), plan.anchor, plan.form)

    def repair(self, events: tuple[Event, ...] = ()) -> Repair:
        """What is done with components that lose their rows, after what was done already."""
        left = sum(self.sizes) - sum(event.kind == "reseeded" for event in events)
        return Repair(self.plan.reseed, self.data.row_weights, self.data.mean, left)

    def account(self, run: Run) -> Account:
        """What happened, with the rows of components that the floor holds in the end."""
        events = list(run.events)
        engine = self.data.engine
        for group, (a, b) in enumerate(pairwise(np.cumsum((0, *run.rules.groups)))):
            held = tuple(int(place) for place in np.flatnonzero(run.held[a:b]))
            if not held:
                continue
            rows = numbered_as_given(self.data.groups[group], engine)
            part = run.model.take(slice(a, b))
            members = engine.reduce(rows, Members.of, part, held, _ROWS_TOLD)
            for place, found in zip(held, members.each, strict=True):
                own = tuple(int(row) for row in found.rows[found.values > 0.5])
                weight = float(run.moments.weights[a + place])
                events.append(Event("held", run.n_iter, place, weight, own, group))
        return Account(tuple(events))
