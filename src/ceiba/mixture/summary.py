"""The data of a fit as a mixture sees them: rows, where they lie, and their scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.summary import check_columns, survey
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.events import DegenerateColumnWarning
from ceiba.stats import Moments, Space

# Squares of smaller standard deviations than 1e-100, times any weight, would vanish.
_LEAST_VARIANCE = 1e-200


@dataclass(frozen=True, slots=True)
class Surveyed:
    """Rows, in one group or in several, and what a first pass found out about them.

    Parameters
    ----------
    engine : Engine
    groups : tuple
        The rows of each group.
    moments : Moments
        Of all rows.
    space : Space
    variances : ndarray of shape (d,)
        The data's scale: the columns' variances, with a stand-in for constant columns.
    schema : Schema
    constant : ndarray of shape (d,)
        Which columns never vary.
    row_weights : tuple of float
        Mean weight of a row, in each group.
    """

    engine: Engine
    groups: tuple[Any, ...]
    moments: Moments
    space: Space
    variances: Array
    schema: Schema
    constant: Array
    row_weights: tuple[float, ...]

    @classmethod
    def of(cls, engine: Engine, source: Source, reg_covar: float = 0.0) -> Surveyed:
        """The first pass over the rows of a source; refuses what no mixture can describe."""
        rows, moments = survey(engine, source)
        check_columns(moments, source)
        space = Space.of(moments)
        variances = _scale(moments, Encoding.of(source.schema).names, reg_covar)
        return cls._alone(engine, rows, moments, space, variances, source.schema)

    @classmethod
    def _alone(
        cls, engine: Engine, rows: Any, moments: Moments, space: Space, scale: Array, schema: Schema
    ) -> Surveyed:
        constant = moments.most == moments.least
        weights = (moments.total / moments.n_rows,)
        return cls(engine, (rows,), moments, space, scale, schema, constant, weights)

    @classmethod
    def following(
        cls, engine: Engine, source: Source, variances: Array, mean: Array, constant: Array
    ) -> Surveyed:
        """A later batch of rows, under the scale of the first; a column may miss all values."""
        rows, moments = survey(engine, source)
        offset = np.where(moments.weight > 0, moments.mean, mean)
        space = Space(offset, moments.gaps > 0)
        found = cls._alone(engine, rows, moments, space, variances, source.schema)
        return replace(found, constant=constant)

    def of_group(self, rows: Any, moments: Moments) -> Surveyed:
        """Some of the rows alone; the scale stays that of all."""
        weights = (moments.total / max(moments.n_rows, 1),)
        return replace(self, groups=(rows,), moments=moments, row_weights=weights)

    @property
    def n_rows(self) -> int:
        """Rows of positive weight."""
        return self.moments.n_rows

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return self.moments.total

    @property
    def mean(self) -> Array:
        """Mean of every column; where these rows have no value, that of all."""
        return np.where(self.moments.weight > 0, self.moments.mean, self.space.offset)

    @property
    def units(self) -> float:
        """What log-likelihoods would be more if every column had unit variance."""
        return float(self.moments.weight @ np.log(self.variances)) / 2

    def common(self, k: int, full: bool) -> Gaussians:
        """``k`` equal components, each describing all rows column by column."""
        d = len(self.variances)
        one = np.diag(self.variances) if full else self.variances
        return Gaussians.of(
            np.full(k, 1.0 / k),
            np.broadcast_to(self.mean, (k, d)).copy(),
            np.broadcast_to(one, (k, *one.shape)).copy(),
        )


def check_numeric(schema: Schema) -> None:
    """Refuse nominal columns, of which no normal distribution can be taken."""
    nominal = [column.name for column in schema if column.kind is Kind.NOMINAL]
    if nominal:
        more = f" and {len(nominal) - 1} more" if len(nominal) > 1 else ""
        raise ValueError(
            f"column {nominal[0]!r}{more} is nominal, and a Gaussian mixture describes numbers: "
            "leave it out, or use the latent-class model (LatentClassMixture), which describes "
            "nominal columns"
        )


def _scale(moments: Moments, names: list[str], reg_covar: float) -> Array:
    """Variance of every column; a constant one gets the mean of the others', with a warning."""
    variances = moments.variance.copy()
    constant = moments.most == moments.least
    tiny = ~constant & ~(variances > _LEAST_VARIANCE)
    if tiny.any():
        raise ValueError(
            f"the values of column {names[int(np.argmax(tiny))]!r} differ by so little that their "
            "squares cannot be held: rescale it"
        )
    if not constant.any():
        return variances
    if constant.all():
        if not reg_covar:
            raise ValueError(
                f"all rows are equal (n_samples={moments.n_rows}): there is no variance to "
                "describe. Give rows that differ, or a reg_covar above 0"
            )
        return np.full_like(variances, reg_covar)
    variances[constant] = variances[~constant].mean()
    if not reg_covar:
        warn_user(
            f"constant columns: {', '.join(names[j] for j in np.flatnonzero(constant))}. Their "
            "variance is set by covariance_floor, and densities depend on that: leave them out, or "
            "give a reg_covar.",
            DegenerateColumnWarning,
        )
    return variances
