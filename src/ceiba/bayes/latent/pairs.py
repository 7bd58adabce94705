"""Expected counts of pairs of features, from which EM learns trees.

Meila & Jordan (2000), "Learning with mixtures of trees", JMLR 1, with one tree for all components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.statistics import PairBlock, PairCounts
from ceiba.bayes.structure.chow_liu import maximum_spanning_tree
from ceiba.bayes.structure.dependence import MAX_COUNTS, pair_blocks, pair_dependence


@dataclass(frozen=True, eq=False)
class PairTables:
    """Layouts of the tables of all pairs of features, in blocks of limited size.

    Parameters
    ----------
    sizes : ndarray of int32
        Number of codes of each feature, that of a missing value included.
    k : int
        Number of components.
    blocks : list of (PairBlock, Families)
        The families of a block are its pairs, the second feature with the first one as its parent.
    """

    sizes: Array
    k: int
    blocks: list[tuple[PairBlock, Families]]

    @classmethod
    def of(
        cls, sizes: tuple[int, ...], k: int, names: Sequence[str], max_counts: int = MAX_COUNTS
    ) -> PairTables:
        """Lay out all pairs of features; ``names`` are for messages."""
        numbers = np.array(sizes, np.int32)
        blocks = []
        for block in pair_blocks(numbers, k, max_counts, names):
            pairs = list(block.pairs())
            structure = Structure(tuple(j for _, j in pairs), tuple((i,) for i, _ in pairs))
            blocks.append((block, Families(structure, sizes)))
        return cls(numbers, k, blocks)

    def best_tree(self, expected: Callable[[Families], Array]) -> Structure:
        """Return the maximum spanning tree of the information of pairs given the component.

        ``expected`` returns the expected counts of some families, in one pass over the rows. Pairs
        count where both values are known.
        """
        n = len(self.sizes)
        information = np.zeros((n, n))
        for block, families in self.blocks:
            table = expected(families)
            views = (families.view(table, family) for family in range(len(families.shapes)))
            # Of shape (first feature, component, second feature).
            ordered = np.concatenate([np.swapaxes(view, 1, 2).ravel() for view in views])
            pairs, found, *_ = pair_dependence(PairCounts(ordered), self.sizes, self.k, block)
            information[pairs] = information[pairs[::-1]] = found
        return maximum_spanning_tree(information, list(range(n)))
