"""Trees of several targets: one structure that lowers the mean error of all of them.

    error of a node = mean over the outputs of squared error, or Gini impurity
    split           = threshold, or groups of categories, of maximum decrease of the error
    leaf            = mean of each target, or class fractions of each output

De'ath (2002), "Multivariate regression trees: a new technique for modeling species-environment
relationships", Ecology 83.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ParameterError, check_unused, seed_of
from ceiba.base.estimator import schema_attributes
from ceiba.data.target import Target
from ceiba.engine.choose import check_in_memory
from ceiba.stats import TargetSummary
from ceiba.stats.outputs import MultiOutputRows
from ceiba.stats.points import WEIGHT_RANGE, zero_weights_error
from ceiba.tree.class_weight import class_weight_factors
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.grower import GrowthResult, TreeGrower, encode_columns
from ceiba.tree.grow.output_targets import OutputTargets
from ceiba.tree.grow.statistics import GrowthState
from ceiba.tree.grow.targets import GrowthInputs
from ceiba.tree.grow.thresholds import snap_to_values
from ceiba.tree.model.multi_output import MultiOutputTree, check_single_output

# A setting, the values that trees of several targets have, and the one to choose.
_SUPPORTED: tuple[tuple[str, tuple[Any, ...], Any], ...] = (
    ("criterion", ("gini", "squared_error"), None),
    ("splits", ("binary", "multiway"), "binary"),
    ("missing", ("learned", "branch", "majority"), "learned"),
    ("empty_branches", (False,), False),
    ("min_split_fraction", (0.0,), 0.0),
    ("collapse", (False,), False),
    ("pruning", ("none",), "none"),
    ("subtree_raising", (False,), False),
    ("min_leaf_branches", ("all",), "all"),
    ("feature_reuse", ("all",), "all"),
)
# Parameters of pruning, which needs one target, also after the fit.
_PRUNING = ("prune_confidence", "prune_folds", "prune_risk", "prune_rule", "validation_fraction")


def one_target_error(setting: str, remedy: str, reason: str = "") -> ParameterError:
    """Return the error of a setting that several targets exclude."""
    return ParameterError(
        f"{reason}{setting} requires one target, got a y with several columns: {remedy}, or fit a "
        "model for each column."
    )


def check_supported(config: TreeConfig) -> None:
    """Raise `ParameterError` for settings that trees of several targets do not have."""
    if config.monotonic_cst is not None:  # an array, perhaps
        reason = "Monotonicity constraints are not supported with multiple outputs. "
        raise one_target_error("monotonic_cst", "set monotonic_cst=None", reason)
    for name, allowed, choice in _SUPPORTED:
        value = getattr(config, name)
        if value in allowed:
            continue
        if name == "criterion":
            choice = "squared_error" if config.is_regression else "gini"
        raise one_target_error(f"{name}={value!r}", f"set {name}={choice!r}")


def check_tree_options(model: Any, config: TreeConfig) -> None:
    """Raise `ParameterError` for options of a tree estimator that need one target."""
    check_supported(config)
    if getattr(model, "cost_matrix", None) is not None:
        raise one_target_error("cost_matrix", "use class_weight")
    if (probability := getattr(model, "leaf_probability", "plain")) != "plain":
        raise one_target_error(f"leaf_probability={probability!r}", "set leaf_probability='plain'")
    pruning = [name for name in _PRUNING if hasattr(model, name)]
    check_unused(model, pruning, "a y with several columns")


def check_one_output(model: Any, what: str) -> None:
    """Raise ValueError if a fitted model has several outputs."""
    check_single_output(getattr(model, "n_outputs_", 1), what)


def fit_tree(model: Any, X: Any, y: Any, sample_weight: Any) -> dict[str, Any]:
    """Grow a tree of several targets, and return the fitted attributes of its estimator."""
    check_in_memory(f"{type(model).__name__} with several targets", X, y)
    engine, source = model._open_source(X, sample_weight, y=y, reset=True)
    config = TreeConfig.from_estimator(model)
    check_tree_options(model, config)
    rows = MultiOutputRows.of(source.partitions[0].load(), model._task)
    if not len(rows):
        raise zero_weights_error()
    weight = rows.labeled.weight
    factors = output_class_weights(getattr(model, "class_weight", None), rows)
    if factors is not None:
        weight = row_factors(factors, rows) * (1.0 if weight is None else weight)
    targets = OutputTargets.of(rows, weight)
    result, means = _grow(model, engine, rows, config, targets)
    attributes = {
        "tree_": MultiOutputTree.of(result.tree, means, targets.output_classes),
        **schema_attributes(source.schema),
        **class_attributes(rows, factors),
    }
    return attributes | {"trace_": result.trace()} if config.trace else attributes


def _grow(
    model: Any, engine: Any, rows: MultiOutputRows, config: TreeConfig, targets: OutputTargets
) -> tuple[GrowthResult, Array]:
    """Grow the structure; return it with the mean targets of its nodes."""
    table, seed, n_rows = rows.labeled.table, seed_of(model.random_state), len(rows)
    inputs = GrowthInputs(table.schema, n_rows, targets.total_weight or n_rows, targets.scale, seed)
    growth = targets.growth(config, inputs)
    encoding, codes = encode_columns(engine, rows.labeled, config, seed)
    state, means = _native.tree_grow_vectors(
        growth.native, codes, encoding.native(), targets.native, engine.threads
    )
    grower = TreeGrower(engine, engine.prepared_rows(rows.labeled), config, inputs, growth)
    result = grower.pack(encoding, GrowthState(*state), table, codes)
    if config.thresholds == "value":
        result = replace(result, tree=snap_to_values(result.tree, table))
    return result, means[result.state_nodes]


def class_attributes(rows: MultiOutputRows, factors: list[Array] | None) -> dict[str, Any]:
    """Return the fitted attributes of a classifier's outputs: lists, as in scikit-learn."""
    classes = rows.classes
    if classes is None:
        return {}
    attributes = {"classes_": classes, "n_classes_": [len(labels) for labels in classes]}
    return attributes if factors is None else attributes | {"class_weight_": factors}


