"""Dependence of all pairs of features given the class: mutual information and tests.

Pairs are counted in blocks of columns, so that the counts of a pass fit into memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.families import Families
from ceiba.bayes.statistics import PairBlock, PairCounts
from ceiba.engine import Engine

# Counts of pairs that are held at once, 128 MB of them: a table with more is counted in blocks of
# columns, with a pass over the rows for each block.
MAX_COUNTS = 2**24
# Counts of a single pair, 1 GB of them.
MAX_PAIR_COUNTS = 2**27
# The mutual information is rounded, so that ties do not depend on the rounding errors of sums.
_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Dependence:
    """Dependence of each pair of features, given the class.

    Pairs of known values are counted, without smoothing.

    Parameters
    ----------
    information : ndarray of shape (n_features, n_features)
        I(X_i; X_j | C) in nats.
    is_significant : ndarray of bool of the same shape, or None
        Whether a test rejects the independence of two features.
    """

    information: Array
    is_significant: Array | None = None

    @classmethod
    def of(
        cls,
        engine: Engine,
        rows: Any,
        sizes: Sequence[int],
        n_classes: int,
        *,
        names: Sequence[str],
        significance: float | None = None,
        max_counts: int = MAX_COUNTS,
    ) -> Dependence:
        """Compute the dependence of all pairs, with a reduction for each block of columns.

        Parameters
        ----------
        engine, rows
            The rows, prepared as `CodedRows`.
        sizes : sequence of int
            Number of codes of each feature, that of a missing value included.
        n_classes : int
        names : sequence of str
            Names of the features, for messages.
        significance : float, optional
            Error probability of the tests, over all pairs together: a pair is significant if the G
            test (likelihood ratio) has a p-value below ``significance / n_pairs`` (Bonferroni).
        max_counts : int
            Number of counts that are held at once.
        """
        m = len(sizes)
        numbers = np.array(sizes, np.int32)
        information = np.zeros((m, m))
        significant = None if significance is None else np.zeros((m, m), bool)
        for block in pair_blocks(numbers, n_classes, max_counts, names):
            counts = engine.reduce(rows, PairCounts.of, numbers, block)
            pairs, found, totals, degrees = pair_dependence(counts, numbers, n_classes, block)
            information[pairs] = information[pairs[::-1]] = found
            if significant is not None and significance is not None:
                p_values = chi2.sf(2.0 * totals * found, np.maximum(degrees, 1.0))
                found = (p_values < significance / max(m * (m - 1) // 2, 1)) & (degrees > 0)
                significant[pairs] = significant[pairs[::-1]] = found
        return cls(information, significant)


def pair_dependence(
    counts: PairCounts, sizes: Array, n_classes: int, block: PairBlock
) -> tuple[tuple[Array, Array], Array, Array, Array]:
    """Return indices, information, weight and degrees of freedom of the pairs of a block.

    The degrees of freedom are the sum over the classes of (a - 1) * (b - 1), with a and b the
    numbers of categories that occur in the class.
    """
    first, second = np.array(list(block.pairs()), np.int64).reshape(-1, 2).T
    found = np.zeros((3, len(first)))
    _native.bayes_pair_dependence(counts.counts, sizes, block.native, n_classes, *found)
    return (first, second), np.round(found[0], _DECIMALS), found[1], found[2]


def pair_blocks(
    sizes: Array, n_classes: int, max_counts: int, names: Sequence[str]
) -> Iterator[PairBlock]:
    """Divide the pairs into blocks with at most ``max_counts`` counts each.

    A pair of columns with more counts is a block of its own, up to 2^27 counts.
    """
    everything = PairBlock.of_all(len(sizes))
    if everything.n_entries(sizes) * n_classes <= max_counts:
        yield everything
        return
    _check_largest_pair(sizes, n_classes, names)
    groups = _groups(sizes, int(np.sqrt(max_counts / n_classes)))
    for a, firsts in enumerate(groups):
        for seconds in groups[a:]:
            block = PairBlock(firsts, seconds)
            if block.n_entries(sizes):
                yield block


def _groups(sizes: Array, max_codes: int) -> list[tuple[int, int]]:
    """Return ranges of consecutive columns with at most so many codes, or of one column."""
    groups, begin, codes = [], 0, 0
    for j, size in enumerate(sizes.tolist()):
        if j > begin and codes + size > max_codes:
            groups.append((begin, j))
            begin, codes = j, 0
        codes += size
    return [*groups, (begin, len(sizes))]


def _check_largest_pair(sizes: Array, n_classes: int, names: Sequence[str]) -> None:
    second, first = np.argsort(sizes, kind="stable")[-2:].tolist()
    counts = int(sizes[first]) * int(sizes[second]) * n_classes
    if counts > MAX_PAIR_COUNTS:
        raise ValueError(
            f"Two columns must have at most {MAX_PAIR_COUNTS:,} combinations of a category of each "
            f"and a class, got {counts:,} of {names[first]!r} and {names[second]!r}: merge rare "
            "categories, drop one of the columns, or use NaiveBayesClassifier."
        )


def arc_information(families: Families, counts: Array) -> Array:
    """Return I(parent; child | C) of each arc from the counts of the families, known values only.

    In the order of ``Structure.arcs``.
    """
    found = []
    for family, parents in enumerate(families.structure.parents):
        view = families.view(np.where(families.is_known[:, None], counts, 0.0), family)
        for axis in range(len(parents)):
            others = tuple(a for a in range(len(parents)) if a != axis)
            table = view.sum(axis=others)
            of_class = table.sum(axis=(0, 1), keepdims=True)
            expected = table.sum(axis=0, keepdims=True) * table.sum(axis=1, keepdims=True)
            ratio = np.divide(table * of_class, expected, out=np.ones_like(table), where=table > 0)
            total = max(float(of_class.sum()), 1e-300)
            found.append(max(float((table * np.log(ratio)).sum()) / total, 0.0))
    return np.array(found)
