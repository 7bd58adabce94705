"""Comparison of the presets hunt, id3, c45 and cart on one table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.compare.table import NamedRows, align_columns
from ceiba.tree.config import PRESETS, TreeConfig
from ceiba.tree.explain.conditions import branch_text
from ceiba.tree.model.tree import Tree

ORDER = ("hunt", "id3", "c45", "cart")
_HEADINGS = {
    "nodes": "n_nodes", "leaves": "n_leaves", "depth": "depth", "grown leaves": "grown_leaves",
    "training error": "error", "root": "root",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonTable(NamedRows):
    """Rows with names, and the fitted estimator of each."""

    models: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PresetRow:
    """Size, error and settings of the tree of one preset.

    Parameters
    ----------
    name : str
    n_nodes, n_leaves, depth : int
    grown_leaves : int
        Leaves before pruning.
    error : float
        Misclassified fraction of the training weight.
    root : str
        Condition of the first branch of the root.
    settings : dict
        Parameters in which the presets differ, with the values of this one.
    """

    name: str
    n_nodes: int
    n_leaves: int
    depth: int
    grown_leaves: int
    error: float
    root: str
    settings: dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class PresetTable(ComparisonTable):
    """Table of presets; it prints as aligned text, with a column for each preset.

    Parameters
    ----------
    rows : tuple of PresetRow
    models : dict
        Fitted classifiers, by preset.
    """

    def __str__(self) -> str:
        lines = [["", *(row.name for row in self.rows)]]
        for heading, name in _HEADINGS.items():
            lines.append([heading, *(_format(getattr(row, name)) for row in self.rows)])
        settings = self.rows[0].settings if self.rows else {}
        lines += [[name, *(_format(row.settings[name]) for row in self.rows)] for name in settings]
        return align_columns(lines)


def compare_presets(
    X: Any, y: Any, *, presets: Sequence[str] = ORDER, sample_weight: Any = None, **options: Any
) -> PresetTable:
    """Fit the presets hunt, id3, c45 and cart to one table and compare them.

    Parameters
    ----------
    X, y, sample_weight
        As in ``DecisionTreeClassifier.fit``.
    presets : sequence of str
        Presets to compare, in order.
    **options
        Other parameters of `ceiba.DecisionTreeClassifier`, the same for all.

    Returns
    -------
    PresetTable

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.tree import compare_presets
    >>> weather = datasets.load("weather_nominal")
    >>> table = compare_presets(weather.table, weather.y)
    >>> [(row.name, row.n_leaves, row.root) for row in table][1:3]
    [('id3', 5, 'outlook = overcast'), ('c45', 5, 'outlook = overcast')]
    """
    if "algorithm" in options:
        raise ValueError("'algorithm' has no effect here: pass the algorithms as presets.")
    unknown = [name for name in presets if name not in PRESETS]
    if unknown or not presets:
        raise ValueError(f"presets must be a non-empty sequence of {ORDER}, got {presets!r}.")
    models: dict[str, Any] = {
        name: DecisionTreeClassifier(algorithm=name, **options).fit(  # type: ignore[arg-type]
            X, y, sample_weight=sample_weight
        )
        for name in presets
    }
    configs = {name: asdict(TreeConfig.from_estimator(model)) for name, model in models.items()}
    differing = [
        field
        for field in next(iter(configs.values()))
        if len({config[field] for config in configs.values()}) > 1
    ]
    rows = []
    for name, model in models.items():
        settings = {field: configs[name][field] for field in differing}
        tree, error = model.tree_, float(1 - model.score(X, y, sample_weight))
        sizes = tree.n_nodes, tree.n_leaves, tree.max_depth, model.grown_tree_.n_leaves
        rows.append(PresetRow(name, *sizes, error, _root_text(tree), settings))
    return PresetTable(tuple(rows), models)


def _root_text(tree: Tree) -> str:
    if tree.n_nodes == 1:
        return "leaf"
    split = tree.split(0)
    return branch_text(split, 0, tree.schema[split.column]).removesuffix(" or missing")


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)
