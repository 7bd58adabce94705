"""States of the structural search, and the moves between them.

A state is a set of features (children of the class) and a forest of arcs between them. The class
posteriors are the same for every direction of the arcs, so that an arc is an unordered pair here;
a tree is rooted in its lowest feature in the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from ceiba.bayes.families import Structure

Arc = tuple[int, int]


@dataclass(frozen=True)
class State:
    """Features of the model, and the arcs (lower, higher) between them.

    Examples
    --------
    >>> state = State().plus(features=(3, 1), arc=(3, 1))
    >>> state.structure((1, 2, 3)).arcs, state.d((0, 2, 2, 4), n_classes=2)
    ([(0, 2)], 8)
    """

    features: frozenset[int] = frozenset()
    arcs: frozenset[Arc] = frozenset()

    def plus(self, features: Sequence[int] = (), arc: Arc | None = None) -> State:
        """Return the state with further features and an arc."""
        arcs = self.arcs if arc is None else self.arcs | {(min(arc), max(arc))}
        return State(self.features | set(features), arcs)

    def minus(self, feature: int) -> State:
        """Return the state without a feature and its arcs."""
        arcs = frozenset(arc for arc in self.arcs if feature not in arc)
        return State(self.features - {feature}, arcs)

    def directed_arcs(self) -> list[Arc]:
        """Return the arcs as (parent, child), away from the lowest feature of each tree."""
        neighbors: dict[int, list[int]] = {feature: [] for feature in sorted(self.features)}
        for i, j in sorted(self.arcs):
            neighbors[i].append(j)
            neighbors[j].append(i)
        arcs, seen = [], set[int]()
        for root in neighbors:
            queue = [] if root in seen else [root]
            while queue:
                parent = queue.pop(0)
                seen.add(parent)
                children = [child for child in neighbors[parent] if child not in seen]
                arcs += [(parent, child) for child in children]
                queue += children
        return arcs

    def tree_numbers(self) -> dict[int, int]:
        """Return for each feature the lowest feature of its tree."""
        number = {feature: feature for feature in self.features}
        for parent, child in self.directed_arcs():
            number[child] = number[parent]
        return number

    def structure(self, columns: Sequence[int]) -> Structure:
        """Return the structure of rows that have these columns, ascending."""
        index = {column: position for position, column in enumerate(columns)}
        arcs = [(index[i], index[j]) for i, j in self.directed_arcs()]
        return Structure.of_arcs(tuple(index[f] for f in sorted(self.features)), arcs)

    def d(self, n_observed: Sequence[int], n_classes: int) -> int:
        """Return the number of free parameters of p(class | features).

        ``n_observed`` are the numbers of categories that occur in training.
        """
        of_features = sum(n_observed[i] - 1 for i in self.features)
        of_arcs = sum((n_observed[i] - 1) * (n_observed[j] - 1) for i, j in self.arcs)
        return (n_classes - 1) * (1 + of_features + of_arcs)


@dataclass(frozen=True)
class Move:
    """A step of the search: further features, an arc, or both.

    Parameters
    ----------
    state : State
        State after the move.
    features : tuple of int
        Features that the move adds.
    arc : (int, int) or None
        Arc that it adds, lower feature first.
    """

    state: State
    features: tuple[int, ...]
    arc: Arc | None

    @property
    def columns(self) -> tuple[int, ...]:
        """Columns of the table that the move adds: those of its arc, or its feature."""
        return self.features if self.arc is None else self.arc


def make_move(state: State, features: tuple[int, ...], arc: Arc | None = None) -> Move:
    """Return the move that adds features and an arc to a state."""
    arc = None if arc is None else (min(arc), max(arc))
    return Move(state.plus(features, arc), features, arc)


def single_moves(state: State, candidates: Sequence[int]) -> Iterator[Move]:
    """Iterate over the moves that add a feature, then those that add an arc between two trees.

    Both in the order of the features.
    """
    for i in candidates:
        if i not in state.features:
            yield make_move(state, (i,))
    tree = state.tree_numbers()
    for i, j in combinations(sorted(state.features), 2):
        if tree[i] != tree[j]:
            yield make_move(state, (), (i, j))


def pair_moves(state: State, candidates: Sequence[int]) -> Iterator[Move]:
    """Iterate over the moves that add a feature with an arc.

    First to a feature of the state, then two new features with the arc between them.
    """
    outside = [i for i in candidates if i not in state.features]
    for i in outside:
        for j in sorted(state.features):
            yield make_move(state, (i,), (i, j))
    for i, j in combinations(outside, 2):
        yield make_move(state, (i, j), (i, j))
