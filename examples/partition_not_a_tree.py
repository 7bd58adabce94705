"""
A partition that no tree can make
=================================

The leaves of a tree of binary splits are rectangles, but not every partition into rectangles is a
tree. The first split divides the whole plane by a straight line, so a partition can only be a tree
if some line from edge to edge crosses no rectangle. In a pinwheel of five rectangles every line
does.
"""

from pathlib import Path

import numpy as np

from ceiba import DecisionTreeClassifier, plots
from ceiba.plots.style import new_figure, set_note, set_title

out = Path("out")

# Lower left and upper right corner of each rectangle, in a square of side 3.
FIVE_LEAVES = [((0, 0), (1, 3)), ((1, 0), (3, 1)), ((1, 1), (2, 3)), ((2, 1), (3, 2)),
               ((2, 2), (3, 3))]  # fmt: skip
PINWHEEL = [((0, 0), (2, 1)), ((2, 0), (3, 2)), ((1, 2), (3, 3)), ((0, 1), (1, 3)),
            ((1, 1), (2, 2))]  # fmt: skip


class Rectangles:
    """A classifier that predicts the rectangle of a point."""

    def __init__(self, rectangles):
        self.rectangles = np.array(rectangles, dtype=float)
        self.classes_ = np.arange(len(rectangles))

    def predict(self, X):
        """Return the index of the rectangle of each row."""
        low, high = self.rectangles[:, 0], self.rectangles[:, 1]
        point = np.asarray(X, dtype=float)[:, None]
        return ((point >= low) & (point < high)).all(axis=2).argmax(axis=1)


# %%
# A grid of points in the square, and a fully grown tree for each partition. Five leaves suffice
# for the first partition. In the pinwheel the first split divides a rectangle, so that a tree
# which predicts every point needs at least six.
step = np.arange(0.05, 3, 0.1)
points = np.stack(np.meshgrid(step, step), axis=-1).reshape(-1, 2)
partitions = {"Five leaves of a tree": FIVE_LEAVES, "Pinwheel: not a tree": PINWHEEL}
trees = {}
for name, rectangles in partitions.items():
    classes = Rectangles(rectangles).predict(points)
    trees[name] = DecisionTreeClassifier().fit(points, classes)
    accuracy = trees[name].score(points, classes)
    print(f"{name}: tree with {trees[name].get_n_leaves()} leaves, accuracy {accuracy:.0%}")

# %%
# Above the partitions, below the leaves of the trees fitted to them.
picture = new_figure(7.6, 7.8)
axes = picture.subplots(2, 2, sharex=True, sharey=True)
for (name, rectangles), (above, below) in zip(partitions.items(), axes.T, strict=True):
    plots.regions(Rectangles(rectangles), points, max_points=1, ax=above)
    plots.regions(trees[name], points, max_points=1, edges=True, ax=below)
    set_title(above, name)
    set_note(above, "5 rectangles")
    set_title(below, "Leaves of the fitted tree")
    set_note(below, f"{trees[name].get_n_leaves()} leaves")
    for ax in (above, below):
        ax.collections[-1].remove()  # the drawn row
        ax.set(xlim=(0, 3), ylim=(0, 3), aspect="equal")
        ax.label_outer()
print(f"picture -> {out / 'partition_not_a_tree.png'}")
picture.save(out / "partition_not_a_tree.png")
