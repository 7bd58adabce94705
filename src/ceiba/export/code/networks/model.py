"""Tables and densities of a network from which code is generated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.bayes.distributions.poisson import PoissonColumns
from ceiba.bayes.model import NetworkModel
from ceiba.data.schema import Column, Kind, Schema
from ceiba.export.checks import check_no_times
from ceiba.export.densities import normal_terms
from ceiba.export.errors import NotExpressibleError

NETWORK_LEARNERS = (
    "LatentClassMixture", "NaiveBayesClassifier", "StructuralTMClassifier", "TANClassifier",
)  # fmt: skip

# Rows that are refused where missing values are not summed over, and what to do.
REFUSED = "a missing column has a known child in the network"
REMEDY = "impute it, or fit with missing='category' on rows in which it is missing."


@dataclass(frozen=True, slots=True, eq=False)
class CodeFeature:
    """A column of the network: its index among those of a row, categories or thresholds.

    The code of a missing value is the number of categories, which may be a category itself
    (``missing="category"``); the last of ``n_codes`` codes is one to be summed over.
    """

    index: int
    column: Column
    n_codes: int
    thresholds: tuple[Any, ...]

    @property
    def is_numeric(self) -> bool:
        """Whether codes are those of intervals."""
        return self.column.kind is Kind.NUMERIC


@dataclass(frozen=True, slots=True, eq=False)
class CodeFamily:
    """A feature with its feature parents, as positions among those of the network.

    ``table`` has shape (*sizes of the parents, size of the feature, n_classes), with the code of a
    missing value at the end of each axis. There the log probability is 0 if the feature is missing,
    which is exact as long as its children are missing too, and NaN if only a parent is.
    """

    feature: int
    parents: tuple[int, ...]
    table: Array

    @property
    def known_table(self) -> Array:
        """The table of a family with at most one parent, without the codes of missing values.

        Its shape is (n_parent_categories, n_categories, n_classes); 1 row without a parent.
        """
        known = self.table[..., :-1, :]
        return known[:-1] if self.parents else known[None]

    @property
    def members(self) -> tuple[int, ...]:
        """Features along the axes of the table."""
        return (*self.parents, self.feature)


@dataclass(frozen=True, slots=True, eq=False)
class CodeNormal:
    """A normal column: ``constant - ((x - mean) * factor) ** 2`` is the log density by class."""

    index: int
    mean: list[float]
    factor: list[float]
    constant: list[float]


@dataclass(frozen=True, slots=True, eq=False)
class CodeCount:
    """A Poisson column: ``x * log(rate) - rate``, without the term that all classes share."""

    index: int
    name: str
    log_rate: list[float]
    rate: list[float]


@dataclass(frozen=True, slots=True, eq=False)
class CodeNetwork:
    """A network whose class probabilities are predicted.

    ``bias`` has the log probabilities of the classes, -inf for classes without rows; ``classes``
    are plain labels, or the components of a mixture.
    """

    title: str
    schema: Schema
    classes: list[Any]
    bias: list[float]
    features: tuple[CodeFeature, ...]
    families: tuple[CodeFamily, ...]
    normals: tuple[CodeNormal, ...] = ()
    counts: tuple[CodeCount, ...] = ()

    @classmethod
    def of(cls, model: Any) -> CodeNetwork:
        """Return the parts of a fitted model; raise NotExpressibleError where code has none."""
        check_no_times(model.schema_, "Code has no type for")
        network = model.model_
        if not isinstance(network, NetworkModel):
            raise NotExpressibleError(
                "Code requires one network, got structure='aode', an average of networks: fit with "
                "another structure, or export to ONNX."
            )
        if hasattr(model, "classes_"):
            classes, has_rows = model.classes_.tolist(), model.class_count_ > 0
        else:
            classes, has_rows = list(range(model.n_components_)), np.True_
        densities = getattr(model, "_densities", ())
        return cls(
            f"{type(model).__name__} of Ceiba",
            model.schema_,
            classes,
            np.where(has_rows, network.network.bias, -np.inf).tolist(),
            tuple(_features(model.encoding_, network)),
            tuple(_families(network)),
            tuple(normal for own in densities for normal in _normals(own)),
            tuple(count for own in densities for count in _counts(own, model)),
        )

    @property
    def has_arcs(self) -> bool:
        """Whether columns have other columns as parents."""
        return any(family.parents for family in self.families)

    @property
    def sends_messages(self) -> bool:
        """Whether messages along a forest sum over missing values."""
        return self.has_arcs and not self.refuses_missing

    @property
    def refuses_missing(self) -> bool:
        """Whether sums over missing values would need more than messages."""
        return any(len(family.parents) > 1 for family in self.families)

    @property
    def has_densities(self) -> bool:
        """Whether there are columns whose log density may overflow."""
        return bool(self.normals or self.counts)


def _features(encoding: CategoryEncoding, model: NetworkModel) -> Iterator[CodeFeature]:
    """Yield the features of the families in the order of the columns."""
    for j in sorted(model.structure.features):
        index = int(encoding.columns[j])
        column = encoding.schema[index]
        thresholds = encoding.thresholds(j).tolist() if column.kind is Kind.NUMERIC else ()
        yield CodeFeature(index, column, int(model.sizes[j]), tuple(thresholds))


def _families(model: NetworkModel) -> Iterator[CodeFamily]:
    families, structure = model.families, model.structure
    position = {feature: i for i, feature in enumerate(sorted(structure.features))}
    marked = np.where(families.is_known[:, None], model.network.table, np.nan)
    pairs = zip(structure.features, structure.parents, strict=True)
    for f, (feature, parents) in enumerate(pairs):
        table = families.view(marked, f)
        table[..., -1, :] = 0.0
        yield CodeFamily(position[feature], tuple(position[p] for p in parents), table)


def _normals(densities: Any) -> Iterator[CodeNormal]:
    if not isinstance(densities, GaussianColumns):
        return
    mean, factor, constant = normal_terms(densities, "Code")
    for j, index in enumerate(densities.columns.tolist()):
        if factor[:, j].any():  # a column that is the same in all rows has no effect
            yield CodeNormal(index, *(part[:, j].tolist() for part in (mean, factor, constant)))


def _counts(densities: Any, model: Any) -> Iterator[CodeCount]:
    if isinstance(densities, GaussianColumns):
        return
    if not isinstance(densities, PoissonColumns):
        names = sorted(set(model.distributions_.values()) & {"kernel", "mixture"})
        raise NotExpressibleError(
            "Code requires columns of categories, normal or Poisson distributions, got "
            f"distributions={names[0]!r}: fit with 'discretized', 'gaussian' or 'poisson'."
        )
    for j, index in enumerate(densities.columns.tolist()):
        rate = densities.rate[:, j]
        name = model.schema_[index].name
        yield CodeCount(index, name, np.log(rate).tolist(), rate.tolist())
