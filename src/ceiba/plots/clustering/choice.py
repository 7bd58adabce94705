"""Draw the choice of a number of clusters: each index against k."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.cluster.selection.choose import ClusterChoice
from ceiba.plots import style
from ceiba.plots.docstrings import documented

__all__ = ["cluster_choice"]

# Index -> column of the table, its error column, title, name among all proposals.
_PANELS = {
    "elbow": ("inertia", None, "Inertia (elbow)", "elbow"),
    "silhouette": ("silhouette", "silhouette_se", "Silhouette (max)", "silhouette"),
    "calinski_harabasz": (
        "calinski_harabasz", None, "Calinski-Harabasz (max)", "Calinski-\nHarabasz"
    ),
    "davies_bouldin": ("davies_bouldin", None, "Davies-Bouldin (min)", "Davies-\nBouldin"),
    "gap": ("gap", "gap_se", "Gap ± s (one-error rule)", "gap"),
}  # fmt: skip


@documented
def cluster_choice(choice: ClusterChoice, *, figure: Any = None) -> Any:
    """Draw each index against the number of clusters and mark the proposed k.

    Parameters
    ----------
    choice : ClusterChoice
        Result of `ceiba.cluster.choose_n_clusters`.
    {figure}

    Returns
    -------
    Figure
        Five panels (four without the gap statistic), and a last one with all proposals.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import plots
    >>> from ceiba.cluster import choose_n_clusters
    >>> X = np.concatenate([np.arange(20.0), 100 + np.arange(20.0)])[:, None]
    >>> picture = plots.cluster_choice(choose_n_clusters(X, range(1, 5)))
    >>> len(picture.axes)
    6
    """
    figure = figure or style.new_figure(9.6, 5.4)
    panels = [index for index in _PANELS if index != "gap" or choice.n_references]
    axes = figure.subplots(2, 3).ravel()
    for ax, index in zip(axes, panels, strict=False):
        _draw_index(ax, choice, index)
    _draw_proposals(axes[len(panels)], choice, panels)
    for ax in axes[len(panels) + 1 :]:
        ax.remove()
    return figure


def _draw_index(ax: Any, choice: ClusterChoice, index: str) -> None:
    column, error, title, _ = _PANELS[index]
    ks, values = choice.table["k"], choice.table[column]
    shown = np.isfinite(values)
    if error is not None and np.nanmax(choice.table[error], initial=0.0) > 0:
        ax.errorbar(
            ks[shown], values[shown], choice.table[error][shown], fmt="none", ecolor=style.MUTED,
            elinewidth=1.2, capsize=3, capthick=1.2,
        )  # fmt: skip
    ax.plot(ks[shown], values[shown], "-o", color=style.PALETTE[0], linewidth=1.6, markersize=4.5)
    if index == "elbow" and index in choice.best:
        ends = [0, -1]
        ax.plot(ks[ends], values[ends], "--", color=style.MUTED, linewidth=1)
    style.style_axes(ax, title=title, x="k", grid="y")
    style.plain_numbers(ax)
    _mark_proposal(ax, choice, index, values)
    _set_ticks(ax, ks)


def _mark_proposal(ax: Any, choice: ClusterChoice, index: str, values: Any) -> None:
    """Mark the proposed k; an infinite value is marked at the top."""
    k = choice.best.get(index)
    if k is None:
        ax.text(
            0.5, 0.5, "no proposal", transform=ax.transAxes, ha="center", va="center",
            color=style.MUTED, fontsize=style.LABEL_SIZE,
        )  # fmt: skip
        return
    value = values[np.flatnonzero(choice.table["k"] == k)[0]]
    ax.axvline(k, color=style.ACCENT, linewidth=1, alpha=0.5, zorder=1)
    if np.isfinite(value):
        ax.plot(k, value, "o", color=style.ACCENT, markersize=8, zorder=4)
    else:
        ax.text(
            k, 0.92, " ∞", transform=ax.get_xaxis_transform(), color=style.ACCENT, fontsize=14,
            va="center",
        )  # fmt: skip
    style.set_note(ax, f"k = {k}", style.ACCENT, weight="bold")


def _draw_proposals(ax: Any, choice: ClusterChoice, panels: list[str]) -> None:
    """Draw one line per index with a dot at its k."""
    for line, index in enumerate(panels):
        if index in choice.best:
            ax.plot(choice.best[index], line, "o", color=style.ACCENT, markersize=8)
    ax.set_yticks(range(len(panels)), [_PANELS[index][-1] for index in panels])
    ax.set_ylim(len(panels) - 0.5, -0.5)
    style.style_axes(ax, title="All proposals", x="k", grid="both")
    ax.tick_params(axis="y", length=0, labelcolor=style.INK)
    _set_ticks(ax, choice.table["k"])


def _set_ticks(ax: Any, ks: Any) -> None:
    """Set the same range in every panel, with at most ten ticks, all at tried k."""
    margin = max(0.5, 0.04 * (ks[-1] - ks[0]))
    ax.set_xlim(ks[0] - margin, ks[-1] + margin)
    ax.set_xticks(ks[:: -(-len(ks) // 10)])
