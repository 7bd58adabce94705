"""Draw a nomogram: what each category of each column adds to the log-odds of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.base import NetworkClassifier
from ceiba.bayes.explain import Evidence, category_label
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.networks.view import check_network, class_index, network_columns

_MAX_NAME, _MAX_CATEGORY = 32, 18  # characters
_LINE = 0.42  # inches between the lines of two columns
_SMALL = style.TICK_SIZE - 1.5
_PROBABILITIES = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)
_BESIDE = 5.0  # points between a line and the labels of its categories


@dataclass(frozen=True, eq=False)
class _Scale:
    """Line of a column: position of each category, and its range over the parents' values."""

    name: str
    labels: list[str]
    points: Array
    low: Array
    high: Array

    @property
    def extent(self) -> float:
        """Length of the line."""
        return float(self.high.max() - self.low.min())


@documented
def nomogram(
    model: NetworkClassifier,
    row: Any = None,
    *,
    label: Any = None,
    against: Any = None,
    max_columns: int = 20,
    figure: Any = None,
) -> Any:
    """Draw what each category adds to the log-odds of a class.

    A column has a line with a point for each of its categories, at
    log p(category | class) - log p(category | other class). The columns with the longest lines,
    which can change the decision the farthest, come first. Labels that would overlap are left out.
    The points of a row and the prior add up to the log-odds on the last line, which are those of
    the probabilities written there.

    Where a column depends on another one, a point is the mean over the categories of its parents,
    and a gray bar spans their range; with ``row`` the parents have the values of the row. Against
    several classes, points are means over these classes, weighted by their frequency, or by their
    probability for the row.

    Parameters
    ----------
    model : fitted NaiveBayesClassifier, TANClassifier or StructuralTMClassifier
        Not with ``structure='aode'``. Columns with a density are drawn for a row only.
    row : array, frame, Table or list, optional
        One row, whose ``evidence`` is marked.
    label : object, optional
        The class; by default the one predicted for the row, or the last one.
    against : object, optional
        The class that it is compared with; by default all others together.
    max_columns : int
        Maximum number of columns to draw, those with the longest lines.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets, plots
    >>> vote = datasets.load("vote")
    >>> model = NaiveBayesClassifier(training="tm", missing="category").fit(vote.table, vote.y)
    >>> picture = plots.nomogram(model, vote.table[:1])
    >>> picture.axes[0].get_title(loc="left")
    'Evidence for republican against democrat'

    References
    ----------
    Mozina, Demsar, Kattan & Zupan (2004), "Nomograms for visualization of naive Bayesian
    classifier", PKDD.
    """
    check_network(model)
    if len(model.classes_) < 2:
        raise ValueError("nomogram requires two or more classes, got a model of one class.")
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1, got {max_columns}.")
    evidence = None if row is None else model.evidence(row, label, against)
    target, shares = _compared(model, row, evidence, label, against)
    scales = _scales(model, row, evidence, target, shares)
    if not scales:
        raise ValueError("nomogram requires a column with categories, or a row, got neither.")
    shown = sorted(scales, key=lambda scale: -scale.extent)[:max_columns]
    figure = figure or style.new_figure(8.4, _LINE * (len(shown) + 1) + 1.7)
    ratios = [len(shown) + 0.5, 1.6]
    upper, lower = figure.subplots(2, 1, gridspec_kw={"height_ratios": ratios})
    found = {} if evidence is None else dict(_marks(evidence))
    _draw_scales(upper, shown, found, _axes_width(figure, shown))
    labels = np.asarray(model.classes_).tolist()
    others = [labels[c] for c in np.flatnonzero(shares)]
    other = str(others[0]) if len(others) == 1 else "the other classes"
    style.style_axes(
        upper, title=f"Evidence for {style.shorten(labels[target])} against {style.shorten(other)}",
        x=f"added to the log-odds (right: evidence for {style.shorten(labels[target])})", grid="x",
    )  # fmt: skip
    style.label_bars(upper, [style.shorten(scale.name, _MAX_NAME) for scale in shown])
    if len(shown) < len(scales):
        style.set_note(upper, f"{len(shown)} of {style.count_text(len(scales), 'column')}")
    bias = model.model_.network.bias
    prior = float(bias[target] - bias @ shares) if evidence is None else evidence.prior
    _draw_total(lower, evidence, prior, f"P({style.shorten(labels[target])})", len(others) > 1)
    return upper.figure


