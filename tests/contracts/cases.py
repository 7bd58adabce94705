"""Who must keep the contracts: every statistic and every learner joins by one line here.

`STATISTICS` obey the merge law (test_merge_law); `LEARNERS` give the same model on every engine
(test_engine_equality).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

import numpy as np

import ceiba
from ceiba._typing import Array
from ceiba.cluster.seeding import Draw, Race
from ceiba.cluster.statistics import Assignment, CentreSums, Distances, Farthest
from ceiba.mixture.densities import Extremes, Fit, Likeliest, LogDensities, Members, Posteriors
from ceiba.mixture.imputation import Imputed
from ceiba.mixture.statistics import MixtureSums
from ceiba.stats import Moments, Points, Space, TargetSurvey
from ceiba.tree.grow.costs import ClassTotals
from ceiba.tree.grow.encoding import RowSample
from ceiba.tree.grow.statistics import LevelSums, OpenRows
from ceiba.tree.prune.held_out import NodeErrors
from tests.contracts import forest_models as forests
from tests.contracts import mixture_models as mixtures
from tests.contracts.row_kinds import CLASSIFIED, MEASURED, POINTS, RowKind
from tests.contracts.tree_models import (
    CLASS_ROWS,
    NUMBER_ROWS,
    first_pass,
    first_sums,
    judged,
    plain_scale,
    sampled,
    second_pass,
    second_sums,
)
from tests.oracles.prior_learners import MidrangeRegressor, PriorClassifier

# What "equal" means for float sums under different partitionings, for one step.
CLOSE = 1e-9


# Statistics


def nothing(rows: Any) -> tuple[Any, ...]:
    """The model of a statistic that needs none."""
    return ()


@dataclass(frozen=True)
class StatisticCase:
    """One statistic under the merge law.

    Parameters
    ----------
    summarise : callable
        ``summarise(batch, *model)``, as an engine calls it; ``batch.rows`` are of the kind.
    model : callable
        Makes the arguments after the batch from all rows.
    seen : callable
        What of the statistic is compared, where parts leave a trace on purpose.
    kind : RowKind
        What it summarises: points, or another kind of rows.
    close : float
        How close floats of the merged parts and of the whole are; 0 for every bit.
    """

    name: str
    summarise: Callable[..., Any]
    model: Callable[[Any], tuple[Any, ...]] = nothing
    seen: Callable[[Any], Any] = lambda statistic: statistic
    kind: RowKind = POINTS
    close: float = CLOSE


def _space(points: Points) -> Space:
    X = points.X
    observed = ~np.isnan(X)
    sums = np.where(observed, X, 0.0).sum(axis=0)
    return Space(sums / np.maximum(observed.sum(axis=0), 1), bool(np.isnan(X).any()))


def _centres(points: Points, k: int = 3) -> Array:
    """Centres that no row is equally near to, but for an accident: rounding may break a tie."""
    return np.random.default_rng(k).normal(scale=100.0, size=(k, points.X.shape[1]))


def _near(points: Points) -> tuple[Any, ...]:
    return _space(points), _centres(points)


def _sums(points: Points) -> tuple[Any, ...]:
    return _space(points), _centres(points), _centres(points) + 1.0, True


def _race(points: Points) -> tuple[Any, ...]:
    return _space(points), _centres(points, 2), _centres(points, 3), 4, Draw(7, 0, 2)


def _first_race(points: Points) -> tuple[Any, ...]:
    none = np.empty((0, points.X.shape[1]))
    return _space(points), none, none, 3, Draw(7, 0, 0)


def _all_rows(statistic: Any) -> Any:
    return replace(statistic, rows=(statistic.n_rows,))


def _those_who_ran(race: Race) -> Race:
    # Where fewer rows than places ran, the places left over hold no coordinates.
    ran = np.isfinite(race.keys)[:, :, None]
    return replace(race, points=np.where(ran, race.points, 0.0))


def _joined(rows: OpenRows) -> Any:
    return rows.joined()


def _values(statistic: Any) -> Any:
    return statistic.values


def _numbers(statistic: Any) -> Any:
    return statistic.numbers


def _filled(statistic: Imputed) -> Any:
    return statistic.values, statistic.covariances


STATISTICS = [
    StatisticCase("Moments", Moments.of, seen=_all_rows),
    StatisticCase("CentreSums", CentreSums.of, _sums),
    StatisticCase("Race", Race.of, _race, seen=_those_who_ran),
    StatisticCase("Race for the first centre", Race.of, _first_race, seen=_those_who_ran),
    StatisticCase("Assignment", Assignment.of, _near, seen=lambda a: (a.labels, a.inertia)),
    StatisticCase("Distances", Distances.of, _near, seen=lambda d: d.values),
    StatisticCase("Farthest", Farthest.of, lambda points: (*_near(points), 4)),
    StatisticCase("TargetSurvey", TargetSurvey.of, seen=_all_rows, kind=CLASSIFIED, close=0),
    StatisticCase(
        "TargetSurvey of numbers", TargetSurvey.of, seen=_all_rows, kind=MEASURED, close=0
    ),
    StatisticCase("RowSample", RowSample.of, sampled, kind=CLASS_ROWS, close=0),
    StatisticCase("LevelSums", LevelSums.of, first_sums, kind=CLASS_ROWS, close=0),
    StatisticCase("LevelSums of branches", LevelSums.of, second_sums, kind=CLASS_ROWS, close=0),
    StatisticCase("LevelSums of numbers", LevelSums.of, second_sums, kind=NUMBER_ROWS, close=0),
    StatisticCase("OpenRows", OpenRows.of, first_pass, _joined, CLASS_ROWS, 0),
    StatisticCase("OpenRows of branches", OpenRows.of, second_pass, _joined, CLASS_ROWS, 0),
    StatisticCase("OpenRows of numbers", OpenRows.of, second_pass, _joined, NUMBER_ROWS, 0),
    StatisticCase("ClassTotals", ClassTotals.of, plain_scale, kind=CLASS_ROWS, close=0),
    StatisticCase("NodeErrors", NodeErrors.of, judged, kind=CLASS_ROWS),
    StatisticCase("NodeErrors of numbers", NodeErrors.of, judged, kind=NUMBER_ROWS),
    StatisticCase("ToldValues", forests.told, forests.grown, _values, CLASS_ROWS, 0),
    StatisticCase("ToldValues, numbers", forests.told, forests.grown, _values, NUMBER_ROWS, 0),
    StatisticCase("LeafNumbers", forests.leaves, forests.grown, _numbers, CLASS_ROWS, 0),
    StatisticCase("MixtureSums", MixtureSums.of, mixtures.full),
    StatisticCase("MixtureSums of gaps", MixtureSums.of, mixtures.full, kind=mixtures.HOLED),
    StatisticCase("MixtureSums of variances", MixtureSums.of, mixtures.diagonal),
    StatisticCase(
        "MixtureSums of variances and gaps", MixtureSums.of, mixtures.diagonal, kind=mixtures.HOLED
    ),
    StatisticCase("MixtureSums about pivots", MixtureSums.of, mixtures.pivoted),
    StatisticCase("MixtureSums of labels", MixtureSums.of, mixtures.labelled),
    StatisticCase("MixtureSums of drawn shares", MixtureSums.of, mixtures.shared),
    StatisticCase("LogDensities", LogDensities.of, mixtures.full, _values, close=0),
    StatisticCase(
        "LogDensities of gaps", LogDensities.of, mixtures.full, _values, mixtures.HOLED, 0
    ),
    StatisticCase("Posteriors", Posteriors.of, mixtures.diagonal, _values, mixtures.HOLED, 0),
    StatisticCase("Likeliest", Likeliest.of, mixtures.full, _values, mixtures.HOLED, 0),
    StatisticCase("Fit", Fit.of, mixtures.scored),
    StatisticCase("Extremes", Extremes.least_likely, mixtures.worst, close=0),
    StatisticCase("Members", Members.of, mixtures.members, close=0),
    StatisticCase("Imputed", Imputed.of, mixtures.filled, _filled, mixtures.HOLED),
    StatisticCase("Imputed draws", Imputed.of, mixtures.drawn, _values),
]


# Learners


@dataclass(frozen=True)
class LearnerCase:
    """One learner under engine equality.

    Parameters
    ----------
    make : callable
        Makes the estimator, given ``n_jobs``.
    frame : callable
        Makes the rows, a pandas frame.
    close : tuple of str
        Fitted attributes that are equal to 1e-9 under any partitioning, and in every bit for any
        number of threads.
    exact : tuple of str
        Fitted attributes that are equal in every bit under any partitioning.
    weight, target : str, optional
        The columns of ``frame`` that hold weights and what is to be learnt.
    """

    name: str
    make: Callable[..., Any]
    frame: Callable[[], Any]
    close: tuple[str, ...]
    exact: tuple[str, ...]
    weight: str | None = None
    target: str | None = None


def numbers(n: int = 12_000) -> Any:
    """Five groups in three columns, far from the origin and apart, so that few steps find them."""
    import pandas as pd

    rng = np.random.default_rng(2)
    middles = rng.normal(scale=4.0, size=(5, 3)) + 500.0
    return pd.DataFrame(
        middles[rng.integers(5, size=n)] + rng.normal(size=(n, 3)), columns=[*"abc"]
    )


def weighted(n: int = 3_000) -> Any:
    """Numbers with a column of weights, a tenth of them zero."""
    rng = np.random.default_rng(3)
    return numbers(n).assign(w=rng.exponential(size=n) * (rng.random(n) > 0.1))


def mixed(n: int = 3_000) -> Any:
    """Numbers with gaps and a nominal column, one level of which only the last rows have."""
    rng = np.random.default_rng(4)
    frame = numbers(n)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    word = np.where(np.arange(n) > 0.9 * n, "violet", rng.choice(["red", "green"], size=n))
    return frame.assign(colour=np.where(rng.random(n) < 0.05, None, word))


def gappy(n: int = 3_000) -> Any:
    """Numbers with gaps in every column, and rows without any value."""
    rng = np.random.default_rng(6)
    frame = numbers(n)
    return frame.mask((rng.random(frame.shape) < 0.15) | (np.arange(n)[:, None] % 500 == 7))


def labelled(n: int = 3_000) -> Any:
    """Gaps, levels and weights; classes that only the first or the last rows have; a number."""
    rng = np.random.default_rng(5)
    word = np.where(np.arange(n) < 0.05 * n, "early", rng.choice(["lo", "mid"], size=n))
    frame = mixed(n).assign(w=weighted(n)["w"])
    return frame.assign(
        word=word,
        grade=np.where(np.arange(n) > 0.95 * n, -7, rng.integers(2, size=n) * 2**60),
        height=rng.normal(size=n) * 10.0 ** rng.integers(-9, 9, size=n),
    )


def _only(column: str) -> Callable[[], Any]:
    """The labelled rows with one of their targets."""
    others = {"word", "grade", "height"} - {column}
    return lambda: labelled().drop(columns=sorted(others))


_SURVEYED = ("classes_", "class_counts_", "whole_weights_", "schema_")

_TREE = ("tree_", "schema_")

_CENTRES = {"close": ("cluster_centers_", "inertia_"), "exact": ("n_iter_", "schema_")}

_MIXTURE = {
    "close": ("weights_", "means_", "covariances_", "log_likelihood_", "lower_bound_"),
    "exact": ("n_iter_", "converged_", "n_components_", "account_", "schema_"),
}

LEARNERS = [
    LearnerCase("KMeans", partial(ceiba.KMeans, 3), numbers, **_CENTRES),
    LearnerCase("KMeans with weights", partial(ceiba.KMeans, 3), weighted, weight="w", **_CENTRES),
    LearnerCase("KMeans of gaps and levels", partial(ceiba.KMeans, 3), mixed, **_CENTRES),
    LearnerCase(
        "KMeans from random rows",
        partial(ceiba.KMeans, 3, init="random", n_init=2, max_iter=2),
        numbers,
        **_CENTRES,
    ),
    LearnerCase(
        "the most frequent number",
        PriorClassifier,
        _only("grade"),
        (),
        _SURVEYED,
        weight="w",
        target="grade",
    ),
    LearnerCase(
        "the most frequent word", PriorClassifier, _only("word"), (), _SURVEYED, target="word"
    ),
    LearnerCase(
        "the middle of numbers",
        MidrangeRegressor,
        _only("height"),
        (),
        ("value_", "n_rows_", "schema_"),
        weight="w",
        target="height",
    ),
    LearnerCase(
        "a tree of classes with weights",
        partial(ceiba.DecisionTreeClassifier, max_bins=40, max_depth=6),
        _only("grade"),
        (),
        (*_TREE, "classes_"),
        weight="w",
        target="grade",
    ),
    LearnerCase(
        "a tree of words",
        partial(ceiba.DecisionTreeClassifier, max_bins=9, splits="multiway", max_leaf_nodes=40),
        _only("word"),
        (),
        (*_TREE, "classes_"),
        target="word",
    ),
    LearnerCase(
        "a tree of numbers",
        partial(ceiba.DecisionTreeRegressor, max_bins=40, missing="branch", min_samples_leaf=20),
        _only("height"),
        (),
        _TREE,
        weight="w",
        target="height",
    ),
    LearnerCase(
        "a tree of words by ID3, cut at medians",
        partial(
            ceiba.DecisionTreeClassifier,
            algorithm="id3",
            thresholds="median",
            max_bins=30,
            max_depth=5,
        ),
        _only("word"),
        (),
        (*_TREE, "classes_"),
        target="word",
    ),
    LearnerCase(
        "a tree of words by C4.5, in intervals, pruned",
        partial(
            ceiba.DecisionTreeClassifier,
            algorithm="c45",
            n_intervals=4,
            splits="intervals",
            thresholds="midpoint",
            missing="learned",
            raising=False,
            max_bins=30,
            confidence=0.5,
            cost_matrix=[[0, 2, 2], [1, 0, 3], [1, 1, 0]],
        ),
        _only("word"),
        (),
        (*_TREE, "classes_", "grown_tree_"),
        target="word",
    ),
    LearnerCase(
        "a tree of numbers at random cuts of the whole table, pruned by price",
        partial(
            ceiba.DecisionTreeRegressor,
            thresholds="random",
            at="root",
            max_bins=40,
            reuse="none",
            ccp_alpha=3e11,
        ),
        _only("height"),
        (),
        (*_TREE, "grown_tree_"),
        weight="w",
        target="height",
    ),
    LearnerCase(
        "a mixture", partial(ceiba.GaussianMixture, 5), partial(numbers, 4_000), **_MIXTURE
    ),
    LearnerCase(
        "a mixture of variances",
        partial(ceiba.GaussianMixture, 5, covariance_type="diag", init_params="random", max_iter=6),
        numbers,
        **_MIXTURE,
    ),
    LearnerCase(
        "a mixture of one covariance with weights",
        partial(
            ceiba.GaussianMixture, 5, covariance_type="tied", n_init=2, short_iter=2, max_iter=5
        ),
        weighted,
        weight="w",
        **_MIXTURE,
    ),
    LearnerCase(
        "a mixture of gaps",
        partial(ceiba.GaussianMixture, 5, prior="default", max_iter=5),
        gappy,
        **_MIXTURE,
    ),
]


# Equality


def assert_alike(one: Any, other: Any, close: float = CLOSE, place: str = "") -> None:
    """Whole numbers, texts and truth values equal; floats to ``close``, or in every bit for 0."""
    assert type(one) is type(other), place
    if is_dataclass(one) and not isinstance(one, type):
        for name in (field.name for field in fields(one)):
            assert_alike(getattr(one, name), getattr(other, name), close, f"{place}.{name}")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), place
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_alike(left, right, close, f"{place}[{number}]")
    elif isinstance(one, float | np.ndarray) and np.asarray(one).dtype.kind == "f" and close:
        least = close * max(1.0, np.max(np.abs(one), initial=0.0, where=np.isfinite(one)))
        np.testing.assert_allclose(one, other, rtol=close, atol=least, err_msg=place)
    else:
        np.testing.assert_array_equal(one, other, err_msg=place, strict=isinstance(one, np.ndarray))
