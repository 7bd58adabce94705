"""The fit of forests of several targets: options, rows and growth."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.target import Target, class_indices
from ceiba.ensemble.common.sampling import RowSampler
from ceiba.ensemble.forest.grower import (
    EncodedTable,
    ForestSample,
    rows_as_drawn,
    sample_fingerprint,
)
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.multi_output import MultiOutputForest
from ceiba.stats import TargetSummary
from ceiba.stats.outputs import MultiOutputRows
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.output_targets import OutputTargets
from ceiba.tree.grow.targets import GrowthInputs
from ceiba.tree.multi_output import (
    class_attributes,
    one_target_error,
    output_class_weights,
    row_factors,
)

# Parameters of forests that have no meaning for several targets, and their values without effect.
_SINGLE_OUTPUT = {"importance": False, "ccp_alpha": 0.0, "quantiles": False,
                  "leaf_probability": "plain"}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class MultiOutputSample(ForestSample):
    """Rows of a fit, the sampler of the trees' rows, and several targets."""

    targets: OutputTargets
    output_rows: MultiOutputRows
    class_weights: list[Array] | None

    @classmethod
    def of(
        cls, output_rows: MultiOutputRows, summary: TargetSummary, sampler: RowSampler,
        class_weight: Any,
    ) -> MultiOutputSample:  # fmt: skip
        """Prepare rows of positive weight."""
        weighted = output_rows.labeled
        rows, summary, sampler = rows_as_drawn(weighted, summary, sampler)
        factors = output_class_weights(class_weight, output_rows)
        weight = rows.weight
        if factors is not None:
            weight = row_factors(factors, output_rows) * (1.0 if weight is None else weight)
        targets = OutputTargets.of(output_rows, weight, summary.n_rows)
        return cls(weighted, rows, sampler, targets.scale, 0.0, targets, output_rows, factors)

    @property
    def fingerprint(self) -> int:
        """CRC-32 of table, targets, weights and sampler."""
        crc = sample_fingerprint(self.sampler, self.weighted_rows)
        for target in self.output_rows.outputs[1:]:
            labels = [] if target.classes is None else target.classes.tolist()
            crc = zlib.crc32(repr(labels).encode(), crc)
            crc = zlib.crc32(np.ascontiguousarray(target.values).data.cast("B"), crc)
        return crc

    @property
    def varies(self) -> bool:
        """Whether some target differs between rows."""
        return any(np.ptp(target.values) > 0 for target in self.output_rows.outputs)

    def fitted_attributes(self) -> dict[str, Any]:
        """Return the fitted attributes of a classifier's targets."""
        return class_attributes(self.output_rows, self.class_weights)

    def _growth(self, config: TreeConfig, inputs: GrowthInputs) -> _native.TreeConfig:
        return self.targets.growth(config, inputs).native

    def _grow_trees(
        self, forest_config: _native.ForestConfig, growth: _native.TreeConfig,
        encoded: EncodedTable, threads: int, parts: dict[str, Any],
    ) -> Forest:  # fmt: skip
        arrays, leaf_values = _native.forest_grow_vectors(
            forest_config, encoded.codes, encoded.encoding, self.targets.native,
            self.sampler.native(), encoded.values, threads,
        )  # fmt: skip
        return MultiOutputForest(
            **arrays, **parts, n_classes=0, leaf_values=leaf_values,
            output_classes=self.targets.output_classes,
        )  # fmt: skip


def check_single_output_parameters(model: Any) -> None:
    """Raise `ParameterError` for options that forests of several targets do not have."""
    for name, unset in _SINGLE_OUTPUT.items():
        value = getattr(model, name, unset)
        if value != unset:
            raise one_target_error(f"{name}={value!r}", f"set {name}={unset!r}")
    if isinstance(weight := getattr(model, "class_weight", None), str) and weight != "balanced":
        raise one_target_error(f"class_weight={weight!r}", "set class_weight='balanced'")


def with_known_classes(rows: MultiOutputRows, classes: list[Array] | None) -> MultiOutputRows:
    """Return rows whose class indices are those of an earlier fit."""
    if classes is None:
        return rows
    outputs = []
    for target, known in zip(rows.outputs, classes, strict=True):
        assert target.classes is not None
        outputs.append(Target(class_indices(target.classes, known)[target.values], known))
    return replace(rows, outputs=outputs)


def check_same_outputs(previous: Forest, n_outputs: int) -> None:
    """Raise ValueError for a warm start with another number of outputs."""
    if previous.n_outputs != n_outputs:
        raise ValueError(
            f"warm_start=True requires the targets of the existing trees, {previous.n_outputs}, "
            f"got {n_outputs}: set warm_start=False."
        )


def same_classes(one: Any, other: Any) -> bool:
    """Return whether two classifiers have the same classes, in every output."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(np.array_equal, one, other))
    return np.array_equal(one, other)
