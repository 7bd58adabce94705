"""The presets side by side: one table, four trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.explain.conditions import condition
from ceiba.tree.presets import PRESETS, Options, options_of

ORDER = ("hunt", "id3", "c45", "cart")


@dataclass(frozen=True, slots=True)
class PresetRow:
    """One preset's tree.

    Parameters
    ----------
    name : str
    n_nodes, n_leaves, depth : int
    grown_leaves : int
        Leaves before pruning.
    error : float
        Share of the training weight that it misclassifies.
    root : str
        What the root tests: its column, and its first branch.
    settings : dict
        The settings in which the presets differ, as this one has them.
    """

    name: str
    n_nodes: int
    n_leaves: int
    depth: int
    grown_leaves: int
    error: float
    root: str
    settings: dict[str, Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PresetTable:
    """Trees of the presets on one table; printed, they stand side by side.

    Parameters
    ----------
    rows : tuple of PresetRow
    models : dict
        The fitted classifiers, by preset.
    """

    rows: tuple[PresetRow, ...]
    models: dict[str, DecisionTreeClassifier]

    def __iter__(self) -> Iterator[PresetRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return str(self)

    def __getitem__(self, name: str) -> PresetRow:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is not among {', '.join(row.name for row in self.rows)}")

    def __str__(self) -> str:
        facts = ("n_nodes", "n_leaves", "depth", "grown_leaves", "error", "root")
        lines = [["", *(row.name for row in self.rows)]]
        named = {"n_nodes": "nodes", "n_leaves": "leaves", "error": "training error"}
        lines += [
            [
                named.get(fact, fact.replace("_", " ")),
                *(_shown(getattr(row, fact)) for row in self.rows),
            ]
            for fact in facts
        ]
        for name in self.rows[0].settings if self.rows else ():
            lines.append([name, *(_shown(row.settings[name]) for row in self.rows)])
        return _aligned(lines)


def compare_presets(
    X: Any, y: Any, *, presets: Sequence[str] = ORDER, sample_weight: Any = None, **options: Any
) -> PresetTable:
    """Fit hunt, id3, c45 and cart to one table and put them side by side.

    Parameters
    ----------
    X, y, sample_weight
        As in ``DecisionTreeClassifier.fit``.
    presets : sequence of str
        Those to compare, in order.
    **options
        Parameters of `ceiba.DecisionTreeClassifier` that all of them get.

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
        raise ValueError("the algorithms are what is compared: name them as presets=")
    unknown = [name for name in presets if name not in PRESETS]
    if unknown or not presets:
        raise ValueError(f"presets must be some of {', '.join(ORDER)}, and not {unknown}")
    models = {
        name: DecisionTreeClassifier(algorithm=name, **options).fit(  # type: ignore[arg-type]
            X, y, sample_weight=sample_weight
        )
        for name in presets
    }
    settled = {name: options_of(model) for name, model in models.items()}
    different = _different(list(settled.values()))
    rows = [
        _row(name, model, {setting: getattr(settled[name], setting) for setting in different},
             1 - model.score(X, y, sample_weight))
        for name, model in models.items()
    ]  # fmt: skip
    return PresetTable(tuple(rows), models)


def _different(settled: list[Options]) -> list[str]:
    names = Options.__dataclass_fields__
    return [name for name in names if len({getattr(each, name) for each in settled}) > 1]


def _row(
    name: str, model: DecisionTreeClassifier, settings: dict[str, Any], error: float
) -> PresetRow:
    tree = model.tree_
    root = "a leaf"
    if tree.n_nodes > 1:
        split = tree.split(0)
        root = condition(split, 0, tree.schema[split.column]).removesuffix(" or missing")
    grown = model.grown_tree_.n_leaves
    return PresetRow(
        name, tree.n_nodes, tree.n_leaves, tree.max_depth, grown, float(error), root, settings
    )


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def _aligned(lines: list[list[str]]) -> str:
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
