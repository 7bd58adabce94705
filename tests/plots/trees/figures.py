"""Trees shared by the tests of tree plots, and readers of the drawn artists."""

from __future__ import annotations

import re
from functools import cache
from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets

# Name -> table, estimator, options.
_FITS = {
    "iris": ("iris", DecisionTreeClassifier, {}),
    "iris small": ("iris", DecisionTreeClassifier, {"max_leaf_nodes": 4}),
    "cleveland": ("cleveland", DecisionTreeClassifier, {}),
    "cleveland small": ("cleveland", DecisionTreeClassifier, {"max_depth": 3}),
    "lymphography": ("lymphography", DecisionTreeClassifier, {"splits": "multiway"}),
    "contact_lenses": ("contact_lenses", DecisionTreeClassifier, {"splits": "multiway"}),
    "glass": ("glass", DecisionTreeClassifier, {}),
    "auto_mpg": ("auto_mpg", DecisionTreeRegressor, {}),
    "auto_mpg small": ("auto_mpg", DecisionTreeRegressor, {"max_depth": 3}),
}


@cache
def fitted(name, **options):
    """Return a fitted tree, cached."""
    table, estimator, own = _FITS[name]
    data = datasets.load(table)
    return estimator(**{**own, **options}).fit(data.table, data.y)


def rows_of(name):
    return datasets.load(_FITS[name][0]).table


@cache
def grown_from_noise():
    """Fit a tree of about 20,000 nodes to labels independent of the columns."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(32_000, 3)), random.integers(3, size=32_000)
    return DecisionTreeClassifier().fit(X, y)


def collection(ax, name):
    return next(c for c in ax.collections if c.get_gid() == name)


def boxes(ax):
    """Return left, top, right, bottom of every box, in points from the upper left."""
    corners = [path.vertices for path in collection(ax, "boxes").get_paths()]
    return np.array([np.concatenate([c.min(axis=0), c.max(axis=0)]) for c in corners])


def node_texts(ax):
    """Return the texts of each node, from top to bottom."""
    found = {}
    for text in ax.texts:
        found.setdefault(int(text.get_gid().removeprefix("node ")), []).append(text.get_text())
    return found


def folded(ax):
    """Return the numbers of hidden nodes and leaves of each folded node."""
    found = {}
    for node, lines in node_texts(ax).items():
        text = "\n".join(lines)
        match = re.search(
            r"^\+ ([\d,]+) nodes?\n(?:\[\d+\] )?([\d,]+) lea(f|ves)$", text, re.MULTILINE
        )
        if match:
            found[node] = _int(match[1]), _int(match[2])
    return found


def _int(text):
    return int(text.replace(",", ""))


def check_no_overlaps(figure):
    """Assert that no two texts or boxes overlap, and that texts stay in their boxes."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    for ax in figure.axes:
        if any(c.get_gid() == "boxes" for c in ax.collections):
            _check_texts(ax, renderer)
            _check_boxes(ax)


def _check_texts(ax, renderer):
    extents = [text.get_window_extent(renderer) for text in ax.texts]
    for (i, a), (j, b) in combinations(enumerate(extents), 2):
        assert not a.overlaps(b), (ax.texts[i].get_text(), ax.texts[j].get_text())
    drawn = boxes(ax)
    at = ax.transData.transform
    for text, extent in zip(ax.texts, extents, strict=True):
        for box in drawn:
            (left, low), (right, top) = at((box[0], box[3])), at((box[2], box[1]))
            inside = left <= extent.x0 and extent.x1 <= right and low <= extent.y0
            inside = inside and extent.y1 <= top
            # One pixel of tolerance, since letters are placed on whole pixels.
            beside = extent.x1 <= left + 1 or extent.x0 >= right - 1
            above = extent.y0 >= top - 1 or extent.y1 <= low + 1
            assert inside or beside or above, text.get_text()


def _check_boxes(ax):
    for a, b in combinations(boxes(ax), 2):
        assert a[2] < b[0] or b[2] < a[0] or a[3] < b[1] or b[3] < a[1]