def output_class_weights(class_weight: Any, rows: MultiOutputRows) -> list[Array] | None:
    """Return the factors of the classes of each output, or None."""
    if class_weight is None:
        return None
    n_outputs = len(rows.outputs)
    if isinstance(class_weight, Mapping):
        raise ParameterError(
            "For multi-output, class_weight should be a list of dicts, or the string 'balanced', "
            f"got {class_weight!r}."
        )
    if isinstance(class_weight, str):
        class_weight = [class_weight] * n_outputs
    if len(class_weight) != n_outputs:
        raise ParameterError(
            "For multi-output, number of elements in class_weight should match number of outputs, "
            f"{n_outputs}, got {len(class_weight)}."
        )
    factors = []
    for output_weight, target in zip(class_weight, rows.outputs, strict=True):
        of_output = class_weight_factors(output_weight, _class_summary(target))
        n_classes = len(np.asarray(target.classes))
        factors.append(np.ones(n_classes) if of_output is None else of_output)
    return factors


def _class_summary(target: Target) -> TargetSummary:
    assert target.classes is not None
    counts = np.bincount(target.values, minlength=len(target.classes)).astype(np.int64)
    return TargetSummary(
        (len(target.values),), target.classes, counts, weight_min=1.0, weight_max=1.0,
        integer_weights=True, target_min=np.nan, target_max=np.nan,
    )  # fmt: skip


def row_factors(factors: list[Array], rows: MultiOutputRows) -> Array:
    """Return the product over the outputs of the factors of a row's classes."""
    by_output = [
        factor[target.values] for factor, target in zip(factors, rows.outputs, strict=True)
    ]
    with np.errstate(over="ignore", under="ignore"):
        product = np.asarray(reduce(np.multiply, by_output))
    low, high = WEIGHT_RANGE
    outside = product[(product < low) | (product > high)]
    if len(outside):
        raise ValueError(
            "class_weight must have products over the outputs, one for each row, in "
            f"[{low:g}, {high:g}], got {outside[0]:g}: use weights closer to 1."
        )
    return product


def predicted_classes(classes: list[Array], probabilities: list[Array]) -> Array:
    """Return the most probable class of each output: (n_rows, n_outputs)."""
    predicted = [labels[p.argmax(axis=1)] for labels, p in zip(classes, probabilities, strict=True)]
    if len({isinstance(labels[0], str) for labels in classes}) > 1:
        # NumPy would convert numbers to text.
        predicted = [column.astype(object) for column in predicted]
    return np.column_stack(predicted)


def check_class_lists(model: Any, output_classes: Array) -> None:
    """Raise ValueError unless the classes of an estimator are those of its outputs."""
    expected = output_classes.tolist()
    classes, n_classes = model.classes_, model.n_classes_
    is_list = isinstance(classes, list) and isinstance(n_classes, list)
    if not is_list or [len(labels) for labels in classes] != expected or n_classes != expected:
        raise ValueError(
            f"classes_ and n_classes_ must be lists with {expected} classes, as the outputs of the "
            "model."
        )
