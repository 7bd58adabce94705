"""Statistics and learners under the contracts: each joins by one line here.

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
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.statistics import BinCounts, ValueCounts
from ceiba.bayes.discriminative.density_rows import (
    DensityErrors,
    DensityLikelihoods,
    DensityResiduals,
    MissingValues,
)
from ceiba.bayes.discriminative.newton import Hessian
from ceiba.bayes.discriminative.softmax import SoftmaxGradient, SoftmaxLikelihoods
from ceiba.bayes.distributions.exact_sums import ClassSums
from ceiba.bayes.distributions.kernel import KernelValues
from ceiba.bayes.latent.statistics import (
    DrawnRows,
    LatentLikelihood,
    RandomCounts,
    latent_sums,
)
from ceiba.bayes.statistics import (
    ClassificationErrors,
    ModelLikelihoods,
    PairCounts,
    StepLikelihoods,
    TableCounts,
    TableSums,
)
from ceiba.bayes.structural.distinct import DistinctRows
from ceiba.cluster.lloyd import CandidateDraw, DrawKey
from ceiba.cluster.statistics import Assignment, CenterSums, center_distances, farthest_points
from ceiba.data.source import Chunk
from ceiba.engine.contract import Batch, RowResults
from ceiba.engine.dask.source import SchemaSummary
from ceiba.mixture.densities import (
    ComponentRows,
    LikelihoodSums,
    _RowCounts,
    log_densities,
    lowest_densities,
    most_probable_components,
    posteriors,
)
from ceiba.mixture.imputation import impute
from ceiba.mixture.statistics import ExpectedMoments
from ceiba.neighbors.partitioned import NearestRows, RowsWithin
from ceiba.neighbors.rows import CrossProducts, RowSummary
from ceiba.stats import Accuracy, LabeledRows, Moments, Points, PointSpace, TargetSummary
from ceiba.stats.scaling import IntegerRanges
from ceiba.tree.grow.encoding import RowSample
from ceiba.tree.grow.statistics import DepthSums, OpenRows
from ceiba.tree.grow.targets import WeightTotals
from ceiba.tree.prune.reduced_error import NodeErrors
from ceiba.tree.scoring import R2Score
from tests.contracts import bayes_models as bayes
from tests.contracts import forest_models as forests
from tests.contracts import mixture_models as mixtures
from tests.contracts import neighbor_models as neighbors
from tests.contracts.row_kinds import CLASSIFIED, MEASURED, MIXED_CHUNKS, POINTS, RowKind
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
    summarize : callable
        ``summarize(batch, *model)``, as an engine calls it; ``batch.rows`` are of the kind.
    model : callable
        Makes the arguments after the batch from all rows.
    seen : callable
        What of the statistic is compared, where parts leave a trace on purpose.
    kind : RowKind
        What it summarizes: points, or another kind of rows.
    close : float
        How close floats of the merged parts and of the whole are; 0 for every bit.
    """

    name: str
    summarize: Callable[..., Any]
    model: Callable[[Any], tuple[Any, ...]] = nothing
    seen: Callable[[Any], Any] = lambda statistic: statistic
    kind: RowKind = POINTS
    close: float = CLOSE


def _space(points: Points) -> PointSpace:
    X = points.X
    observed = ~np.isnan(X)
    sums = np.where(observed, X, 0.0).sum(axis=0)
    return PointSpace(sums / np.maximum(observed.sum(axis=0), 1), bool(np.isnan(X).any()))


def _centers(points: Points, k: int = 3) -> Array:
    """Centers that no row is equally near to: rounding may break a tie."""
    return np.random.default_rng(k).normal(scale=100.0, size=(k, points.X.shape[1]))


def _near(points: Points) -> tuple[Any, ...]:
    return _space(points), _centers(points)


def _sums(points: Points) -> tuple[Any, ...]:
    return _space(points), _centers(points), _centers(points) + 1.0, True


def _draw(points: Points) -> tuple[Any, ...]:
    return _space(points), _centers(points, 2), _centers(points, 3), 4, DrawKey(7, 0, 2)


def _first_draw(points: Points) -> tuple[Any, ...]:
    none = np.empty((0, points.X.shape[1]))
    return _space(points), none, none, 3, DrawKey(7, 0, 0)


