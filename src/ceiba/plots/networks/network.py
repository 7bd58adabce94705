"""Draw the network of a classifier: the class, the features, and the arcs between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.bayes import LatentClassMixture
from ceiba.bayes.base import NetworkClassifier
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import is_fitted
from ceiba.plots.networks.view import check_network, network_columns, network_information

# In inches: between lines, between depths, height of a box, and around its text.
_LINE, _INDENT, _BOX, _PADDING = 0.33, 0.5, 0.24, 0.09
_STEM = 0.14  # from the left of a box to the arcs that leave it
_MAX_NAME = 32  # characters
_MAX_WIDTH, _MIN_WIDTH = 6.0, 0.7  # points, of arcs
_MARGIN = 0.15
_HEADER = 0.4  # height of the title
_MIN_SIZE = 4.6
_REACH = 0.5  # of dashed arcs beside the boxes
_SMALL = style.TICK_SIZE - 1
# The first color of the palette, blended with white by 0.25 and by 0.86.
_ARC, _FILL = "#4095c5", "#dbebf4"


@dataclass(frozen=True)
class _Node:
    """A feature: its line and depth, counted from the class, and its arcs."""

    name: str
    note: str
    line: int
    depth: int
    parent: int | None
    others: tuple[int, ...]

    @property
    def x(self) -> float:
        """Left end of the box."""
        return _INDENT * self.depth

    @property
    def y(self) -> float:
        """Center of the box."""
        return -_LINE * self.line

    @property
    def width(self) -> float:
        """Width of the box."""
        return 2 * _PADDING + style.text_width(self.name) * style.TICK_SIZE / 72


@documented
def network(model: NetworkClassifier | LatentClassMixture, *, ax: Any = None) -> Any:
    """Draw the network of a Bayesian classifier, or of a mixture with a latent class.

    Every column of the model is a box on a line of its own. The gray arcs are those from the
    class (of a mixture, the component), which is a parent of all columns. A column with a parent
    among the other columns is indented below it: the wider the arc between them, the larger is
    their mutual information given the class, which stands beside the box. Of several parents the
    one of largest mutual information is above the column, and dashed arcs lead from the others.

    Parameters
    ----------
    model : fitted NaiveBayesClassifier, TANClassifier, StructuralTMClassifier or LatentClassMixture
        Not with ``structure='aode'``, which averages networks.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import TANClassifier, datasets, plots
    >>> vote = datasets.load("vote")
    >>> model = TANClassifier().fit(vote.table, vote.y)
    >>> picture = plots.network(model)
    >>> picture.axes[0].get_title(loc="right")
    '16 columns, 15 arcs'
    """
    is_latent = isinstance(model, LatentClassMixture) and is_fitted(model)
    nodes, widths = _layout(model if is_latent else check_network(model))
    root = "component" if is_latent else "class"
    width = max([_MIN_SIZE, *(n.x + n.width + _note_width(n) for n in nodes)]) + 2 * _MARGIN
    height = _LINE * (len(nodes) + 1 + 1.2 * bool(widths))
    scale = 1.0
    if ax is None:
        ax = style.new_axes(width, height + _HEADER)
    else:
        box = ax.get_window_extent()
        scale = min(1.0, box.width / ax.figure.dpi / width, box.height / ax.figure.dpi / height)
    ax.set_xlim(-_MARGIN, width - _MARGIN)
    ax.set_ylim(0.5 * _LINE - height, 0.5 * _LINE)
    ax.set_axis_off()
    _draw_class(ax, root, nodes, scale)
    for index, node in enumerate(nodes):
        _draw_arcs(ax, nodes, index, {arc: scale * width for arc, width in widths.items()})
        _draw_box(ax, node.x, node.y, node.width, node.name, scale, facecolor="white")
        _write_small(ax, node.x + node.width + 0.07, node.y, node.note, scale, gid="note")
    style.set_title(ax, type(model).__name__)
    counts = style.count_text(len(nodes), "column"), style.count_text(len(widths), "arc")
    style.set_note(ax, ", ".join(counts))
    if widths:
        text = f"numbers and widths of arcs: mutual information given the {root} (nats)"
        _write_small(ax, 0.0, -_LINE * (len(nodes) + 1.1), text, scale)
    return ax.figure


def _note_width(node: _Node) -> float:
    """Return the width of the note beside a box, and of the dashed arcs there."""
    note = 0.14 + style.text_width(node.note) * _SMALL / 72
    return note + _REACH * bool(node.others)


def _write_small(ax: Any, x: float, y: float, text: str, scale: float, **options: Any) -> None:
    ax.text(
        x, y, text, fontsize=scale * _SMALL, color=style.MUTED, va="center", zorder=5,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6}, **options,
    )  # fmt: skip


def _layout(
    model: NetworkClassifier | LatentClassMixture,
) -> tuple[list[_Node], dict[tuple[int, int], float]]:
    """Return the features from top to bottom, and the width of each arc between two of them."""
    structure, names = model.model_.structure, model.encoding_.names
    arcs = dict(zip(structure.arcs, network_information(model).tolist(), strict=True))
    parents = dict(zip(structure.features, structure.parents, strict=True))
    above = {feature: _closest(feature, own, arcs) for feature, own in parents.items()}
    order = _depth_first(above, arcs)
    line_of = {feature: line for line, (feature, _) in enumerate(order)}
    nodes = []
    for line, (feature, depth) in enumerate(order):
        parent = above[feature]
        name = style.shorten(names[feature], _MAX_NAME)
        others = tuple(line_of[p] for p in parents[feature] if p != parent)
        if parent is None:
            nodes.append(_Node(name, "", line + 1, depth, None, others))
        else:
            note = style.number_text(arcs[parent, feature], 2)
            nodes.append(_Node(name, note, line + 1, depth, line_of[parent], others))
    for name in network_columns(model)[1]:
        distribution = getattr(model, "distributions_", {})[name]
        name = style.shorten(name, _MAX_NAME)
        nodes.append(_Node(name, distribution, len(nodes) + 1, 1, None, ()))
    largest = max(arcs.values(), default=0.0) or 1.0
    widths = {
        (line_of[a], line_of[b]): max(_MIN_WIDTH, _MAX_WIDTH * value / largest)
        for (a, b), value in arcs.items()
    }
    return nodes, widths


def _closest(
    feature: int, parents: tuple[int, ...], arcs: dict[tuple[int, int], float]
) -> int | None:
    """Return the parent with which a feature shares the largest information."""
    return max(parents, key=lambda parent: arcs[parent, feature], default=None)


def _depth_first(
    above: dict[int, int | None], arcs: dict[tuple[int, int], float]
) -> list[tuple[int, int]]:
    """Return features with their depths, each followed by its children, widest arc first."""
    children: dict[int | None, list[int]] = {}
    for feature, parent in above.items():
        children.setdefault(parent, []).append(feature)
    order = []
    stack = [(feature, 1) for feature in sorted(children.get(None, ()), reverse=True)]
    while stack:
        feature, depth = stack.pop()
        order.append((feature, depth))
        ascending = sorted((arcs[feature, child], -child) for child in children.get(feature, ()))
        stack += [(-negative, depth + 1) for _, negative in ascending]
    return order


def _draw_class(ax: Any, name: str, nodes: list[_Node], scale: float) -> None:
    """Draw the class at the top, and its arcs to all features."""
    look = {"color": style.PALE, "linewidth": 0.9, "zorder": 1, "solid_capstyle": "round"}
    if nodes:
        ax.plot([_STEM, _STEM], [0.0, nodes[-1].y], **look)
    for node in nodes:
        ax.plot([_STEM, node.x], [node.y, node.y], gid="class arc", **look)
        ax.plot(
            node.x - 0.02, node.y, marker=">", markersize=3.5, color=style.PALE, zorder=1.5,
            linestyle="",
        )  # fmt: skip
    width = 2 * _PADDING + style.text_width(name) * style.TICK_SIZE / 72
    _draw_box(ax, 0.0, 0.0, width, name, scale, facecolor=_FILL)


def _draw_arcs(
    ax: Any, nodes: list[_Node], index: int, widths: dict[tuple[int, int], float]
) -> None:
    """Draw the arcs from the parents of a feature."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    node = nodes[index]
    for parent in (node.parent, *node.others):
        if parent is None:
            continue
        begin = nodes[parent]
        look: dict[str, Any] = {"linewidth": widths[parent, index], "edgecolor": _ARC}
        if parent == node.parent:
            x = begin.x + _STEM
            points = [(x, begin.y), (x, node.y + 0.6 * _LINE), (x, node.y), (node.x, node.y)]
            codes = [Path.MOVETO, Path.LINETO, Path.CURVE3, Path.CURVE3]
        else:
            ends = begin.x + begin.width, node.x + node.width
            x = max(ends) + _REACH
            points = [(ends[0], begin.y), (x, begin.y), (x, node.y), (ends[1], node.y)]
            codes = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
            look |= {"linestyle": (0, (3, 1.5)), "alpha": 0.6}
            ax.plot(ends[1] + 0.03, node.y, "<", markersize=4, color=_ARC, zorder=6)
        ax.add_patch(PathPatch(Path(points, codes), fill=False, zorder=2, gid="arc", **look))


def _draw_box(
    ax: Any, x: float, y: float, width: float, text: str, scale: float, **look: Any
) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner, shape = (x, y - _BOX / 2), "round,pad=0,rounding_size=0.06"
    look |= {"edgecolor": style.PALETTE[0], "linewidth": 1.1 * scale, "zorder": 3}
    ax.add_patch(FancyBboxPatch(corner, width, _BOX, boxstyle=shape, **look))
    label = ax.text(
        x + width / 2, y, text, fontsize=scale * style.TICK_SIZE, color=style.INK, ha="center",
        va="center", zorder=4, gid="node",
    )  # fmt: skip
    label.set_parse_math(False)
