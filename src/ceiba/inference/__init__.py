"""Confidence intervals of results, and tests of the difference between learners."""

from ceiba.inference.bayesian import (
    RopeProbabilities,
    bayesian_correlated_t,
    bayesian_signed_rank,
)
from ceiba.inference.bootstrap import bootstrap_interval
from ceiba.inference.intervals import (
    Interval,
    clopper_pearson,
    corrected_t_interval,
    t_interval,
    wilson,
)
from ceiba.inference.pairwise import (
    HypothesisTest,
    corrected_t_test,
    five_by_two_t_test,
    mann_whitney_test,
    mark,
    mcnemar_test,
    paired_t_test,
    wilcoxon_test,
)
from ceiba.inference.rankings import (
    RankComparison,
    average_ranks,
    compare_all_pairs,
    compare_with_control,
    friedman_test,
    holm,
    nemenyi_critical_difference,
    rank_groups,
)

__all__ = [
    "HypothesisTest",
    "Interval",
    "RankComparison",
    "RopeProbabilities",
    "average_ranks",
    "bayesian_correlated_t",
    "bayesian_signed_rank",
    "bootstrap_interval",
    "clopper_pearson",
    "compare_all_pairs",
    "compare_with_control",
    "corrected_t_interval",
    "corrected_t_test",
    "five_by_two_t_test",
    "friedman_test",
    "holm",
    "mann_whitney_test",
    "mark",
    "mcnemar_test",
    "nemenyi_critical_difference",
    "paired_t_test",
    "rank_groups",
    "t_interval",
    "wilcoxon_test",
    "wilson",
]
