"""Averaged one-dependence estimators: the mean of the networks with one parent of all features.

References
----------
Webb, Boughton & Wang (2005), "Not so naive Bayes: aggregating one-dependence estimators", Machine
Learning 58.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.base.record import check_values
from ceiba.bayes.coding import CodedData
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing, probabilities
from ceiba.bayes.statistics import PairCounts
from ceiba.bayes.structure.dependence import MAX_COUNTS, pair_blocks
from ceiba.data.warn import warn_user

# Numbers in the tables of all estimators, 1 GB of them.
MAX_WEIGHTS = 2**27


class InfrequentParentsWarning(UserWarning):
    """No column of 'aode' can be a parent, since all values are rarer than ``min_frequency``."""


@dataclass(frozen=True, eq=False)
class AveragedModel(Record):
    """Average of networks in each of which all features depend on one super-parent.

    The joint probability of a row is the mean over the super-parents whose value in the row is
    known and frequent; a missing value of another feature is summed over in each network. A row
    without such a super-parent has the joint probability of naive Bayes.

    Parameters
    ----------
    networks : tuple of NetworkModel
        One for each feature as super-parent.
    naive : NetworkModel
        Naive Bayes on the same rows.
    frequencies : ndarray of shape (n_codes,)
        Weight of the training rows with each code of each feature, one feature after another.
    min_frequency : float
        Smallest weight of a frequent value.
    """

    networks: tuple[NetworkModel, ...]
    naive: NetworkModel
    frequencies: Annotated[Array, ArrayOf("float64", "n_codes")]
    min_frequency: Annotated[float, AtLeast(0.0)]

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        sizes, n_classes = self.sizes, len(self.bias)
        if len(self.networks) != len(sizes):
            raise ValueError(f"networks must be one per feature, got {len(self.networks)}.")
        for parent, model in enumerate(self.networks):
            same = np.array_equal(model.sizes, sizes) and len(model.bias) == n_classes
            if not same or not model.is_network or model.structure != star(parent, len(sizes)):
                raise ValueError(f"networks[{parent}] must have feature {parent} as super-parent.")
        if len(self.frequencies) != sizes.sum():
            raise ValueError(
                f"frequencies must have {sizes.sum()} entries, one per code, got "
                f"{len(self.frequencies)}."
            )
        check_values("frequencies", self.frequencies, self.frequencies >= 0, "at least 0")

    @property
    def sizes(self) -> Array:
        """Number of codes of each feature."""
        return self.naive.sizes

    @property
    def bias(self) -> Array:
        """Logarithms of the class probabilities."""
        return self.naive.bias

    @property
    def has_parents(self) -> bool:
        """Whether any value of a feature is frequent, so that a network counts for its rows."""
        known = self.naive.families.is_known
        return bool((self.frequencies[known] >= self.min_frequency).any())

    def log_scores(self, codes: Array, threads: int = 1) -> Array:
        """Return log p(c | x) of each row, up to a constant of the row."""
        return self.log_joint(codes, threads)

    def log_joint(self, codes: Array, threads: int = 1) -> Array:
        """Return the logarithm of the average of the networks' p(c, x) for each row."""
        joint = np.full((len(codes), len(self.bias)), -np.inf)
        n_used = np.zeros(len(codes), np.int64)
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        for parent, model in enumerate(self.networks):
            parent_codes = codes[:, parent].astype(np.int64)
            frequent = self.frequencies[starts[parent] + parent_codes] >= self.min_frequency
            used = np.flatnonzero(frequent & (parent_codes < self.sizes[parent] - 1))
            if len(used):
                joint[used] = np.logaddexp(joint[used], model.log_joint(codes[used], threads))
                n_used[used] += 1
        left = np.flatnonzero(n_used == 0)
        if len(left):
            joint[left] = self.naive.log_joint(codes[left], threads)
        return joint - np.log(np.maximum(n_used, 1))[:, None]


def star(parent: int, n_features: int) -> Structure:
    """Return the structure in which one feature is the parent of all others."""
    others = [j for j in range(n_features) if j != parent]
    return Structure((parent, *others), ((), *((parent,) for _ in others)))