def _compared(
    model: NetworkClassifier, row: Any, evidence: Evidence | None, label: Any, against: Any
) -> tuple[int, Array]:
    """Return the class, and the weights of the classes that it is compared with."""
    if evidence is not None:
        target = class_index(model, evidence.label)
        weights = model.predict_proba(row)[0]
    else:
        target = len(model.classes_) - 1 if label is None else class_index(model, label)
        weights = np.where(model.class_count_ > 0, np.exp(model.model_.network.bias), 0.0)
    weights = np.asarray(weights, float).copy()
    weights[target] = 0.0
    if against is not None:
        other = class_index(model, against, "against")
        if other == target:
            raise ValueError(f"against must be another class than {model.classes_[target]!r}.")
        weights = (np.arange(len(weights)) == other).astype(float)
    elif not weights.any():  # the row is certain
        weights = (np.arange(len(weights)) != target) & (model.class_count_ > 0)
    return target, weights / weights.sum()


def _scales(
    model: NetworkClassifier, row: Any, evidence: Evidence | None, target: int, shares: Array
) -> list[_Scale]:
    """Return the lines of all columns."""
    fitted, scorer = model.model_, model._scorer()
    known = {} if evidence is None else dict(zip(evidence.names, evidence.values, strict=True))
    names, scales = model.encoding_.names, []
    for family, shape in enumerate(fitted.families.shapes):
        inside = tuple(slice(0, size - 1) for size in shape)
        table = fitted.families.view(fitted.network.table, family)[inside]
        margins = fitted.families.view(fitted.margins[:, None], family)[inside][..., 0]
        points = table[..., target] - table @ shares
        members = fitted.families.members(family)
        labels = [
            [category_label(scorer.encoding, j, code) for code in range(size - 1)]
            for j, size in zip(members, shape, strict=True)
        ]
        for parent, own in zip(members[:-1], labels[:-1], strict=True):
            value = known.get(names[parent])
            if value in own:
                points, margins = (a[own.index(value)] for a in (points, margins))
            else:
                points, margins = (np.moveaxis(a, 0, -2) for a in (points, margins))
        scales.append(_scale(names[members[-1]], labels[-1], points, margins))
    if evidence is not None:
        _, outside = network_columns(model)
        for name, value, amount in zip(
            evidence.names, evidence.values, evidence.contributions, strict=True
        ):
            if name in outside:
                point = np.array([amount])
                scales.append(_Scale(name, [value], point, point, point))
    return scales


def _scale(name: str, labels: list[str], points: Array, margins: Array) -> _Scale:
    """Return the line of a column; axes before the last one are those of unknown parents."""
    points, margins = (a.reshape(-1, a.shape[-1]) for a in (points, margins))
    weight = margins.sum(axis=1) + 1e-300  # of each combination of the parents' values
    mean = (weight / weight.sum()) @ points
    return _Scale(name, labels, mean, points.min(axis=0), points.max(axis=0))


def _marks(evidence: Evidence) -> list[tuple[str, tuple[str, float]]]:
    values = zip(evidence.values, evidence.contributions.tolist(), strict=True)
    return list(zip(evidence.names, values, strict=True))


def _axes_width(figure: Any, scales: Sequence[_Scale]) -> float:
    """Return the approximate width of the axes, in points."""
    names = [style.text_width(style.shorten(scale.name, _MAX_NAME)) for scale in scales]
    return float(72 * figure.bbox.width / figure.dpi - style.TICK_SIZE * max(names) - 30)


