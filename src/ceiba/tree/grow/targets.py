"""Targets and weights in 64-bit fixed point: their sums do not depend on the order of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy.special import xlogy

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.engine import AdditiveStatistic, Batch
from ceiba.stats.labeled import LabeledRows, TargetSummary

# Sums of weights stay exact as float64, sums of targets and of their squares within int64.
_WEIGHT_BITS, _SUM_BITS = 52, 62
_PER_ROW = ("label", "weighted_target", "weighted_square", "value", "weight")
# Ranges of targets whose squares are representable, and the maximum sum.
SQUARE_RANGE = (1e-150, 1e150)
_MAX_SUM = 1e307
# Class indices are stored as uint16.
_MAX_CLASSES = 65_535


@dataclass(frozen=True, slots=True, eq=False)
class FixedPointScale:
    """One scale per fit for weights, targets and squared targets: powers of two.

    The numbers are multiplied by two to the power of ``weight_bits``, ``target_bits`` and
    ``square_bits``. Before, weights are divided by two to the power of ``weight_shift``, so that
    none is above 1, unless all are integers; ``target_center``, the middle of the range, is
    subtracted from the targets. ``classes`` are None for regression, ``class_weights`` the factor
    of each class; ``weighted`` if any row has a weight other than 1; with ``poisson`` y log y is
    summed instead of squared targets.
    """

    classes: Array | None
    class_weights: Array | None
    weighted: bool
    integer_weights: bool
    target_center: float
    weight_shift: int
    weight_bits: int
    target_bits: int
    square_bits: int
    poisson: bool = False

    @classmethod
    def of(
        cls,
        summary: TargetSummary,
        class_weights: Array | None,
        *,
        squares: bool,
        fractional: bool = False,
        poisson: bool = False,
    ) -> FixedPointScale:
        """Choose scales that neither overflow nor waste bits, from counts and ranges.

        ``squares``: squares of targets are summed. ``fractional``: fractions of rows will be
        weighted. ``poisson``: y log y is summed instead of squares, and targets are not centered.
        """
        _check_target(summary, poisson)
        max_weight = summary.weight_max
        integer = summary.integer_weights and not fractional
        if class_weights is not None:
            assert summary.class_counts is not None
            used = class_weights[summary.class_counts > 0]
            max_weight *= float(used.max())
            integer = integer and bool((used % 1 == 0).all())
        unit = summary.weight_min == 1 and max_weight == 1
        weighted = fractional or class_weights is not None or not unit
        rows, heaviest = _exponent(summary.n_rows), _exponent(max_weight)
        integer = integer and rows + heaviest <= _WEIGHT_BITS
        weight_shift = 0 if integer else heaviest
        total_bits = rows + heaviest - weight_shift
        weight_bits = 0 if integer else _WEIGHT_BITS - total_bits
        center, target_bits, square_bits = 0.0, 0, 0
        if summary.classes is None:
            center, reach = _center(summary.target_min, summary.target_max)
            if poisson:
                center, reach = 0.0, summary.target_max
            _check_reach(reach, squares, summary.n_rows)
            if squares and reach > 0:
                exponent = _exponent(reach)
                squared = 2 * exponent
                if poisson:
                    squared = _exponent(max(1.0, abs(float(xlogy(reach, reach)))))
                target_bits = _SUM_BITS - total_bits - exponent
                if integer:  # targets are rounded before they are weighted
                    target_bits = min(target_bits, _WEIGHT_BITS - exponent)
                square_bits = _SUM_BITS - total_bits - squared
        return cls(
            summary.classes, class_weights, weighted, integer, center,
            weight_shift, weight_bits, target_bits, square_bits, poisson,
        )  # fmt: skip

    def _weights(self, rows: LabeledRows, labels: Array | None) -> Array | None:
        """Return the shifted weights of rows, with class weights; None for unit weights."""
        if not self.weighted:
            return None
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        if self.class_weights is not None:
            weight = weight * self.class_weights[labels]
        return np.ldexp(weight, -self.weight_shift) if self.weight_shift else weight

    def fixed_weights(self, rows: LabeledRows, labels: Array) -> Array | None:
        """Return the weights of rows as integers; None for unit weights."""
        return self._round_weights(self._weights(rows, labels))

    def targets(self, rows: LabeledRows, *, ranks: bool = False) -> TargetArrays:
        """Return targets and weights of labeled rows; with ``ranks`` for absolute error."""
        if self.classes is not None:
            labels = rows.labels(self.classes)
            weight = self.fixed_weights(rows, labels)
            return TargetArrays(label=labels.astype(np.uint16), weight=weight)
        # Adding zero turns -0.0 into 0.0; which of the two is smaller would depend on the order.
        value = rows.target.values + 0.0
        real = self._weights(rows, None)
        weight = self._round_weights(real)
        if weight is not None and not self.integer_weights:
            # The rounded weight, so that a mean is weighted as its targets are.
            real = np.ldexp(weight.astype(np.float64), -self.weight_bits)
        if ranks:
            distinct, rank = np.unique(value, return_inverse=True)
            return TargetArrays(
                weighted_target=rank.astype(np.int64), value=value, weight=weight,
                distinct_values=distinct,
            )  # fmt: skip
        centered = value - self.target_center
        squared = xlogy(centered, centered) if self.poisson else centered * centered
        return TargetArrays(
            weighted_target=self._scale(centered, self.target_bits, real),
            weighted_square=self._scale(squared, self.square_bits, real),
            value=value,
            weight=weight,
        )

    def _round_weights(self, weight: Array | None) -> Array | None:
        if weight is None:
            return None
        fixed: Array = np.rint(np.ldexp(weight, self.weight_bits)).astype(np.int64)
        # A weight far below the others still counts as one unit.
        return np.maximum(fixed, 1, out=fixed)

    def _scale(self, values: Array, bits: int, weight: Array | None) -> Array:
        fixed: Array
        if weight is None or self.integer_weights:
            # Rounded before weighting, so that weight 2 gives the same sum as the row twice.
            fixed = np.rint(np.ldexp(values, bits)).astype(np.int64)
            return fixed if weight is None else fixed * weight.astype(np.int64)
        fixed = np.rint(np.ldexp(values * weight, bits)).astype(np.int64)
        return fixed

    @property
    def weight_unit(self) -> float:
        """Real weight of one fixed-point unit."""
        return math.ldexp(1.0, self.weight_shift - self.weight_bits)


@dataclass(frozen=True, slots=True, eq=False)
class TargetArrays:
    """Per-row terms of the sums, as the kernels take them.

    ``label`` are class indices (uint16), ``weighted_target`` and ``weighted_square`` fixed-point
    terms (int64; for absolute error the target is its rank, ``distinct_values`` the values of the
    ranks), ``value`` the targets, ``weight`` fixed-point weights (int64; None for unit weights) and
    ``weight_without_costs`` those before cost factors, where these differ.
    """

    label: Array | None = None
    weighted_target: Array | None = None
    weighted_square: Array | None = None
    value: Array | None = None
    weight: Array | None = None
    distinct_values: Array | None = None
    weight_without_costs: Array | None = None

    def native(self) -> _native.TreeTargets:
        """Return the native view of the arrays."""
        arrays = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return _native.TreeTargets(**arrays)

    def take(self, rows: Array) -> TargetArrays:
        """Return the terms of some rows."""
        arrays = {name: getattr(self, name) for name in _PER_ROW}
        taken = {name: None if own is None else own[rows] for name, own in arrays.items()}
        return TargetArrays(**taken, distinct_values=self.distinct_values)

    @classmethod
    def concatenate(cls, parts: Sequence[TargetArrays]) -> TargetArrays:
        """Return the terms of the rows of all parts, in order; ranks are not supported."""
        if len(parts) == 1:
            return parts[0]
        known = [name for name in _PER_ROW if getattr(parts[0], name) is not None]
        return cls(**{k: np.concatenate([getattr(part, k) for part in parts]) for k in known})


def _exponent(value: float) -> int:
    """Return the smallest integer e with value <= 2^e."""
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else exponent


def _center(low: float, high: float) -> tuple[float, float]:
    """Return the middle of a range, and the distance of its ends from it."""
    if low == high:
        return low, 0.0
    center = low / 2 + high / 2
    return center, max(high - center, center - low)


def _check_target(summary: TargetSummary, poisson: bool) -> None:
    if summary.classes is not None and len(summary.classes) > _MAX_CLASSES:
        raise ValueError(
            f"y must have at most {_MAX_CLASSES:,} classes, got {len(summary.classes):,}: for "
            "numbers use DecisionTreeRegressor."
        )
    if poisson and not summary.target_min >= 0:
        raise ValueError(
            f"criterion='poisson' requires y >= 0, got a minimum of {summary.target_min:g}."
        )
    if poisson and not summary.target_max > 0:
        raise ValueError("criterion='poisson' requires a positive mean of y, got only zeros.")


def _check_reach(reach: float, squares: bool, n_rows: int) -> None:
    low, high = SQUARE_RANGE
    if squares and reach > 0 and not low <= reach <= high:
        raise ValueError(
            f"The values of y differ by {2 * reach:.3g}, whose squares are not representable: "
            "rescale y, or use criterion='absolute_error'."
        )
    if reach > _MAX_SUM / n_rows:
        raise ValueError(
            f"The values of y reach {reach:.3g}, whose sums are not representable: rescale y."
        )


@dataclass(frozen=True, slots=True, eq=False)
class WeightTotals(AdditiveStatistic):
    """Sums of the rows' weights by class, in fixed-point units; a single sum for regression."""

    totals: Array

    @classmethod
    def of(cls, batch: Batch[LabeledRows], scale: FixedPointScale) -> WeightTotals:
        """Sum the weights of a batch."""
        rows, classes = batch.rows, scale.classes
        totals = np.zeros(1 if classes is None else len(classes), np.int64)
        labels = np.zeros(len(rows), np.int64) if classes is None else rows.labels(classes)
        weights = scale.fixed_weights(rows, labels)
        np.add.at(totals, labels, 1 if weights is None else weights)
        return cls(totals)


@dataclass(frozen=True, slots=True, eq=False)
class GrowthInputs:
    """Facts about the data that must be known before the first split.

    ``total_weight``, in units of the scale, is used by min_weight_fraction_leaf; ``cost_factors``
    are the factors of the class weights that stand for a cost matrix.
    """

    schema: Schema
    n_rows: int
    total_weight: int
    scale: FixedPointScale
    seed: int
    cost_factors: Array | None = None
