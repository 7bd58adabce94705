"""Fit the densities of the numeric columns of naive Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.coding import prepare_rows
from ceiba.bayes.distributions.choose import CODED
from ceiba.bayes.distributions.exact_sums import MAX_VALUE, ClassSums
from ceiba.bayes.distributions.gaussian import ClassMoments, GaussianColumns
from ceiba.bayes.distributions.kernel import ColumnValues, KernelColumn, KernelValues
from ceiba.bayes.distributions.mixture import MixtureColumns, fit_mixtures
from ceiba.bayes.distributions.poisson import PoissonColumns
from ceiba.bayes.distributions.rows import ToNumericRows, learn_units, take_scaling
from ceiba.data.schema import Schema
from ceiba.engine import Engine
from ceiba.stats import Moments

Densities = list[GaussianColumns | PoissonColumns | KernelColumn | MixtureColumns]


@dataclass(frozen=True, eq=False)
class DensityStatistics(Record):
    """Statistics of all numeric columns with a density, from which the model is computed.

    Parameters
    ----------
    columns : ndarray of int64
        Indices of the columns in the schema.
    names : tuple of str
        Their distributions.
    scaling : StoredScaling
        Units of the columns, those of the first rows.
    sums : ClassSums
    kernels : tuple of ColumnValues
        Values of the columns with the distribution ``"kernel"``, in their order.
    class_factors : ndarray of shape (n_classes,)
        Factors of the class weights, which are part of all weights.
    """

    columns: Annotated[Array, ArrayOf("int64", "n_columns")]
    names: tuple[str, ...]
    scaling: StoredScaling
    sums: ClassSums
    kernels: tuple[ColumnValues, ...]
    class_factors: Annotated[Array, ArrayOf("float64", "n_classes")]

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        n = len(self.columns)
        if len(self.names) != n or self.sums.nonzero.shape[1] != n:
            raise ValueError(f"names and sums must have {n} columns.")
        if len(self.kernels) != len(self.indices("kernel")):
            raise ValueError("kernels must have an entry for each column with kernels.")

    def indices(self, name: str) -> list[int]:
        """Return the positions of the columns of a distribution."""
        return [i for i, own in enumerate(self.names) if own == name]

    def merge(self, other: DensityStatistics) -> Self:
        """Return the statistics of both parts."""
        pairs = zip(self.kernels, other.kernels, strict=True)
        kernels = tuple(one.merge(two) for one, two in pairs)
        return replace(self, sums=self.sums.merge(other.sums), kernels=kernels)

    def without(self, other: DensityStatistics) -> Self:
        """Return the statistics that remain when the rows of ``other`` are removed."""
        pairs = zip(self.kernels, other.kernels, strict=True)
        kernels = tuple(one.without(two) for one, two in pairs)
        return replace(self, sums=self.sums.without(other.sums), kernels=kernels)

    def solve(
        self,
        schema: Schema,
        var_smoothing: float,
        alpha: float,
        moments: ClassMoments | None = None,
    ) -> Densities:
        """Return the fitted distributions; mixtures are fitted to the rows (`fit_mixtures`).

        ``moments``, if given, are those of a part of the rows.
        """
        found: Densities = []
        moments = self.moments if moments is None else moments
        gaussian = self.indices("gaussian")
        if gaussian:
            columns = self.columns[gaussian]
            own = take_scaling(self.scaling, gaussian)
            names = [schema[int(j)].name for j in columns]
            found.append(
                GaussianColumns.solve(columns, own, moments.take(gaussian), var_smoothing, names)
            )
        # Smoothing would give the classes different rates of a column that is the same in all rows.
        poisson = [i for i in self.indices("poisson") if not self.constant[i]]
        if poisson:
            found.append(PoissonColumns.solve(self.columns[poisson], moments.take(poisson), alpha))
        for i, values in zip(self.indices("kernel"), self.kernels, strict=True):
            own = take_scaling(self.scaling, [i])
            found.append(KernelColumn.solve(int(self.columns[i]), own, values, self.class_factors))
        return found

    @cached_property
    def moments(self) -> ClassMoments:
        """Weight, mean and centered squares of each class and column."""
        return self.sums.moments()

    def check_variances(self, schema: Schema, classes: Array) -> None:
        """Raise ValueError if a variance is lost beside values that were removed."""
        where = self.indices("gaussian")
        unresolved = np.argwhere(self.sums.take(where).unresolved())
        if len(unresolved):
            c, i = unresolved[0]
            raise ValueError(
                f"forget cannot remove these rows: their values of column "
                f"{schema[int(self.columns[where[i]])].name!r} in class {classes.tolist()[c]!r} "
                "exceed the remaining ones so much that the variance of these is lost. Fit the "
                "remaining rows again."
            )

    @property
    def constant(self) -> Array:
        """Whether each column is the same in all rows."""
        return self.moments.constant


def density_columns(distributions: dict[int, str]) -> tuple[int, ...]:
    """Return the columns whose distribution is a density."""
    return tuple(j for j, name in distributions.items() if name not in CODED)


def count_densities(
    engine: Engine,
    partitions: Any,
    schema: Schema,
    distributions: dict[int, str],
    classes: Array,
    class_weights: Array | None,
    before: DensityStatistics | None = None,
    labeled: Any = None,
) -> tuple[DensityStatistics, ToNumericRows]:
    """Summarize the numeric columns that have a density; also return their preparation.

    Later rows are summarized in the units, and in the range, of those ``before``. ``labeled`` are
    the labeled rows, if there are any.
    """
    columns = density_columns(distributions)
    names = tuple(distributions[j] for j in columns)
    found_units, ranges = learn_units(engine, partitions, schema, columns)
    scaling = _own_units(found_units, names) if before is None else before.scaling
    _check_range(names, columns, schema, found_units, ranges, scaling)
    counts = tuple(i for i, name in enumerate(names) if name == "poisson")
    prepare = ToNumericRows(columns, scaling, classes, class_weights, counts)
    rows = prepare_rows(engine, partitions, labeled, prepare)
    sums = engine.reduce(rows, ClassSums.of)
    kernel = [i for i, name in enumerate(names) if name == "kernel"]
    kernels: tuple[ColumnValues, ...] = ()
    if kernel:
        low, high = ranges.min[kernel], ranges.max[kernel]
        if before is not None:
            low = np.array([own.low for own in before.kernels])
            high = np.array([own.high for own in before.kernels])
        own = tuple(columns[i] for i in kernel)
        own_prepare = replace(
            prepare, columns=own, scaling=take_scaling(scaling, kernel), counts=()
        )
        part = prepare_rows(engine, partitions, labeled, own_prepare)
        found = engine.reduce(part, KernelValues.of, _finite(low), _finite(high))
        kernels = found.columns
    factors = np.ones(len(classes)) if class_weights is None else class_weights
    indices = np.array(columns, np.int64)
    statistics = DensityStatistics(indices, names, scaling, sums, kernels, factors)
    return statistics, prepare


def mixtures_of(
    engine: Engine, partitions: Any, statistics: DensityStatistics, prepare: ToNumericRows
) -> Densities:
    """Fit the mixtures of the columns that have one."""
    where = statistics.indices("mixture")
    if not where:
        return []
    columns = tuple(int(statistics.columns[i]) for i in where)
    scaling = take_scaling(statistics.scaling, where)
    own = replace(prepare, columns=columns, scaling=scaling, counts=())
    return [fit_mixtures(engine, partitions, own, columns, statistics.moments.take(where), 0)]


def _finite(bound: Array) -> Array:
    return np.where(np.isfinite(bound), bound, 0.0)


def _own_units(scaling: StoredScaling, names: Sequence[str]) -> StoredScaling:
    """Return the scaling with counts in their own units, which determine their probabilities."""
    counts = np.array([name == "poisson" for name in names], bool)
    zeros = np.zeros(len(names), np.int64)
    return replace(
        scaling,
        exponents=np.where(counts, zeros, scaling.exponents),
        origins=np.where(counts, zeros, scaling.origins),
        origin_values=np.where(counts, 0.0, scaling.origin_values),
    )


def _check_range(
    names: Sequence[str],
    columns: Sequence[int],
    schema: Schema,
    found: StoredScaling,
    ranges: Moments,
    scaling: StoredScaling,
) -> None:
    """Raise ValueError for values whose squares overflow in the units of the first rows.

    ``ranges`` are in the units ``found`` of the rows themselves.
    """
    with np.errstate(all="ignore"):
        own = [found.from_units(bound[None]) for bound in (ranges.min, ranges.max)]
        size = np.max([np.abs(scaling.to_units(bound)[0]) for bound in own], axis=0)
    known = ranges.min <= ranges.max
    for i in np.flatnonzero(known & ~(size <= MAX_VALUE)).tolist():
        largest = max((bound[0, i] for bound in own), key=abs)
        name = schema[columns[i]].name
        if names[i] == "poisson":
            raise ValueError(
                f"distributions='poisson' requires counts up to {MAX_VALUE:g}, got {largest:g} in "
                f"column {name!r}."
            )
        limit = scaling.from_units(np.full((1, len(names)), MAX_VALUE))[0, i]
        raise ValueError(
            f"partial_fit requires values up to {limit:.3g} in column {name!r}, whose units are "
            f"those of the first call, got {largest:g}: fit all rows at once."
        )