def _all_rows(statistic: Any) -> Any:
    return replace(statistic, rows=(statistic.n_rows,))


def _drawn_points(draw: CandidateDraw) -> CandidateDraw:
    # Where fewer rows were drawn than requested, the remaining entries have no coordinates.
    drawn = np.isfinite(draw.keys)[:, :, None]
    return replace(draw, points=np.where(drawn, draw.points, 0.0))


def _joined(rows: Any) -> Any:
    return rows.concatenate()


def _per_row(function: Callable[..., Any]) -> Callable[..., Any]:
    """The results per row that `Engine.predict` joins."""
    return lambda batch, *model: RowResults.of(batch, function, *model)


def _first_class(rows: LabeledRows) -> tuple[Any, ...]:
    """Classes of all rows, and a model that always predicts the first of them."""
    classes = rows.target.classes
    return classes, lambda table, threads: np.zeros(len(table), np.int32)


def _first_range(batch: Batch[Any]) -> IntegerRanges:
    """The range of the first column; conversion to int keeps the order of its floats."""
    return IntegerRanges.of(replace(batch, rows=Chunk(batch.rows)), (0,))


def _counted_values(rows: LabeledRows, max_values: int | None = None) -> tuple[Any, ...]:
    """Both columns, and the scale of the weights."""
    return (0, 1), *plain_scale(rows), max_values


def _binned(rows: LabeledRows) -> tuple[Any, ...]:
    """Intervals of both columns, and the scale of the weights."""
    encoding = CategoryEncoding.of(rows.table.schema, {0: [-1.0, 0.5], 1: [2.0]})
    return encoding, *plain_scale(rows)


