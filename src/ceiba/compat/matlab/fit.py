"""What `fitctree` and `fitrtree` share: from options to a grown tree."""

from __future__ import annotations

from typing import Any, TypeVar

from ceiba.compat.matlab.fitted_tree import FittedTree
from ceiba.compat.matlab.leaves import mergeable, surplus
from ceiba.compat.matlab.name_value import NameValue
from ceiba.compat.matlab.predictors import without
from ceiba.data.schema import Kind
from ceiba.data.table import Table
from ceiba.tree.prune.risk import leaf_risks

SHARED_OPTIONS = (
    "CategoricalPredictors", "MaxNumSplits", "MergeLeaves", "MinLeafSize", "MinParentSize",
    "PredictorNames", "PredictorSelection", "Prune", "PruneCriterion", "ResponseName",
    "SplitCriterion", "Surrogate", "Weights",
)  # fmt: skip
_View = TypeVar("_View", bound=FittedTree)
_ALL = 10**6
_ON = 10


def opened(X: Any, Y: Any) -> tuple[Table, Any, str]:
    """The predictors, the response and its name; ``Y`` may name a column of ``X``."""
    table = Table.of(X)
    if not isinstance(Y, str):
        return table, Y, "Y"
    if "~" in Y:
        raise ValueError(f"Y={Y!r}: formulas are not read; name the response and PredictorNames")
    rest, response = without(table, Y)
    return rest, response, Y


def growth(options: NameValue) -> dict[str, Any]:
    """Parameters of Ceiba's estimator that the options stand for."""
    options.word("PredictorSelection", ["allsplits"], "allsplits")
    least = options.count("MinLeafSize", 1)
    return {
        "min_samples_leaf": least,
        "min_samples_split": max(options.count("MinParentSize", 10), 2 * least),
        "missing": "surrogate",
        "max_surrogates": surrogates(options),
        "growth": "level_wise",
    }


def surrogates(options: NameValue) -> int:
    """Most surrogate splits of a node."""
    asked = options.of("Surrogate", "off")
    if isinstance(asked, str) and asked.lower() == "all":
        return _ALL
    if isinstance(asked, str | bool):
        return _ON if options.switch("Surrogate", False) else 0
    return options.count("Surrogate", 0)


def finished(view: _View, options: NameValue) -> _View:
    """The tree with no more splits than asked for, and leaves merged that gain nothing."""
    most = options.count("MaxNumSplits", max(view.NumObservations - 1, 1), 0)
    view = view.cut_at(surplus(view.tree, most))
    if options.switch("MergeLeaves", True):
        view = view.cut_at(mergeable(view.tree, leaf_risks(view.tree, view.risk)))
    return view


def check_levels(options: NameValue, table: Table, ordered: bool) -> None:
    """Refuse ways of grouping levels other than Ceiba's.

    ``ordered`` says that a best grouping lies on one order of the levels: two classes, or numbers.
    """
    if options.count("MaxNumCategories", _ON, 0) != _ON:
        raise ValueError(
            f"MaxNumCategories is {_ON} here: up to {_ON} levels every grouping is tried"
        )
    asked = options.of("AlgorithmForCategorical")
    if asked is None:
        return
    widths = [len(c.levels) for c in table.schema if c.kind is Kind.NOMINAL]
    word = str(asked).lower()
    if word == "exact" and (ordered or max(widths, default=0) <= _ON):
        return
    if word == "pca" and not ordered and min(widths, default=_ON + 1) > _ON:
        return
    raise ValueError(
        f"AlgorithmForCategorical={asked!r} is not what Ceiba does here: it is 'Exact' for two "
        f"classes or up to {_ON} levels, and 'PCA' for more of both; leave the option out"
    )
