"""Weights and targets as whole numbers: sums of them do not depend on the order of the rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy

from ceiba import _native
from ceiba._typing import Array
from ceiba.stats.rows import Labelled
from ceiba.stats.target_summary import TargetSurvey

# Sums of weights stay exact as float64, sums of targets and of their squares within int64.
_WEIGHT_BITS, _SUM_BITS = 52, 62
# Squares of targets that differ by more, or by less, cannot be held, nor sums above the last.
_SQUARABLE = (1e-150, 1e150)
_SUMMABLE = 1e307


@dataclass(frozen=True, slots=True, eq=False)
class FixedPoint:
    """One scale a fit for weights, targets and squared targets: powers of two.

    Parameters
    ----------
    classes : ndarray or None
        The classes; None for numbers.
    class_weights : ndarray or None
        Factor of each class.
    weighted : bool
        Whether rows differ in weight, or have another than 1.
    whole : bool
        Whether all weights are whole numbers; these are kept as they are.
    centre : float
        What targets are taken relative to: the middle of their range.
    weight_shift : int
        Weights are first divided by this power of two: none is then above 1, unless all are whole.
    weight_bits, target_bits, square_bits : int
        Powers of two that the numbers are multiplied by.
    poisson : bool
        Whether y log y takes the place of squared targets.
    """

    classes: Array | None
    class_weights: Array | None
    weighted: bool
    whole: bool
    centre: float
    weight_shift: int
    weight_bits: int
    target_bits: int
    square_bits: int
    poisson: bool = False

    @classmethod
    def of(
        cls,
        survey: TargetSurvey,
        class_weights: Array | None,
        *,
        squares: bool,
        shares: bool = False,
        poisson: bool = False,
    ) -> FixedPoint:
        """Scales that neither overflow nor waste bits, from counts and ranges alone.

        ``squares`` of targets are wanted, ``shares`` of rows will be weighted, and under
        ``poisson`` y log y takes the place of squares, of targets that are not centred.
        """
        most, whole = survey.weight_most, survey.whole_weights and not shares
        if class_weights is not None:
            most *= float(class_weights.max())
            whole = whole and bool((class_weights % 1 == 0).all())
        weighted = shares or class_weights is not None or survey.weight_least != 1 or most != 1
        rows, heaviest = _exponent(survey.n_rows), _exponent(most)
        whole = whole and rows + heaviest <= _WEIGHT_BITS
        weight_shift = 0 if whole else heaviest
        room = rows + heaviest - weight_shift
        weight_bits = 0 if whole else _WEIGHT_BITS - room
        centre, target_bits, square_bits = 0.0, 0, 0
        if survey.classes is None:
            centre, reach = _middle(survey.target_least, survey.target_most)
            if poisson:
                centre, reach = 0.0, survey.target_most
            _check_reach(reach, squares, survey.n_rows)
            if squares and reach > 0:
                far = _exponent(reach)
                further = _exponent(max(1.0, abs(_ylogy(reach)))) if poisson else 2 * far
                target_bits = _SUM_BITS - room - far
                if whole:  # targets are rounded before they are weighted
                    target_bits = min(target_bits, _WEIGHT_BITS - far)
                square_bits = _SUM_BITS - room - further
        return cls(
            survey.classes, class_weights, weighted, whole, centre,
            weight_shift, weight_bits, target_bits, square_bits, poisson,
        )  # fmt: skip

    def weights(self, rows: Labelled, labels: Array | None) -> Array | None:
        """Weights of the rows, class weights included, shifted; None where all are 1."""
        if not self.weighted:
            return None
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        if self.class_weights is not None:
            weight = weight * self.class_weights[labels]
        return np.ldexp(weight, -self.weight_shift) if self.weight_shift else weight

    def fixed_weights(self, rows: Labelled) -> Array | None:
        """Weights of the rows as whole numbers; None where all are 1."""
        labels = None if self.class_weights is None else rows.labels(self._known_classes)
        return self._fixed_weights(self.weights(rows, labels))

    @property
    def _known_classes(self) -> Array:
        assert self.classes is not None
        return self.classes

    def targets(self, rows: Labelled, *, ranks: bool = False) -> TargetArrays:
        """Targets and weights of labelled rows; ``ranks`` for absolute error."""
        if self.classes is not None:
            labels = rows.labels(self.classes)
            weight = self._fixed_weights(self.weights(rows, labels))
            return TargetArrays(label=labels.astype(np.uint16), weight=weight)
        # Zero is added to make -0.0 a zero: which of the two is the smaller depends on the order.
        value = rows.target.values + 0.0
        real = self.weights(rows, None)
        weight = self._fixed_weights(real)
        if weight is not None and not self.whole:
            # The weight as it is counted, so that a mean is one of the targets' own weights.
            real = np.ldexp(weight.astype(np.float64), -self.weight_bits)
        if ranks:
            ranked, places = np.unique(value, return_inverse=True)
            number = places.astype(np.int64)
            return TargetArrays(number=number, value=value, weight=weight, ranked=ranked)
        shifted = value - self.centre
        number = self._scaled(shifted, self.target_bits, real)
        squared = _ylogy(shifted) if self.poisson else shifted * shifted
        square = self._scaled(squared, self.square_bits, real)
        return TargetArrays(number=number, square=square, value=value, weight=weight)

    def _fixed_weights(self, weight: Array | None) -> Array | None:
        if weight is None:
            return None
        fixed: Array = np.rint(np.ldexp(weight, self.weight_bits)).astype(np.int64)
        # A weight far below the others still counts as something.
        return np.maximum(fixed, 1, out=fixed)

    def _scaled(self, values: Array, bits: int, weight: Array | None) -> Array:
        fixed: Array
        if weight is None or self.whole:
            # Rounded before it is weighted, so that weight 2 is the same as the row twice.
            fixed = np.rint(np.ldexp(values, bits)).astype(np.int64)
            return fixed if weight is None else fixed * weight.astype(np.int64)
        fixed = np.rint(np.ldexp(values * weight, bits)).astype(np.int64)
        return fixed

    @property
    def weight_unit(self) -> float:
        """The weight of one."""
        return math.ldexp(1.0, self.weight_shift - self.weight_bits)

    @property
    def relative_unit(self) -> float:
        """The shifted weight of one."""
        return math.ldexp(1.0, -self.weight_bits)

    @property
    def target_unit(self) -> float:
        """The weighted target of one."""
        return math.ldexp(1.0, -self.target_bits)

    @property
    def square_unit(self) -> float:
        """The weighted squared target of one."""
        return math.ldexp(1.0, -self.square_bits)


@dataclass(frozen=True, slots=True, eq=False)
class TargetArrays:
    """What every row adds up to, as the kernels take it."""

    label: Array | None = None
    number: Array | None = None
    square: Array | None = None
    value: Array | None = None
    weight: Array | None = None
    ranked: Array | None = None
    plain: Array | None = None

    def native(self) -> Any:
        """The native view of the arrays."""
        return _native.TreeTargets(
            label=self.label, number=self.number, square=self.square,
            value=self.value, weight=self.weight, ranked=self.ranked, plain=self.plain,
        )  # fmt: skip

    def take(self, rows: Array) -> TargetArrays:
        """Those of some rows."""
        names = ("label", "number", "square", "value", "weight")
        arrays = {name: getattr(self, name) for name in names}
        taken = {name: None if a is None else a[rows] for name, a in arrays.items()}
        return TargetArrays(**taken, ranked=self.ranked)

    @classmethod
    def joined(cls, parts: Sequence[TargetArrays]) -> TargetArrays:
        """Those of the rows of all parts, in order; ranks cannot be joined."""
        if len(parts) == 1:
            return parts[0]
        names = ("label", "number", "square", "value", "weight")
        columns = {name: [getattr(part, name) for part in parts] for name in names}
        return cls(
            **{
                n: None if arrays[0] is None else np.concatenate(arrays)
                for n, arrays in columns.items()
            }
        )


def _ylogy(value: Any) -> Any:
    """y log y, which is 0 at 0."""
    return xlogy(value, value)


def _exponent(value: float) -> int:
    """The least whole e with value <= 2^e."""
    mantissa, exponent = math.frexp(value)
    return exponent - 1 if mantissa == 0.5 else exponent


def _middle(least: float, most: float) -> tuple[float, float]:
    """The middle of a range, and how far its ends are from it."""
    if least == most:
        return least, 0.0
    centre = least / 2 + most / 2
    return centre, max(most - centre, centre - least)


def _check_reach(reach: float, squares: bool, n_rows: int) -> None:
    least, most = _SQUARABLE
    if squares and reach > 0 and not least <= reach <= most:
        raise ValueError(
            f"targets differ by {2 * reach:.3g}, and squares of that cannot be held: rescale y, or "
            "use criterion='absolute_error'"
        )
    if reach > _SUMMABLE / n_rows:
        raise ValueError(f"targets reach {reach:.3g}, and sums of that cannot be held: rescale y")


@dataclass(frozen=True, slots=True)
class TotalWeight:
    """The weight of some rows, in units of the fixed point: the same for any partitioning."""

    total: int

    @classmethod
    def of(cls, batch: Any, fixed: FixedPoint) -> TotalWeight:
        """Of a batch of labelled rows."""
        weight = fixed.fixed_weights(batch.rows)
        return cls(len(batch.rows) if weight is None else int(weight.sum()))

    def merge(self, other: TotalWeight) -> TotalWeight:
        """Of both parts."""
        return TotalWeight(self.total + other.total)
