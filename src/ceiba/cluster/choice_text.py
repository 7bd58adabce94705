"""A choice of the number of clusters as aligned text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ceiba.cluster.distance import Array

if TYPE_CHECKING:
    from ceiba.cluster.choose import ClusterChoice

# Column of the table -> heading; the index that marks a row in it.
_HEADINGS = {
    "inertia": ("inertia", "elbow"),
    "silhouette": ("silhouette", "silhouette"),
    "calinski_harabasz": ("Calinski-Harabasz", "calinski_harabasz"),
    "davies_bouldin": ("Davies-Bouldin", "davies_bouldin"),
    "gap": ("gap", "gap"),
}


def describe(choice: ClusterChoice) -> str:
    """The table with the k of each index starred, and how the figures were made."""
    shown = [name for name in _HEADINGS if name != "gap" or choice.n_references]
    columns = [_column("k", [str(k) for k in choice.table["k"]])]
    columns += [_index_column(choice, name) for name in shown]
    lines = ["   ".join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return "\n".join([*lines, "", *_notes(choice)])


def _index_column(choice: ClusterChoice, name: str) -> list[str]:
    heading, index = _HEADINGS[name]
    values = choice.table[name]
    cells = _numbers(values)
    error = {"silhouette": "silhouette_se", "gap": "gap_se"}.get(name)
    if error is not None and np.nanmax(choice.table[error], initial=0.0) > 0:
        cells = _with_errors(cells, values, choice.table[error])
    chosen = choice.best.get(index)
    marks = ["*" if k == chosen else " " for k in choice.table["k"]]
    return _column(heading, [cell + mark for cell, mark in zip(cells, marks, strict=True)], " ")


def _with_errors(cells: list[str], values: Array, errors: Array) -> list[str]:
    width = len("± 0.000")
    return [
        cell + " " + (f"± {error:.3f}" if np.isfinite(value) else " " * width)
        for cell, value, error in zip(cells, values, errors, strict=True)
    ]


def _numbers(values: Array) -> list[str]:
    """Numbers to five digits of the largest, three decimals at most; "–" where there is none."""
    finite = np.abs(values[np.isfinite(values)])
    digits = int(np.floor(np.log10(finite.max()))) + 1 if finite.size and finite.max() else 1
    form = f".{min(max(5 - digits, 0), 3)}f" if -1 < digits < 9 else ".3e"
    return ["–" if np.isnan(value) else format(value, form) for value in values]


def _column(heading: str, cells: list[str], after: str = "") -> list[str]:
    """Cells under their heading, flush right; ``after`` keeps the heading off the marks."""
    width = max(len(heading + after), *(len(cell) for cell in cells))
    return [(heading + after).rjust(width), *(cell.rjust(width) for cell in cells)]


def _notes(choice: ClusterChoice) -> list[str]:
    chosen = ", ".join(f"{_title(index)} {k}" for index, k in choice.best.items())
    lines = [f"* chosen: {chosen}" if chosen else "no index proposes a number of clusters"]
    if choice.n_sampled == choice.n_rows:
        lines.append(f"silhouette: exact, all {choice.n_rows:,} rows")
    else:
        lines.append(
            f"silhouette: sampled, {choice.n_sampled:,} of {choice.n_rows:,} rows, ± standard error"
        )
    return lines + _gap_notes(choice)


def _gap_notes(choice: ClusterChoice) -> list[str]:
    if not choice.n_references:
        return []
    over = {"box": "the box of the columns", "pca": "the box of the principal components"}
    lines = [f"gap: {choice.n_references} references uniform over {over[choice.reference]}, ± s(k)"]
    if len(choice.table["k"]) > 1 and choice.best.get("gap") == choice.table["k"][-1]:
        lines.append("gap: still rising at the largest k; try more clusters")
    return lines


def _title(index: str) -> str:
    return _HEADINGS[index][0] if index in _HEADINGS else index