def _draw_scales(
    ax: Any, scales: Sequence[_Scale], found: dict[str, tuple[str, float]], width: float
) -> None:
    """Draw the line of each column, its categories, and those of the row."""
    ends = [0.0, *(s.low.min() for s in scales), *(s.high.max() for s in scales)]
    marks = [amount for _, amount in found.values()]
    low, high = min([*ends, *marks]), max([*ends, *marks])
    margin = 0.06 * ((high - low) or 1.0)
    ax.set_xlim(low - margin, high + margin)
    unit = (high - low + 2 * margin) / width  # of one point of the page
    ax.axvline(0, color=style.MUTED, linewidth=0.9, zorder=1)
    for line, scale in enumerate(scales):
        value, amount = found.get(scale.name, (None, 0.0))
        is_range = scale.high > scale.low
        ax.hlines(
            np.full(is_range.sum(), line), scale.low[is_range], scale.high[is_range],
            color=style.PALE, linewidth=5, zorder=1.5, gid="range",
        )  # fmt: skip
        ax.plot(
            [scale.points.min(), scale.points.max()], [line, line], color=style.PALETTE[0],
            linewidth=1.2, zorder=2,
        )  # fmt: skip
        ax.plot(
            scale.points, np.full(len(scale.points), line), "|", color=style.PALETTE[0],
            markersize=8, markeredgewidth=1.6, zorder=2.5, gid="categories",
        )  # fmt: skip
        if value is not None:
            ax.plot(amount, line, "o", color=style.ACCENT, markersize=6.5, zorder=4, gid="row")
        _write_labels(ax, line, scale, value, amount, unit)


def _write_labels(
    ax: Any, line: int, scale: _Scale, value: str | None, amount: float, unit: float
) -> None:
    """Write categories above or below the line, without overlaps; that of the row comes first."""
    order = sorted(range(len(scale.labels)), key=lambda i: -abs(scale.points[i]))
    texts = [(scale.labels[i], float(scale.points[i])) for i in order if scale.labels[i] != value]
    if value is not None:
        texts.insert(0, (value, amount))
    taken: dict[int, list[tuple[float, float]]] = {1: [], -1: []}
    left, right = ax.get_xlim()
    for text, position in texts:
        short = style.shorten(text, _MAX_CATEGORY)
        half = (style.text_width(short) * _SMALL / 2 + 2) * unit
        center = min(max(position, left + half), right - half)
        sides = [
            side
            for side in (1, -1)
            if all(center + half <= a or center - half >= b for a, b in taken[side])
        ]
        if not sides:
            continue
        taken[sides[0]].append((center - half, center + half))
        is_row = text == value
        label = ax.annotate(
            short, (center, line), (0, sides[0] * _BESIDE), textcoords="offset points",
            fontsize=_SMALL, color=style.ACCENT if is_row else style.INK, ha="center",
            va="bottom" if sides[0] > 0 else "top", weight="bold" if is_row else "normal",
            zorder=3, gid="category",
        )  # fmt: skip
        label.set_parse_math(False)


def _draw_total(
    ax: Any, evidence: Evidence | None, prior: float, name: str, is_several: bool
) -> None:
    """Draw the scale of the log-odds with their probabilities, the prior, and the row's sum."""
    total = prior if evidence is None else evidence.log_odds
    ticks = np.log(np.array(_PROBABILITIES) / (1 - np.array(_PROBABILITIES)))
    reach = max(1.15 * abs(total), 1.15 * abs(prior), 1.05 * float(ticks[-1]))
    ax.set_xlim(-reach, reach)
    ax.set_ylim(-1, 1)
    ax.plot(ticks, np.zeros(len(ticks)), "|-", color=style.PALETTE[0], linewidth=1.2, markersize=8)
    for tick, probability in zip(ticks, _PROBABILITIES, strict=True):
        ax.annotate(
            f"{probability:g}", (tick, 0), (0, _BESIDE), textcoords="offset points", ha="center",
            va="bottom", fontsize=_SMALL, color=style.INK,
        )  # fmt: skip
    ax.plot(prior, 0, "o", markerfacecolor="white", color=style.MUTED, markersize=6.5, gid="prior")
    text = f"prior {_signed(prior)}"
    if evidence is not None:
        ax.plot(total, 0, "o", color=style.ACCENT, markersize=7, zorder=4, gid="total")
        text += f", columns {_signed(float(evidence.contributions.sum()))}"
        if is_several:
            text += f", several other classes {_signed(evidence.spread)}"
        text += f": log-odds {_signed(total)}, {name} = {1 / (1 + np.exp(-total)):.3g}"
    style.style_axes(ax, x=f"log-odds ({text})")
    ax.set_yticks([0], [name])
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")
