"""Draw the decision regions of a classifier by neighbors for several numbers of neighbors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine.local import effective_threads
from ceiba.neighbors import KNeighborsClassifier
from ceiba.neighbors.partitioned import PartitionedIndex
from ceiba.neighbors.searching import SearchCount, check_n_neighbors, search
from ceiba.neighbors.votes import class_votes, neighbor_weights
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.neighbors.view import check_classifier
from ceiba.plots.planes.regions import draw_classes, draw_grid, grid_points
from ceiba.plots.planes.section import Section, class_codes, pale_colors
from ceiba.plots.projection import sample_rows

_DEFAULT = (1, 5, 25, 125)
# All rows as neighbors are a panel of their own up to this number of rows.
_MAX_ALL = 1_000
# Rows that the leave-one-out accuracy is computed of.
_MAX_LEFT_OUT = 20_000
# Bytes of the lists of neighbors that are kept at a time.
_BLOCK_BYTES = 2**26


@documented
def regions_by_k(
    model: Any,
    X: Any,
    y: Any = None,
    n_neighbors: Sequence[int] | None = None,
    *,
    columns: Sequence[str | int] | None = None,
    resolution: int = 200,
    probabilities: bool = False,
    figure: Any = None,
    max_points: int = 2_000,
    random_state: Any = 0,
) -> Any:
    """Draw the regions of a classifier by neighbors side by side for several numbers of neighbors.

    With one neighbor every training row has a region of its own: none is misclassified, unless it
    has the values of another one, and the boundary changes with the sample of rows (variance). With
    all rows as neighbors the prediction is the most frequent class everywhere (bias). Above each
    panel are the accuracy on the rows of ``X`` and, for training rows in memory, the leave-one-out
    accuracy. All panels are from one search of the largest number of neighbors.

    Parameters
    ----------
    model : fitted KNeighborsClassifier
        Its metric and weights are used; its own number of neighbors is not.
    {section_rows}
    y : array of shape (n_rows,), optional
        Classes of the rows; misclassified rows are ringed. Without them the rows are gray.
    n_neighbors : sequence of int, optional
        Numbers of neighbors, one panel each. By default 1, 5, 25 and 125, as far as there are more
        training rows, and all of them if they are at most 1,000.
    {columns}
    resolution : int
        Grid points along each axis.
    probabilities : bool
        Mix the class colors by the votes instead of showing the predicted class.
    {figure}
    {sample}

    {picture}

    Examples
    --------
    >>> from ceiba import KNeighborsClassifier, datasets, plots
    >>> X, y = datasets.load("two_moons")
    >>> model = KNeighborsClassifier().fit(X, y)
    >>> picture = plots.regions_by_k(model, X, y, (1, 15, 200), resolution=50)
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['k = 1', 'k = 15', 'k = 200']
    """
    model = check_classifier(model)
    ks = _numbers(n_neighbors, model.n_samples_fit_)
    if resolution < 2:
        raise ValueError(f"resolution must be at least 2, got {resolution}.")
    section = Section.of(model, X, columns)
    codes = None if y is None else class_codes(model, y, len(section.points))
    drawn = section.sample(max_points, random_state)
    points = grid_points(section, resolution)
    blocks = (section.rows(part) for part in _parts(points, max(ks)))
    votes = _votes_by_k(model, (model.kneighbors(block, max(ks)) for block in blocks), ks)
    predictions = [] if codes is None else _predictions(model, section, ks)
    axes = style.panel_grid(figure, len(ks), 3, (3.3, 3.3))
    for index, (ax, k) in enumerate(zip(axes, ks, strict=True)):
        shares = votes[index] if probabilities else _winners(votes[index])
        draw_grid(ax, section, pale_colors(shares))
        section.label_axes(ax, "", max_name=40)
        style.set_title(ax, f"k = {k:,}")
        ax.locator_params(nbins=6)
        if codes is not None:
            predicted, left_out = predictions[index]
            draw_classes(ax, model.classes_, section.points, codes, predicted, drawn)
            style.set_note(ax, _note(predicted == codes, left_out), fontsize=style.TICK_SIZE)
        else:
            ax.scatter(
                *section.points[drawn].T, c=style.MUTED, s=style.point_size(len(drawn)),
                edgecolors="white", linewidths=0.6, zorder=2,
            )  # fmt: skip
    style.label_outer(axes)
    if codes is not None and len(model.classes_) <= style.MAX_LEGEND:
        _add_legend(axes)
    if section.fixed_text:
        axes[0].figure.suptitle(
            section.fixed_text, x=0.01, ha="left", fontsize=style.LABEL_SIZE, color=style.MUTED
        )
    return axes[0].figure


def _numbers(given: Any, n_rows: int) -> list[int]:
    """Return the numbers of neighbors, one for each panel."""
    if given is None:
        return [k for k in _DEFAULT if k < n_rows] + [n_rows] * (n_rows <= _MAX_ALL)
    ks = list(given) if isinstance(given, Iterable) and not isinstance(given, str) else [given]
    if not ks:
        raise ValueError("n_neighbors must contain at least one number, got none.")
    for k in ks:
        check_n_neighbors(k, n_rows, without_itself=False)
    return [int(k) for k in ks]


def _parts(rows: Any, k: int) -> Iterator[Any]:
    """Yield parts of rows whose lists of neighbors take a limited memory."""
    size = max(1, _BLOCK_BYTES // (16 * k))
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def _votes_by_k(
    model: KNeighborsClassifier, found: Iterator[tuple[Array, Array]], ks: Sequence[int]
) -> list[Array]:
    """Return the votes (n, n_classes) of rows for each number of their neighbors.

    ``found`` has distances and neighbors of blocks of rows.
    """
    target = model.rows_.known_target
    frequencies = np.bincount(target, minlength=len(model.classes_)) / len(target)
    votes: list[list[Array]] = [[] for _ in ks]
    for distances, rows in found:
        for part, k in zip(votes, ks, strict=True):
            weights = neighbor_weights(model.weights, distances[:, :k])
            part.append(class_votes(target[rows[:, :k]], weights, frequencies))
    return [np.concatenate(part) for part in votes]


def _winners(votes: Array) -> Array:
    """Return votes of 1 for the predicted class."""
    winners: Array = np.eye(votes.shape[1])[votes.argmax(axis=1)]
    return winners


def _predictions(
    model: KNeighborsClassifier, section: Section, ks: Sequence[int]
) -> list[tuple[Array, float | None]]:
    """Return the predicted classes of the rows, and the leave-one-out accuracy, for each k."""
    blocks = (model.kneighbors(part, max(ks)) for part in _parts(section.table, max(ks)))
    predicted = [votes.argmax(axis=1) for votes in _votes_by_k(model, blocks, ks)]
    left_out: dict[int, float] = {}
    smaller = [k for k in ks if k < model.n_samples_fit_]
    if smaller and not isinstance(model.index_, PartitionedIndex):
        numbers = sample_rows(model.n_samples_fit_, _MAX_LEFT_OUT)
        found = (_others(model, part, max(smaller)) for part in _parts(numbers, max(smaller)))
        own = model.rows_.known_target[numbers]
        for k, votes in zip(smaller, _votes_by_k(model, found, smaller), strict=True):
            left_out[k] = float(np.mean(votes.argmax(axis=1) == own))
    return [(one, left_out.get(k)) for one, k in zip(predicted, ks, strict=True)]


def _others(model: KNeighborsClassifier, numbers: Array, k: int) -> tuple[Array, Array]:
    """Return the neighbors of training rows among the other ones."""
    rows, threads = model.rows_.X[numbers], effective_threads(model.n_jobs)
    return search(model.index_, k, SearchCount(), rows, numbers, threads)


def _note(right: Array, left_out: float | None) -> str:
    text = f"accuracy {right.mean():.2f}"
    return text if left_out is None else f"{text}\nleave-one-out {left_out:.2f}"


def _add_legend(axes: Sequence[Any]) -> None:
    """Add the legend of the classes below the panels; the rings have no number in it."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            is_ring = label.startswith("misclassified")
            found.setdefault("misclassified" if is_ring else label, handle)
    legend = axes[0].figure.legend(
        list(found.values()), list(found), loc="outside lower center", ncols=min(len(found), 4),
        **style.LEGEND,
    )  # fmt: skip
    for handle, label in zip(legend.legend_handles, found, strict=True):
        handle.set_sizes([36])
        if label == "misclassified":
            handle.set_facecolor("none")
