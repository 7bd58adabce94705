"""Several targets in fixed point, and the settings by which trees are grown on them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._native import Criterion
from ceiba._typing import Array
from ceiba.data.target import Target
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.stats.outputs import MultiOutputRows
from ceiba.tree.config import GrowthConfig, TreeConfig
from ceiba.tree.grow.targets import SQUARE_RANGE, FixedPointScale, GrowthInputs

# Class indices of all outputs together are stored as uint16.
_MAX_CLASSES = 65_535


@dataclass(frozen=True, slots=True, eq=False)
class OutputTargets:
    """Targets of several outputs, as the kernels take them.

    Every output has the fixed-point scale of a tree on this output alone; the weights are the same
    in all of them. An output of classes is a target for each class. Splits lower the mean over the
    outputs of their squared errors, or of their Gini impurities.

    Parameters
    ----------
    scale : FixedPointScale
        Of the weights, and of the output with the largest range.
    native : VectorTargets
    weight : ndarray of int64 or None
        Fixed-point weights; None for 1 each.
    factors : ndarray of shape (n_targets,)
        Factors of the squares of the targets, in units of ``scale``.
    output_classes : ndarray of int64 of shape (n_outputs,)
        Number of classes of each output; 0 for numbers.
    """

    scale: FixedPointScale
    native: _native.VectorTargets
    weight: Array | None
    factors: Array
    output_classes: Array

    @classmethod
    def of(
        cls, rows: MultiOutputRows, weight: Array | None, n_rows: int | None = None
    ) -> OutputTargets:
        """Scale the targets of rows with these weights, of which ``n_rows`` are drawn."""
        n_rows = len(rows) if n_rows is None else n_rows
        if rows.classes is not None:
            return cls._of_classes(rows, weight, n_rows)
        n_outputs = len(rows.outputs)
        for k, target in enumerate(rows.outputs):
            _check_range(k, target.values)
        scales = [
            FixedPointScale.of(_summary(target.values, weight, n_rows), None, squares=True)
            for target in rows.outputs
        ]
        terms = [
            scale.targets(LabeledRows(rows.labeled.table, target, weight))
            for scale, target in zip(scales, rows.outputs, strict=True)
        ]
        is_varying = [bool(np.ptp(target.values)) for target in rows.outputs]
        # Constant outputs have no range, and no squares.
        bits = [
            scale.target_bits for scale, varies in zip(scales, is_varying, strict=True) if varies
        ]
        largest = scales[_first(scales, is_varying, min(bits)) if bits else 0]
        factors = [
            math.ldexp(1 / n_outputs, 2 * (largest.target_bits - scale.target_bits))
            if varies
            else 0.0
            for scale, varies in zip(scales, is_varying, strict=True)
        ]
        units = [math.ldexp(1.0, scale.weight_bits - scale.target_bits) for scale in scales]
        native = _native.VectorTargets(
            weighted_target=_columns(term.weighted_target for term in terms),
            value=_columns(term.value for term in terms),
            center=np.array([scale.target_center for scale in scales]),
            unit=np.array(units),
            weight=terms[0].weight,
        )
        no_classes = np.zeros(n_outputs, np.int64)
        return cls(largest, native, terms[0].weight, np.array(factors), no_classes)

    @classmethod
    def _of_classes(cls, rows: MultiOutputRows, weight: Array | None, n_rows: int) -> OutputTargets:
        assert rows.classes is not None
        n_classes = np.array([len(classes) for classes in rows.classes], np.int64)
        if n_classes.sum() > _MAX_CLASSES:
            raise ValueError(
                f"y must have at most {_MAX_CLASSES:,} classes in all outputs together, got "
                f"{n_classes.sum():,}: for numbers use DecisionTreeRegressor."
            )
        zeros = np.zeros(len(rows))
        scale = FixedPointScale.of(_summary(zeros, weight, n_rows), None, squares=False)
        labeled = LabeledRows(rows.labeled.table, Target(zeros), weight)
        fixed = scale.fixed_weights(labeled, zeros)
        first = np.concatenate([[0], np.cumsum(n_classes)[:-1]])
        native = _native.VectorTargets(label=(rows.values + first).astype(np.uint16), weight=fixed)
        factors = np.full(int(n_classes.sum()), 1 / len(n_classes))
        return cls(scale, native, fixed, factors, n_classes)

    @property
    def total_weight(self) -> int:
        """Weight of all rows, in units of the scale; 0 if each has the weight 1."""
        return 0 if self.weight is None else int(self.weight.sum())

    def growth(self, config: TreeConfig, inputs: GrowthInputs) -> GrowthConfig:
        """Return a configuration as the kernels take it."""
        values = GrowthConfig.of(config, inputs, weighted=True).values
        # The target of a class has the units of the weights.
        is_class = self.output_classes[0] > 0
        target_unit = values["weight_unit"] if is_class else values["target_unit"]
        return GrowthConfig(
            {
                **values,
                "criterion": Criterion.SQUARED_ERROR,
                "target_unit": target_unit,
                "target_factors": self.factors.tolist(),
            }
        )


def _summary(values: Array, weight: Array | None, n_rows: int) -> TargetSummary:
    low, high, integer = 1.0, 1.0, True
    if weight is not None:
        low, high = float(weight.min()), float(weight.max())
        integer = bool((np.floor(weight) == weight).all())
    target_range = float(values.min()) + 0.0, float(values.max()) + 0.0
    return TargetSummary((n_rows,), None, None, low, high, integer, *target_range)


def _columns(parts: Iterable[Array | None]) -> Array:
    return np.column_stack([part for part in parts if part is not None])


def _check_range(output: int, values: Array) -> None:
    low, high = SQUARE_RANGE
    half = values.max() / 2 - values.min() / 2
    if half > 0 and not low <= half <= high:
        raise ValueError(
            f"The values of column {output} of y differ by {2 * half:.3g}, whose squares are not "
            "representable: rescale y."
        )


def _first(scales: list[FixedPointScale], is_varying: list[bool], bits: int) -> int:
    """Return the first output that varies and has this scale: the largest range."""
    pairs = zip(scales, is_varying, strict=True)
    return next(
        k for k, (scale, varies) in enumerate(pairs) if varies and scale.target_bits == bits
    )