def check_size(sizes: Sequence[int], n_classes: int) -> None:
    """Raise ValueError if the tables of all estimators would not fit into memory."""
    wide = np.array(sizes, np.int64)
    n_weights = int((wide.sum() ** 2 - (wide**2).sum()) * n_classes)
    if n_weights > MAX_WEIGHTS:
        raise ValueError(
            f"structure='aode' requires at most {MAX_WEIGHTS:,} probabilities, got {n_weights:,} "
            f"of {len(sizes)} columns: drop columns, or use structure='tree'."
        )


def fit_average(
    data: CodedData, smoothing: Smoothing, log_priors: Array | None, min_frequency: float
) -> AveragedModel:
    """Count all pairs of features, and return the average of their networks.

    ``log_priors`` are given logarithms of the class probabilities, or None.
    """
    check_size(data.sizes, data.n_classes)
    sizes = np.array(data.sizes, np.int32)
    names = data.encoding.names
    pairs = (
        table
        for block in pair_blocks(sizes, data.n_classes, MAX_COUNTS, names)
        for table in data.engine.reduce(data.rows, PairCounts.of, sizes, block).tables(
            sizes, data.n_classes, block
        )
    )
    model = average_networks(
        data.sizes, data.class_table, pairs, smoothing, log_priors, min_frequency
    )
    if names and not model.has_parents:
        warn_user(
            f"structure='aode' predicts as naive Bayes, since no value has a weight of "
            f"min_frequency={min_frequency:g} in rows of total weight {data.total:g}: "
            "lower min_frequency, or scale sample_weight so that a weight of 1 is a row.",
            InfrequentParentsWarning,
        )
    return model


def average_networks(
    sizes: tuple[int, ...],
    singles: ClassTable,
    pairs: Iterable[tuple[int, int, Array]],
    smoothing: Smoothing,
    log_priors: Array | None,
    min_frequency: float,
) -> AveragedModel:
    """Return the model of pair counts.

    The class and the super-parent have one joint distribution, of their smoothed counts in rows
    with a known super-parent; other features are counted in rows where both values are known.

    Parameters
    ----------
    sizes : tuple of int
        Number of codes of each feature.
    singles : ClassTable
        Counts of each feature alone and of the classes.
    pairs : iterable of (i, j, table)
        Counts of all pairs i < j, of shape (sizes[i], n_classes, sizes[j]).
    smoothing : Smoothing
    log_priors : ndarray of shape (n_classes,) or None
        Given logarithms of the class probabilities.
    min_frequency : float
    """
    n, n_classes = len(sizes), len(singles.bias)
    layout = [Families(star(parent, n), sizes) for parent in range(n)]
    counts = [np.zeros((families.n_table_rows, n_classes)) for families in layout]
    naive = Families.naive(sizes)
    for i, j, table in pairs:
        # In the star of i, feature j > i is family j; in the star of j, feature i < j is i + 1.
        layout[i].view(counts[i], j)[:] = table.transpose(0, 2, 1)
        layout[j].view(counts[j], i + 1)[:] = table.transpose(2, 0, 1)
    for parent in range(n):
        layout[parent].view(counts[parent], 0)[:] = naive.view(singles.table, parent)
    networks = tuple(
        _network(families, family_counts, smoothing, log_priors)
        for families, family_counts in zip(layout, counts, strict=True)
    )
    fallback = probabilities(naive, singles, smoothing)
    if log_priors is not None:
        fallback = ClassTable(fallback.table, log_priors)
    return AveragedModel(
        networks,
        NetworkModel.of(naive, fallback, _margins(naive, singles.table), is_network=True),
        singles.table.sum(axis=1),
        float(min_frequency),
    )


def _network(
    families: Families, counts: Array, smoothing: Smoothing, log_priors: Array | None
) -> NetworkModel:
    class_counts = families.view(smoothing.apply(families, counts), 0).sum(axis=0)
    network = probabilities(families, ClassTable(counts, np.ones(len(class_counts))), smoothing)
    if log_priors is None:
        bias = probabilities(families, ClassTable(counts, class_counts)).bias
    else:
        bias = log_priors
    network = ClassTable(network.table, bias)
    return NetworkModel.of(families, network, _margins(families, counts), is_network=True)


def _margins(families: Families, counts: Array) -> Array:
    return np.asarray(np.where(families.is_known, counts.sum(axis=1), 0.0))
