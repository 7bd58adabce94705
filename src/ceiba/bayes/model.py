"""The fitted network of a Bayesian classifier, as a model file stores it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.bayes.elimination import log_joint
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable, mark_summed, match_margins

# Rounding of sums of probabilities, in files of other programs too.
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class NetworkModel(Record):
    """Structure and parameters of a fitted network classifier.

    Parameters
    ----------
    features : ndarray of int64
        Features (columns of the codes) of the families; a parent precedes its children.
    parent_starts, parents : ndarray of int64
        The feature parents of family f are ``parents[parent_starts[f]:parent_starts[f + 1]]``.
    sizes : ndarray of int64
        Number of codes of each feature, that of a missing value included.
    table : ndarray of shape (n_table_rows, n_classes)
        Log-linear weights of the families, one table below the other.
    bias : ndarray of shape (n_classes,)
    margins : ndarray of shape (n_table_rows,)
        Expected number of rows in each table row, over all classes: how the features alone are
        distributed. (Not the margins of boosting, which are differences of votes.)
    is_network : bool
        Whether the weights are log probabilities, as after generative training.
    """

    features: Annotated[Array, ArrayOf("int64", "n_families")]
    parent_starts: Annotated[Array, ArrayOf("int64", "n_starts")]
    parents: Annotated[Array, ArrayOf("int64", "n_arcs")]
    sizes: Annotated[Array, ArrayOf("int64", "n_features")]
    table: Annotated[Array, ArrayOf("float64", "n_table_rows", "n_classes")]
    bias: Annotated[Array, ArrayOf("float64", "n_classes")]
    margins: Annotated[Array, ArrayOf("float64", "n_table_rows")]
    is_network: bool

    @classmethod
    def of(
        cls, families: Families, weights: ClassTable, margins: Array, *, is_network: bool
    ) -> NetworkModel:
        """Return the model of some weights."""
        structure = families.structure
        starts = np.cumsum([0, *(len(parents) for parents in structure.parents)])
        flat = [parent for parents in structure.parents for parent in parents]
        return cls(
            np.array(structure.features, np.int64),
            starts.astype(np.int64),
            np.array(flat, np.int64),
            np.array(families.sizes, np.int64),
            weights.table,
            weights.bias,
            margins,
            is_network,
        )

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        n = len(self.sizes)
        for name in ("features", "parents"):
            values = getattr(self, name)
            check_values(name, values, (values >= 0) & (values < n), f"at least 0 and below {n}")
        check_values(
            "sizes", self.sizes, (self.sizes >= 1) & (self.sizes <= 65_537), "in [1, 65537]"
        )
        starts = self.parent_starts
        if (
            len(starts) != len(self.features) + 1
            or starts[0] != 0
            or starts[-1] != len(self.parents)
            or (np.diff(starts) < 0).any()
        ):
            raise ValueError("parent_starts must ascend from 0 to the number of parents.")
        seen: set[int] = set()
        for feature, parents in zip(self.structure.features, self.structure.parents, strict=True):
            if feature in seen or not set(parents) <= seen or len(set(parents)) < len(parents):
                raise ValueError("features must be different, and follow their parents.")
            seen.add(feature)
        if self.families.n_table_rows != len(self.table):
            raise ValueError(
                f"table must have {self.families.n_table_rows} rows, as the families, got "
                f"{len(self.table)}."
            )
        for name in ("table", "bias", "margins"):
            check_values(name, getattr(self, name), np.isfinite(getattr(self, name)), "finite")
        check_values("margins", self.margins, self.margins >= 0, "at least 0")
        if self.is_network:
            self._check_probabilities()

    def _check_probabilities(self) -> None:
        """Raise ValueError unless the weights are log probabilities."""
        families = self.families
        with np.errstate(over="ignore"):
            known = np.where(families.is_known[:, None], np.exp(self.table), 0.0)
            sums, total = families.group_sums(known), np.exp(self.bias).sum()
        wanted = sums[families.is_known]
        if (np.abs(wanted - 1.0) > _SUM_TOLERANCE).any() or abs(total - 1.0) > _SUM_TOLERANCE:
            raise ValueError(
                "table and bias of a network must be log probabilities, whose groups sum to 1."
            )

    @cached_property
    def structure(self) -> Structure:
        """Features and their parents."""
        bounds = zip(self.parent_starts[:-1], self.parent_starts[1:], strict=True)
        parents = tuple(tuple(self.parents[first:last].tolist()) for first, last in bounds)
        return Structure(tuple(self.features.tolist()), parents)

    @cached_property
    def families(self) -> Families:
        """Layout of the tables."""
        return Families(self.structure, tuple(self.sizes.tolist()))

    @property
    def weights(self) -> ClassTable:
        """Log-linear weights."""
        return ClassTable(self.table, self.bias)

    @cached_property
    def network(self) -> ClassTable:
        """Log probabilities of the network with these class posteriors and margins."""
        if self.is_network:
            return self.weights
        return match_margins(self.families, self.weights, self.margins)

    def log_scores(self, codes: Array, threads: int = 1) -> Array:
        """Return log p(c | x) of each row, up to a constant of the row.

        Rows without missing values need the weights only. Missing values are summed over in the
        network, whose margins are then computed.
        """
        if self.is_network:
            return self.log_joint(codes, threads)
        families = self.families
        unknown = ~families.is_known[:, None]
        marked = ClassTable(np.where(unknown, np.nan, self.table), self.bias)
        native = _native.LogLinear(families.native, marked.table, marked.bias, False)
        scores = np.empty((len(codes), len(self.bias)))
        _native.bayes_log_joint(codes, native, scores, threads)
        incomplete = np.isnan(scores[:, 0])
        if incomplete.any():
            scores[incomplete] = self.log_joint(codes[incomplete], threads)
        return scores

    def log_joint(self, codes: Array, threads: int = 1) -> Array:
        """Return log p(c, x) of each row, summed over missing values."""
        joint = np.empty((len(codes), len(self.bias)))
        native = mark_summed(self.families, self.network).native(self.families)
        _native.bayes_log_joint(codes, native, joint, threads)
        if not self.structure.is_forest:
            incomplete = np.flatnonzero(np.isnan(joint[:, 0]))
            if len(incomplete):
                joint[incomplete] = log_joint(self.families, self.network, codes[incomplete])
        return joint