STATISTICS = [
    StatisticCase("Moments", Moments.of, seen=_all_rows),
    StatisticCase("CenterSums", CenterSums.of, _sums),
    StatisticCase("CandidateDraw", CandidateDraw.of, _draw, seen=_drawn_points),
    StatisticCase(
        "CandidateDraw of the first center", CandidateDraw.of, _first_draw, seen=_drawn_points
    ),
    StatisticCase("center_distances", _per_row(center_distances), _near, _joined),
    StatisticCase("Assignment", Assignment.of, _near, seen=lambda a: (a.labels, a.inertia)),
    StatisticCase(
        "TopRows of farthest points", farthest_points, lambda points: (*_near(points), 4)
    ),
    StatisticCase("TargetSummary", TargetSummary.of, seen=_all_rows, kind=CLASSIFIED, close=0),
    StatisticCase(
        "TargetSummary of numbers", TargetSummary.of, seen=_all_rows, kind=MEASURED, close=0
    ),
    StatisticCase("SchemaSummary", SchemaSummary.of, kind=MIXED_CHUNKS, close=0),
    StatisticCase("IntegerRanges", _first_range, kind=MIXED_CHUNKS, close=0),
    StatisticCase("Accuracy", Accuracy.of, _first_class, kind=CLASSIFIED),
    StatisticCase("_RowCounts", _RowCounts.of, seen=lambda counts: sum(counts.counts)),
    StatisticCase("RowSample", RowSample.of, sampled, kind=CLASS_ROWS, close=0),
    StatisticCase("DepthSums", DepthSums.of, first_sums, kind=CLASS_ROWS, close=0),
    StatisticCase("DepthSums of branches", DepthSums.of, second_sums, kind=CLASS_ROWS, close=0),
    StatisticCase("DepthSums of numbers", DepthSums.of, second_sums, kind=NUMBER_ROWS, close=0),
    StatisticCase("OpenRows", OpenRows.of, first_pass, _joined, CLASS_ROWS, 0),
    StatisticCase("OpenRows of branches", OpenRows.of, second_pass, _joined, CLASS_ROWS, 0),
    StatisticCase("OpenRows of numbers", OpenRows.of, second_pass, _joined, NUMBER_ROWS, 0),
    StatisticCase("NodeErrors", NodeErrors.of, judged, kind=CLASS_ROWS),
    StatisticCase("NodeErrors of numbers", NodeErrors.of, judged, kind=NUMBER_ROWS),
    StatisticCase("WeightTotals", WeightTotals.of, plain_scale, kind=CLASS_ROWS, close=0),
    StatisticCase(
        "WeightTotals of numbers", WeightTotals.of, plain_scale, kind=NUMBER_ROWS, close=0
    ),
    StatisticCase("R2Score", R2Score.of, forests.grown, kind=NUMBER_ROWS),
    StatisticCase("probabilities", forests.predictions, forests.grown, _joined, CLASS_ROWS, 0),
    StatisticCase("numbers", forests.predictions, forests.grown, _joined, NUMBER_ROWS, 0),
    StatisticCase("leaves", forests.leaves, forests.grown, _joined, CLASS_ROWS, 0),
    StatisticCase("ValueCounts", ValueCounts.of, _counted_values, kind=CLASS_ROWS, close=0),
    StatisticCase(
        "ValueCounts of few values",
        ValueCounts.of,
        partial(_counted_values, max_values=5),
        kind=CLASS_ROWS,
        close=0,
    ),
    StatisticCase("BinCounts", BinCounts.of, _binned, kind=CLASS_ROWS, close=0),
    StatisticCase("ExpectedMoments", ExpectedMoments.of, mixtures.full),
    StatisticCase(
        "ExpectedMoments of missing values",
        ExpectedMoments.of,
        mixtures.full,
        kind=mixtures.WITH_MISSING,
    ),
    StatisticCase("ExpectedMoments of variances", ExpectedMoments.of, mixtures.diagonal),
    StatisticCase(
        "ExpectedMoments of variances and missing values",
        ExpectedMoments.of,
        mixtures.diagonal,
        kind=mixtures.WITH_MISSING,
    ),
    StatisticCase("ExpectedMoments about pivots", ExpectedMoments.of, mixtures.pivoted),
    StatisticCase("ExpectedMoments of nearest centers", ExpectedMoments.of, mixtures.nearest),
    StatisticCase(
        "ExpectedMoments of random responsibilities", ExpectedMoments.of, mixtures.random
    ),
    StatisticCase("log_densities", _per_row(log_densities), mixtures.full, _joined, close=0),
    StatisticCase(
        "log_densities of missing values",
        _per_row(log_densities),
        mixtures.full,
        _joined,
        mixtures.WITH_MISSING,
        0,
    ),
    StatisticCase(
        "posteriors", _per_row(posteriors), mixtures.diagonal, _joined, mixtures.WITH_MISSING, 0
    ),
    StatisticCase(
        "most_probable_components",
        _per_row(most_probable_components),
        mixtures.full,
        _joined,
        mixtures.WITH_MISSING,
        0,
    ),
    StatisticCase("LikelihoodSums", LikelihoodSums.of, mixtures.with_entropy),
    StatisticCase(
        "TopRows of lowest densities", lowest_densities, mixtures.lowest_density, close=0
    ),
    StatisticCase("ComponentRows", ComponentRows.of, mixtures.component_rows, close=0),
    StatisticCase(
        "impute", _per_row(impute), mixtures.conditional_means, _joined, mixtures.WITH_MISSING
    ),
    StatisticCase("impute by draws", _per_row(impute), mixtures.conditional_draws, _joined),
    StatisticCase("TableCounts", TableCounts.of, bayes.families, kind=bayes.CODED),
    StatisticCase("DistinctRows", DistinctRows.of, bayes.column_sets, kind=bayes.CODED),
    StatisticCase("MissingValues", MissingValues.of, kind=bayes.WITH_VALUES),
    StatisticCase(
        "DensityResiduals", DensityResiduals.of, bayes.density_model, kind=bayes.WITH_VALUES
    ),
    StatisticCase(
        "DensityLikelihoods", DensityLikelihoods.of, bayes.density_models, kind=bayes.WITH_VALUES
    ),
    StatisticCase(
        "DensityLikelihoods of steps",
        DensityLikelihoods.along,
        bayes.density_steps,
        kind=bayes.WITH_VALUES,
    ),
    StatisticCase("DensityErrors", DensityErrors.of, bayes.density_model, kind=bayes.WITH_VALUES),
    StatisticCase("ClassSums", ClassSums.of, kind=bayes.NUMERIC),
    StatisticCase("KernelValues", KernelValues.of, bayes.ranges, kind=bayes.NUMERIC),
    StatisticCase("PairCounts", PairCounts.of, bayes.pairs, kind=bayes.CODED),
    StatisticCase("PairCounts of a block", PairCounts.of, bayes.pair_block, kind=bayes.CODED),
    StatisticCase("TableSums of residuals", TableSums.of, bayes.residuals, kind=bayes.CODED),
    StatisticCase("TableSums of labels", TableSums.of, bayes.labels, kind=bayes.CODED),
    StatisticCase("StepLikelihoods", StepLikelihoods.of, bayes.steps, kind=bayes.CODED),
    StatisticCase("SoftmaxGradient", SoftmaxGradient.of, bayes.joined, kind=bayes.INDEXED),
    StatisticCase(
        "SoftmaxLikelihoods", SoftmaxLikelihoods.of, bayes.joined_steps, kind=bayes.INDEXED
    ),
    StatisticCase("ModelLikelihoods", ModelLikelihoods.of, bayes.models, kind=bayes.CODED),
    StatisticCase("ClassificationErrors", ClassificationErrors.of, bayes.weights, kind=bayes.CODED),
    StatisticCase("latent sums", latent_sums, bayes.posteriors, kind=bayes.CODED),
    StatisticCase("RandomCounts", RandomCounts.of, bayes.random_shares, kind=bayes.CODED),
    StatisticCase("DrawnRows", DrawnRows.of, bayes.draw, kind=bayes.CODED),
    StatisticCase("LatentLikelihood", LatentLikelihood.of, bayes.mixture, kind=bayes.CODED),
    StatisticCase("Hessian", Hessian.of, bayes.table_model, kind=bayes.CODED),
    StatisticCase(
        "RowSummary",
        RowSummary.of,
        seen=lambda summary: replace(summary.moments, rows=(summary.moments.n_rows,)),
        kind=neighbors.ROWS,
    ),
    StatisticCase("CrossProducts", CrossProducts.of, neighbors.centered, kind=neighbors.ROWS),
    StatisticCase(
        "NearestRows",
        NearestRows.of,
        neighbors.nearest,
        seen=lambda found: (found.distances, found.rows),
        kind=neighbors.ROWS,
        close=0,
    ),
    StatisticCase("RowsWithin", RowsWithin.of, neighbors.within, kind=neighbors.ROWS, close=0),
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
        The columns of ``frame`` with weights and target.
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


def huge(n: int = 3_000) -> Any:
    """Numbers whose squares overflow."""
    return numbers(n) * 1e200


def weighted(n: int = 3_000) -> Any:
    """Numbers with a column of weights, a tenth of them zero."""
    rng = np.random.default_rng(3)
    return numbers(n).assign(w=rng.exponential(size=n) * (rng.random(n) > 0.1))


def mixed(n: int = 3_000) -> Any:
    """Numbers with missing values and a nominal column; one category is in the last rows only."""
    rng = np.random.default_rng(4)
    frame = numbers(n)
    frame.loc[rng.random(n) < 0.1, "a"] = np.nan
    word = np.where(np.arange(n) > 0.9 * n, "violet", rng.choice(["red", "green"], size=n))
    return frame.assign(color=np.where(rng.random(n) < 0.05, None, word))


def with_missing(n: int = 3_000) -> Any:
    """Numbers with missing values in every column, and rows without any value."""
    rng = np.random.default_rng(6)
    frame = numbers(n)
    return frame.mask((rng.random(frame.shape) < 0.15) | (np.arange(n)[:, None] % 500 == 7))


def labeled(n: int = 3_000) -> Any:
    """Missing values, categories, weights; classes of the first or the last rows only; a number."""
    rng = np.random.default_rng(5)
    word = np.where(np.arange(n) < 0.05 * n, "early", rng.choice(["lo", "mid"], size=n))
    frame = mixed(n).assign(w=weighted(n)["w"])
    return frame.assign(
        word=word,
        grade=np.where(np.arange(n) > 0.95 * n, -7, rng.integers(2, size=n) * 2**60),
        height=rng.normal(size=n) * 10.0 ** rng.integers(-9, 9, size=n),
    )


def dependent(n: int = 3_000) -> Any:
    """Categories and numbers that depend on a class, with missing values and weights."""
    rng = np.random.default_rng(8)
    frame = weighted(n)
    words = np.where(frame["a"] + rng.normal(size=n) > 500.0, "high", "low")
    color = np.where(rng.random(n) < 0.7, words, rng.choice(["red", "green"], size=n))
    return frame.assign(color=np.where(rng.random(n) < 0.05, None, color), word=words)


def _only(column: str) -> Callable[[], Any]:
    """The labeled rows with one of their targets."""
    others = {"word", "grade", "height"} - {column}
    return lambda: labeled().drop(columns=sorted(others))


_SUMMARY = ("classes_", "class_counts_", "integer_weights_", "schema_")

_TREE = ("tree_", "schema_")

_CENTERS = {"close": ("cluster_centers_", "inertia_"), "exact": ("n_iter_", "schema_")}

_INTERVALS = {"close": (), "exact": ("encoding_", "_rows", "schema_")}

_MIXTURE = {
    "close": ("weights_", "means_", "covariances_", "log_likelihood_", "lower_bound_"),
    "exact": ("n_iter_", "converged_", "n_components_", "fit_events_", "schema_"),
}

_LATENT = {
    "close": ("model_", "weights_", "log_likelihood_", "lower_bound_"),
    "exact": ("n_iter_", "converged_", "n_components_", "arcs_", "encoding_", "schema_"),
}

_NETWORK = {"close": ("model_",), "exact": ("classes_", "encoding_", "schema_")}
_SEARCH: dict[str, Any] = {
    "close": ("bicd_", "feature_importances_"),
    "exact": ("selected_features_", "arcs_", "classes_", "schema_"),
}
_NEIGHBORS: dict[str, Any] = {
    "close": (),
    "exact": ("n_neighbors_", "loo_curve_", "n_samples_fit_", "schema_"),
}

LEARNERS = [
    LearnerCase("KMeans", partial(ceiba.KMeans, 3), numbers, **_CENTERS),
    LearnerCase("KMeans with weights", partial(ceiba.KMeans, 3), weighted, weight="w", **_CENTERS),
    LearnerCase(
        "KMeans of missing values and categories", partial(ceiba.KMeans, 3), mixed, **_CENTERS
    ),
    LearnerCase(
        "KMeans of columns divided by their range",
        partial(ceiba.KMeans, 3, scale="range"),
        mixed,
        **_CENTERS,
    ),
    LearnerCase("KMeans of huge values", partial(ceiba.KMeans, 3), huge, **_CENTERS),
    LearnerCase(
        "KMeans from random rows",
        partial(ceiba.KMeans, 3, init="random", n_init=2, max_iter=2),
        numbers,
        **_CENTERS,
    ),
    LearnerCase(
        "the most frequent number",
        PriorClassifier,
        _only("grade"),
        (),
        _SUMMARY,
        weight="w",
        target="grade",
    ),
    LearnerCase(
        "the most frequent word", PriorClassifier, _only("word"), (), _SUMMARY, target="word"
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
        "a tree of words by ID3, split at medians",
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
            subtree_raising=False,
            max_bins=30,
            prune_confidence=0.5,
            cost_matrix=[[0, 2, 2], [1, 0, 3], [1, 1, 0]],
        ),
        _only("word"),
        (),
        (*_TREE, "classes_", "grown_tree_"),
        target="word",
    ),
    LearnerCase(
        "a tree of numbers at random thresholds of the whole table, pruned by cost complexity",
        partial(
            ceiba.DecisionTreeRegressor,
            thresholds="random",
            threshold_scope="root",
            max_bins=40,
            feature_reuse="none",
            ccp_alpha=3e11,
        ),
        _only("height"),
        (),
        (*_TREE, "grown_tree_"),
        weight="w",
        target="height",
    ),
    LearnerCase(
        "intervals by classes",
        ceiba.Discretizer,
        _only("grade"),
        weight="w",
        target="grade",
        **_INTERVALS,
    ),
    LearnerCase(
        "intervals of equal width", partial(ceiba.Discretizer, "equal_width"), mixed, **_INTERVALS
    ),
    LearnerCase(
        "intervals of equal weight",
        partial(ceiba.Discretizer, "equal_frequency", n_bins=7),
        weighted,
        weight="w",
        **_INTERVALS,
    ),
    LearnerCase(
        "intervals of k-means", partial(ceiba.Discretizer, "kmeans"), with_missing, **_INTERVALS
    ),
    LearnerCase(
        "a mixture", partial(ceiba.GaussianMixture, 5), partial(numbers, 4_000), **_MIXTURE
    ),
    LearnerCase(
        "a mixture of columns divided by their spread",
        partial(ceiba.GaussianMixture, 3, covariance_type="spherical", scale="std", max_iter=5),
        with_missing,
        **_MIXTURE,
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
        "a mixture of missing values",
        partial(ceiba.GaussianMixture, 5, prior="default", max_iter=5),
        with_missing,
        **_MIXTURE,
    ),
    LearnerCase(
        "naive Bayes of words", ceiba.NaiveBayesClassifier, _only("word"), target="word", **_NETWORK
    ),
    LearnerCase(
        "naive Bayes of words, trained discriminatively",
        partial(ceiba.NaiveBayesClassifier, training="tm", missing="category", max_iter=5),
        _only("word"),
        weight="w",
        target="word",
        **_NETWORK,
    ),
    LearnerCase(
        "naive Bayes of words with densities, trained discriminatively",
        partial(
            ceiba.NaiveBayesClassifier,
            training="tm",
            distributions={"a": "gaussian", "b": "gaussian"},
            early_stopping=True,
            max_iter=5,
        ),
        _only("word"),
        weight="w",
        target="word",
        close=("model_", "_densities"),
        exact=("classes_", "encoding_", "schema_", "n_iter_"),
    ),
    LearnerCase(
        "a tree network of words, by EM",
        partial(ceiba.TANClassifier, discretization="equal_frequency", n_bins=4, em_tol=1e-3),
        _only("word"),
        weight="w",
        target="word",
        **_NETWORK,
    ),
    LearnerCase(
        "averaged one-dependence estimators",
        partial(ceiba.TANClassifier, structure="aode", discretization="equal_width"),
        _only("word"),
        target="word",
        **_NETWORK,
    ),
    LearnerCase(
        "a latent class mixture with weights",
        partial(ceiba.LatentClassMixture, 3, n_init=2, tol=1e-2),
        _only("word"),
        weight="w",
        **_LATENT,
    ),
    LearnerCase(
        "a latent class mixture of trees",
        partial(ceiba.LatentClassMixture, 2, structure="tree", init="random", n_init=1, tol=1e-2),
        mixed,
        **_LATENT,
    ),
    LearnerCase(
        "a tree network of words, trained discriminatively",
        partial(ceiba.TANClassifier, training="tm", max_iter=4, discretization="equal_width"),
        _only("word"),
        target="word",
        **_NETWORK,
    ),
    LearnerCase(
        "a network of searched structure, with weights",
        partial(ceiba.StructuralTMClassifier, training="ml"),
        partial(dependent, 1_000),
        weight="w",
        target="word",
        **_SEARCH,
    ),
    LearnerCase(
        "neighbors of words",
        partial(ceiba.KNeighborsClassifier, "loo", metric="gower", weights="distance"),
        _only("word"),
        target="word",
        **_NEIGHBORS,
    ),
    LearnerCase(
        "neighbors of numbers",
        partial(ceiba.KNeighborsRegressor, "loo", max_neighbors=9),
        partial(numbers, 1_500),
        target="c",
        **_NEIGHBORS,
    ),
]


# Equality


def assert_alike(one: Any, other: Any, close: float = CLOSE, path: str = "") -> None:
    """Compare ints, strings and bools exactly, floats to ``close``, or in every bit for 0."""
    assert type(one) is type(other), path
    if is_dataclass(one) and not isinstance(one, type):
        for name in (field.name for field in fields(one)):
            assert_alike(getattr(one, name), getattr(other, name), close, f"{path}.{name}")
    elif isinstance(one, tuple | list):
        assert len(one) == len(other), path
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            assert_alike(left, right, close, f"{path}[{number}]")
    elif isinstance(one, float | np.ndarray) and np.asarray(one).dtype.kind == "f" and close:
        tolerance = close * max(1.0, np.max(np.abs(one), initial=0.0, where=np.isfinite(one)))
        np.testing.assert_allclose(one, other, rtol=close, atol=tolerance, err_msg=path)
    else:
        np.testing.assert_array_equal(one, other, err_msg=path, strict=isinstance(one, np.ndarray))
