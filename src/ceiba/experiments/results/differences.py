"""Differences between learners: tests on one dataset, and ranks over several.

All are computed from the raw predictions of a comparison, by the functions of `ceiba.inference`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.experiments.compare import Comparison, FoldResult
from ceiba.experiments.protocols import KFold, Protocol
from ceiba.experiments.results.scores import (
    Predictions,
    Score,
    UndefinedScoreError,
    default_score,
    get_score,
    pool,
)
from ceiba.inference import (
    HypothesisTest,
    RankComparison,
    RopeProbabilities,
    average_ranks,
    bayesian_correlated_t,
    bayesian_signed_rank,
    compare_all_pairs,
    compare_with_control,
    corrected_t_test,
    five_by_two_t_test,
    friedman_test,
    mann_whitney_test,
    mcnemar_test,
    nemenyi_critical_difference,
    paired_t_test,
    rank_groups,
    wilcoxon_test,
)

TestMethod = Literal["corrected_t", "paired_t", "mann_whitney", "wilcoxon", "5x2cv", "mcnemar"]
_OF_FOLDS: dict[str, Callable[..., HypothesisTest]] = {
    "paired_t": paired_t_test,
    "mann_whitney": mann_whitney_test,
    "wilcoxon": wilcoxon_test,
}
TEST_METHODS = ("corrected_t", *_OF_FOLDS, "5x2cv", "mcnemar")


def learner_test(
    comparison: Comparison,
    first: str,
    second: str,
    *,
    dataset: str | None = None,
    score: str | None = None,
    test: TestMethod = "corrected_t",
) -> HypothesisTest:
    """Test whether two learners have the same score on a dataset.

    Parameters
    ----------
    comparison : Comparison
    first, second : str
        Names of the learners.
    dataset : str, optional
        Required if there are several.
    score : str, optional
        By default accuracy, or R² of a regression.
    test : {"corrected_t", "paired_t", "mann_whitney", "wilcoxon", "5x2cv", "mcnemar"}
        Over the folds; ``"5x2cv"`` requires the protocol ``"5x2-fold"``. ``"mcnemar"`` is over the
        rows, which must be tested once, and of the accuracy or error.

    Returns
    -------
    HypothesisTest

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare, learner_test
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, "wine", protocol="10-fold")
    >>> print(learner_test(results, "naive Bayes", "tree"))
    corrected resampled t: statistic 2.885, p = 0.018, n = 10
    >>> print(learner_test(results, "naive Bayes", "tree", test="mcnemar"))
    McNemar, exact: statistic 0, p = 3.81e-06, n = 178
    """
    chosen = get_score(score or default_score(comparison.task))
    name = comparison.dataset_name(dataset)
    one, other = comparison.of(name, first), comparison.of(name, second)
    return fold_test(chosen, test, one, other)


def check_test(score: Score, test: str, protocol: Protocol) -> None:
    """Raise if a score or protocol does not allow a test."""
    if test not in TEST_METHODS:
        raise ValueError(f"test must be one of {', '.join(TEST_METHODS)}, got {test!r}.")
    shape = (protocol.n_repeats, protocol.n_splits) if isinstance(protocol, KFold) else None
    if test == "5x2cv" and shape != (5, 2):
        raise ValueError(f"test='5x2cv' requires protocol='5x2-fold', got {protocol.to_text()!r}.")
    if test == "mcnemar" and score.name not in ("accuracy", "error"):
        raise ValueError(f"test='mcnemar' requires score='accuracy', got {score.name!r}.")
    if test == "mcnemar" and getattr(protocol, "n_repeats", 1) > 1:
        raise ValueError(
            "test='mcnemar' requires that every row is tested once, got protocol "
            f"{protocol.to_text()!r}."
        )


def fold_test(
    score: Score, test: str, first: Sequence[FoldResult], second: Sequence[FoldResult]
) -> HypothesisTest:
    """Test two learners, given their results on the same folds."""
    if test not in TEST_METHODS:
        raise ValueError(f"test must be one of {', '.join(TEST_METHODS)}, got {test!r}.")
    if test == "mcnemar":
        return _mcnemar(score, first, second)
    one, other = fold_values(score, first), fold_values(score, second)
    if test == "corrected_t":
        return corrected_t_test(one, other, *fold_sizes(first))
    if test == "5x2cv":
        if [(fold.unit.repeat, fold.unit.fold) for fold in first] != [
            (repeat, fold) for repeat in range(5) for fold in range(2)
        ]:
            raise ValueError("test='5x2cv' requires protocol='5x2-fold'.")
        return five_by_two_t_test(one.reshape(5, 2), other.reshape(5, 2))
    return _OF_FOLDS[test](one, other)


def _mcnemar(
    score: Score, first: Sequence[FoldResult], second: Sequence[FoldResult]
) -> HypothesisTest:
    if score.name not in ("accuracy", "error"):
        raise ValueError(f"test='mcnemar' requires score='accuracy', got {score.name!r}.")
    if not has_distinct_rows(first):
        raise ValueError(
            "test='mcnemar' requires that every row is tested once: use folds without repeats, or "
            "one hold-out."
        )
    pooled = [pool([_predictions(fold) for fold in folds]) for folds in (first, second)]
    correct = [rows.true_codes == rows.predicted_codes for rows in pooled]
    return mcnemar_test(*correct)


def fold_values(score: Score, folds: Sequence[FoldResult]) -> Array:
    """Return the score of each fold; raise `UndefinedScoreError` if one has none."""
    values = []
    for fold in folds:
        value = score(_predictions(fold))
        if value.value is None:
            raise UndefinedScoreError(value.reason)
        values.append(value.value)
    return np.array(values)


def _predictions(fold: FoldResult) -> Predictions:
    predictions = fold.predictions
    if predictions is None:
        raise UndefinedScoreError(fold.result.error or "failed")
    return predictions


def has_distinct_rows(folds: Sequence[FoldResult]) -> bool:
    """Return whether no row is tested in two folds."""
    tests = np.concatenate([fold.unit.test for fold in folds])
    return len(np.unique(tests)) == len(tests)


def fold_sizes(folds: Sequence[FoldResult]) -> tuple[float, float]:
    """Return the mean numbers of training and test rows."""
    return (
        float(np.mean([len(fold.unit.train) for fold in folds])),
        float(np.mean([len(fold.unit.test) for fold in folds])),
    )


def practical_difference(
    comparison: Comparison,
    first: str,
    second: str,
    *,
    dataset: str | None = None,
    score: str | None = None,
    rope: float = 0.01,
) -> RopeProbabilities:
    """Compute the probabilities that the score of a learner is greater, equivalent or less.

    Parameters
    ----------
    comparison : Comparison
    first, second : str
        Names of the learners.
    dataset : str, optional
        The folds of this dataset, by the Bayesian correlated t; by default the mean scores of all
        datasets, by the Bayesian signed rank.
    score : str, optional
        By default accuracy, or R² of a regression.
    rope : float
        Scores that differ by at most this are equivalent in practice.

    Returns
    -------
    RopeProbabilities
        ``right`` is the probability that the first is greater by more than ``rope``, which is
        better for an accuracy and worse for a loss.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare, practical_difference
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, "wine", protocol="10-fold")
    >>> print(practical_difference(results, "naive Bayes", "tree"))
    left 0.006, rope 0.008, right 0.986
    """
    chosen = get_score(score or default_score(comparison.task))
    if dataset is not None or len(comparison.datasets) == 1:
        name = comparison.dataset_name(dataset)
        one, other = comparison.of(name, first), comparison.of(name, second)
        values = fold_values(chosen, one), fold_values(chosen, other)
        return bayesian_correlated_t(*values, *fold_sizes(one), rope=rope)
    tables = [table.name for table in comparison.datasets]
    return bayesian_signed_rank(
        [_mean(comparison, chosen, table, first) for table in tables],
        [_mean(comparison, chosen, table, second) for table in tables],
        rope=rope,
    )


def _mean(comparison: Comparison, score: Score, dataset: str, learner: str) -> float:
    try:
        return float(fold_values(score, comparison.of(dataset, learner)).mean())
    except UndefinedScoreError as error:
        raise ValueError(f"{learner} has no {score.name} on {dataset}: {error}") from error


@dataclass(frozen=True)
class Ranking:
    """Ranks of learners over datasets.

    Parameters
    ----------
    score : Score
    learners : tuple of str
        The best average rank first.
    ranks : tuple of float
        Their average ranks; 1 is the best on all datasets.
    n_datasets : int
    friedman : HypothesisTest
        Whether all learners have the same average rank.
    critical_difference : float
        Nemenyi's, at 5 %: average ranks that differ by more are different.
    groups : tuple of tuple of str
        Learners whose ranks are not different by Nemenyi's test.
    comparisons : tuple of RankComparison
        With the control, or of all pairs; indices as in ``learners``.
    control : str or None
    """

    score: Score
    learners: tuple[str, ...]
    ranks: tuple[float, ...]
    n_datasets: int
    friedman: HypothesisTest
    critical_difference: float
    groups: tuple[tuple[str, ...], ...]
    comparisons: tuple[RankComparison, ...]
    control: str | None = None

    def __str__(self) -> str:
        width = max(len(name) for name in self.learners)
        adjusted = {pair.first: pair.adjusted_p_value for pair in self.comparisons}
        lines = [f"Average ranks, {self.score.label}, {self.n_datasets} datasets"]
        for index, (name, rank) in enumerate(zip(self.learners, self.ranks, strict=True)):
            against = ""
            if self.control is not None and name != self.control:
                against = f"  p = {adjusted[index]:.3g} against {self.control} (Holm)"
            lines.append(f"{name:{width}}  {rank:.2f}{against}")
        lines.append(str(self.friedman))
        lines.append(f"Nemenyi's critical difference at 5 %: {self.critical_difference:.2f}")
        return "\n".join(lines)


def rank_learners(
    comparison: Comparison, score: str | None = None, *, control: str | None = None
) -> Ranking:
    """Rank the learners over the datasets of a comparison.

    Parameters
    ----------
    comparison : Comparison
        Of at least two datasets and two learners, none of which failed.
    score : str, optional
        By default accuracy, or R² of a regression.
    control : str, optional
        Learner that the others are compared with by Holm's method; without it all pairs are.

    Returns
    -------
    Ranking

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier
    >>> from ceiba.experiments import compare, rank_learners
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, ["iris", "wine", "vote", "glass"], protocol="5-fold")
    >>> print(rank_learners(results, control="tree"))
    Average ranks, Accuracy, 4 datasets
    tree         1.38
    naive Bayes  1.62  p = 0.617 against tree (Holm)
    Friedman, F: statistic 0.2727, p = 0.638, n = 4
    Nemenyi's critical difference at 5 %: 0.98
    """
    chosen = get_score(score or default_score(comparison.task))
    names = [learner.name for learner in comparison.learners]
    if len(names) < 2 or len(comparison.datasets) < 2:
        raise ValueError(
            "Ranks require at least two learners and two datasets, got "
            f"{len(names)} and {len(comparison.datasets)}."
        )
    if control is not None and control not in names:
        raise ValueError(f"control must be one of {', '.join(names)}, got {control!r}.")
    scores = np.array([
        [_mean(comparison, chosen, table.name, name) for name in names]
        for table in comparison.datasets
    ])  # fmt: skip
    greater_is_better = chosen.check_direction()
    ranks = average_ranks(scores, greater_is_better)
    order = np.argsort(ranks, kind="stable")
    ordered = [names[index] for index in order]
    scores, ranks = scores[:, order], ranks[order]
    difference = nemenyi_critical_difference(len(names), len(scores))
    if control is None:
        comparisons = compare_all_pairs(scores, greater_is_better)
    else:
        index = ordered.index(control)
        comparisons = compare_with_control(scores, index, greater_is_better)
    groups = [tuple(ordered[i] for i in group) for group in rank_groups(ranks, difference)]
    return Ranking(
        chosen,
        tuple(ordered),
        tuple(ranks.tolist()),
        len(scores),
        friedman_test(scores),
        difference,
        tuple(groups),
        comparisons,
        control,
    )
