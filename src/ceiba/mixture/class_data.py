"""What a user wishes for each class: numbers of components, prior probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.summary import point_type
from ceiba.data.source import Chunk, Source
from ceiba.mixture.densities import Fit, Gaussians, LogDensities
from ceiba.mixture.events import Account
from ceiba.mixture.fitter import Learnt, Plan, learn
from ceiba.mixture.selection import MixtureChoice, choose_number
from ceiba.mixture.summary import Surveyed
from ceiba.stats import Moments, TargetSurvey
from ceiba.stats.row_values import RowValues
from ceiba.stats.rows import Points, ToLabelled, ToPoints


@dataclass(frozen=True, slots=True)
class ToClassPoints:
    """Makes points of a partition's rows of one class; rows of weight zero vanish.

    Parameters
    ----------
    classes : ndarray
        All classes.
    place : int
        Which of them is wanted.
    dtype : str, optional
        Type of the matrix; that of the columns if not given.
    """

    classes: Array
    place: int
    dtype: str | None = None

    def __call__(self, chunk: Chunk) -> Points:
        """The points of one chunk."""
        rows = ToLabelled("classification")(chunk)
        mine = np.flatnonzero(rows.labels(self.classes) == self.place)
        weight = None if rows.weight is None else rows.weight[mine]
        points = ToPoints(self.dtype)(Chunk(rows.table.take(mine), None, weight))
        kept = mine if rows.kept is None else rows.kept[mine]
        return replace(points, kept=kept, n_given=len(chunk.table))


class ClassDensities(RowValues):
    """Log density of every row under the mixture of every class."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, models: tuple[Gaussians, ...]) -> Self:
        """Of the rows of a batch of points."""
        return cls((np.column_stack([LogDensities.of(batch, model).values for model in models]),))


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


def class_priors(given: Any, parts: ClassRows) -> Array:
    """Prior probabilities: the classes' shares of the weight, or those given."""
    if given is None:
        weights = np.array([part.weight for part in parts.parts])
        shares: Array = weights / weights.sum()
        return shares
    values = listed(given, parts.classes, "priors")
    try:
        priors = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        raise ValueError("priors must be one number for each class") from None
    if not np.isfinite(priors).all() or (priors < 0).any():
        raise ValueError("priors must be numbers of at least 0")
    if not np.isclose(priors.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"priors must sum to 1; they sum to {priors.sum():g}")
    scaled: Array = priors / priors.sum()
    return scaled


def listed(given: Any, classes: Array, name: str) -> list[Any]:
    """What is given for each class, by class or in their order or once for all, as a list."""
    labels = classes.tolist()
    if isinstance(given, Mapping):
        plain = {k.item() if isinstance(k, np.generic) else k: v for k, v in given.items()}
        missing = [label for label in labels if label not in plain]
        if missing:
            raise ValueError(f"{name} says nothing of class {missing[0]!r}: name every class")
        return [plain[label] for label in labels]
    if isinstance(given, int | np.integer):
        return [given] * len(labels)
    if np.ndim(given) > 1:
        raise ValueError(f"{name} must be a list, one entry for each class")
    values = list(given)
    if len(values) != len(labels):
        raise ValueError(f"{name} has {len(values)} entries for {len(labels)} classes")
    return values
