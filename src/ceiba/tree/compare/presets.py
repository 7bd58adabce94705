"""Comparison of the presets hunt, id3, c45 and cart on one table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.config import PRESETS, TreeConfig
from ceiba.tree.explain.conditions import branch_text

ORDER = ("hunt", "id3", "c45", "cart")
_HEADINGS = {
    "nodes": "n_nodes", "leaves": "n_leaves", "depth": "depth", "grown leaves": "grown_leaves",
    "training error": "error", "root": "root",
}  # fmt: skip


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonTable:
    """Rows with names, and the fitted estimator of each."""

    rows: tuple[Any, ...]
    models: dict[str, Any]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.rows)

    def __getitem__(self, name: str) -> Any:
        for row in self.rows:
            if row.name == name:
                return row
        names = ", ".join(repr(row.name) for row in self.rows)
        raise KeyError(f"no row has the name {name!r}; the names are {names}")

    def __repr__(self) -> str:
        return str(self)


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
        return _align(lines)


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
    models = {
        name: DecisionTreeClassifier(algorithm=name, **options).fit(  # type: ignore[arg-type]
            X, y, sample_weight=sample_weight
        )
        for name in presets
    }
    resolved = {name: TreeConfig.from_estimator(model) for name, model in models.items()}
    differing = _differing_fields(list(resolved.values()))
    rows = []
    for name, model in models.items():
        settings = {field: getattr(resolved[name], field) for field in differing}
        rows.append(_row(name, model, settings, 1 - model.score(X, y, sample_weight)))
    return PresetTable(tuple(rows), models)


def _differing_fields(resolved: list[TreeConfig]) -> list[str]:
    names = TreeConfig.__dataclass_fields__
    return [name for name in names if len({getattr(each, name) for each in resolved}) > 1]


def _row(
    name: str, model: DecisionTreeClassifier, settings: dict[str, Any], error: float
) -> PresetRow:
    tree = model.tree_
    root = "leaf"
    if tree.n_nodes > 1:
        split = tree.split(0)
        root = branch_text(split, 0, tree.schema[split.column]).removesuffix(" or missing")
    grown = model.grown_tree_.n_leaves
    return PresetRow(
        name, tree.n_nodes, tree.n_leaves, tree.max_depth, grown, float(error), root, settings
    )


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _align(lines: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
