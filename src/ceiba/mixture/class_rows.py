"""The rows of a classifier, class by class, and what is learnt from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.cluster.survey import point_type
from ceiba.data.source import Source
from ceiba.mixture.account import Account
from ceiba.mixture.choice import MixtureChoice, choose_number
from ceiba.mixture.learn import Learnt, Plan, learn
from ceiba.mixture.surveyed import Surveyed
from ceiba.stats import Moments, TargetSurvey, ToLabelled
from ceiba.stats.class_points import ToClassPoints
from ceiba.stats.points import Array
from ceiba.stats.posteriors import Fit


@dataclass(frozen=True, slots=True)
class ClassRows:
    """The classes, and the rows of each; the scale is that of all rows together."""

    classes: Array
    parts: tuple[Surveyed, ...]

    @classmethod
    def of(cls, data: Surveyed, source: Source) -> ClassRows:
        """Part the rows of a source by their target."""
        engine = data.engine
        labelled = engine.rows(source.partitions, ToLabelled("classification"))
        classes = engine.reduce(labelled, TargetSurvey.of).classes
        assert classes is not None
        dtype = point_type(data.moments, source.schema)
        parts = []
        for place in range(len(classes)):
            rows = engine.rows(source.partitions, ToClassPoints(classes, place, dtype))
            moments = engine.reduce(rows, Moments.of)
            parts.append(data.of_group(rows.numbered(moments.rows), moments))
        return cls(classes, tuple(parts))


def learn_apart(plan: Plan, parts: ClassRows, sizes: list[int], estimator: Any) -> list[Learnt]:
    """A mixture for each class, of so many components."""
    return [
        learn(part, plan, (k,), estimator, alone=False)
        for part, k in zip(parts.parts, sizes, strict=True)
    ]


def choose_apart(
    plan: Plan, parts: ClassRows, criterion: str, estimator: Any
) -> list[tuple[MixtureChoice, Learnt]]:
    """A mixture for each class, of as many components as a criterion prefers."""
    most, name = estimator.max_components, estimator.covariance_type
    return [
        choose_number(part, plan, range(1, min(most, part.n_rows) + 1), criterion, name, estimator)
        for part in parts.parts
    ]


def learn_shared(
    data: Surveyed, plan: Plan, parts: ClassRows, sizes: Any, estimator: Any
) -> list[Learnt]:
    """Mixtures with one covariance for all: EM over all classes, each row within its own."""
    groups = tuple(part.groups[0] for part in parts.parts)
    weights = tuple(part.row_weights[0] for part in parts.parts)
    together = replace(data, groups=groups, row_weights=weights)
    learnt = learn(together, plan, tuple(sizes), estimator)
    run = learnt.run
    found = []
    for place, (a, b) in enumerate(pairwise(np.cumsum((0, *run.rules.groups)))):
        model = run.model.take(slice(a, b))
        fit = data.engine.reduce(groups[place], Fit.of, model)
        # Objectives are told without the prior, which belongs to all classes together.
        own = replace(
            run,
            model=model,
            log_likelihood=fit.log_likelihood,
            objective=fit.log_likelihood,
            held=run.held[a:b],
            moments=run.moments.take(slice(a, b)),
        )
        events = tuple(event for event in learnt.account if event.group == place)
        found.append(Learnt(own, None, Account(events), (fit.log_likelihood,)))
    return found
