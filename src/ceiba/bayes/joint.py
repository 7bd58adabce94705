"""The joint distribution of a network classifier: samples, and its parts for other programs."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base.value_types import format_value
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.exchange.network import DiscreteNetwork
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import MIN_PROBABILITY, ClassTable, feature_margins
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

# Of the draws of samples: the class, then each family.
_SAMPLE_STREAM = 1 << 21
# Label of the category of missing values, the last one of a variable.
MISSING_STATE = "missing"


class NetworkParts(NamedTuple):
    """A discrete network as plain parts, the arguments of `DiscreteNetwork` in their order.

    Parameters
    ----------
    variables : tuple of str
        The class first, then the features in the order of the columns.
    states : tuple of tuples
        Labels of each variable.
    parents : tuple of tuples of int
        Indices of each variable's parents: the class, then feature parents.
    tables : tuple of ndarray of shape (*parent_sizes, size)
    """

    variables: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    parents: tuple[tuple[int, ...], ...]
    tables: tuple[Array, ...]


def check_n_samples(n_samples: Any) -> int:
    """Return the number of rows to draw; raise ValueError unless it is a positive int."""
    if isinstance(n_samples, bool) or not isinstance(n_samples, Integral) or n_samples < 1:
        raise ValueError(f"n_samples must be an int >= 1, got {n_samples!r}.")
    return int(n_samples)


def sample_codes(model: NetworkModel, n_samples: int, seed: int) -> tuple[Array, Array]:
    """Draw class indices and codes from the joint distribution, parents before children.

    The draws of row i depend on the seed and on i only.

    Returns
    -------
    labels : ndarray of int64 of shape (n_samples,)
    codes : ndarray of int64 of shape (n_samples, n_features)
    """
    families, network = model.families, model.network
    labels = _draw(np.exp(network.bias)[None].repeat(n_samples, axis=0), seed, _SAMPLE_STREAM)
    codes = np.zeros((n_samples, len(model.sizes)), np.int64)
    for family, (feature, parents) in enumerate(
        zip(families.structure.features, families.structure.parents, strict=True)
    ):
        view = families.view(network.table, family)[..., :-1, :]
        given: list[Any] = [codes[:, parent, None] for parent in parents]
        theta = np.exp(view[(*given, np.arange(view.shape[-2]), labels[:, None])])
        codes[:, feature] = _draw(theta, seed, _SAMPLE_STREAM + 1 + family)
    return labels, codes


def _draw(probabilities: Array, seed: int, stream: int) -> Array:
    """Draw a category of each row."""
    uniforms = np.empty(len(probabilities))
    _native.uniforms(seed, stream, 0, uniforms)
    sums = np.cumsum(probabilities, axis=1)
    drawn = (uniforms[:, None] * sums[:, -1:] >= sums).sum(axis=1)
    return np.asarray(np.minimum(drawn, probabilities.shape[1] - 1))


def states_of(encoding: CategoryEncoding, model: NetworkModel, feature: int) -> tuple[Any, ...]:
    """Return the labels of a feature's categories, that of missing values included."""
    labels = list(encoding.category_labels(feature))
    if int(model.sizes[feature]) - 1 == len(labels):
        return tuple(labels)
    if MISSING_STATE in labels:
        raise ValueError(
            f"The state of missing values is named {MISSING_STATE!r}, but column "
            f"{encoding.names[feature]!r} has a category of that name: rename the category."
        )
    return (*labels, MISSING_STATE)


def decode(encoding: CategoryEncoding, codes: Array) -> Table:
    """Return codes as a table of nominal and ordinal columns.

    Numeric columns become ordinal ones with the labels of their intervals; the category of missing
    values becomes a missing value.
    """
    columns = []
    for feature, j in enumerate(encoding.columns.tolist()):
        column = encoding.schema[j]
        labels = tuple(encoding.category_labels(feature))
        kind = Kind.ORDINAL if column.kind is Kind.NUMERIC else column.kind
        columns.append(Column(column.name, kind, labels, "codes"))
    n_categories = encoding.n_categories
    values = np.where(codes < n_categories, codes, -1).astype(np.int32)
    schema = Schema(tuple(columns), encoding.schema.named)
    return Table.from_columns(list(np.ascontiguousarray(values.T)), schema)


def network_parts(
    model: NetworkModel, encoding: CategoryEncoding, classes: Array, class_name: str
) -> NetworkParts:
    """Return the network of a fitted model as plain parts."""
    families, network = model.families, model.network
    structure = families.structure
    variables, states = [class_name], [tuple(classes.tolist())]
    parents: list[tuple[int, ...]] = [()]
    tables = [np.exp(network.bias)]
    for family in np.argsort(structure.features).tolist():
        feature = structure.features[family]
        variables.append(encoding.names[feature])
        states.append(states_of(encoding, model, feature))
        parents.append((0, *(1 + parent for parent in structure.parents[family])))
        shape = families.shapes[family]
        view = families.view(network.table, family)[tuple(slice(n - 1) for n in shape)]
        tables.append(np.exp(np.moveaxis(view, -1, 0)))
    return NetworkParts(tuple(variables), tuple(states), tuple(parents), tuple(tables))


def checked_parts(network: Any) -> NetworkParts:
    """Return the parts of a network; raise ValueError if they contradict each other."""
    if isinstance(network, DiscreteNetwork):
        return NetworkParts(network.variables, network.states, network.parents, network.tables)
    try:
        parts = NetworkParts(*(getattr(network, name) for name in NetworkParts._fields))
        states = tuple(map(tuple, parts.states))
    except (AttributeError, TypeError) as error:
        raise ValueError(
            "network must be a DiscreteNetwork, or have variables, states, parents and tables as "
            f"NetworkParts, got {format_value(network)}."
        ) from error
    valid = DiscreteNetwork(*parts)
    # With the labels as given: a DiscreteNetwork converts them to text.
    return NetworkParts(valid.variables, states, valid.parents, valid.tables)


def model_of_parts(
    parts: NetworkParts, class_variable: int, missing_state: Any
) -> tuple[NetworkModel, CategoryEncoding, list[Any], Array]:
    """Return model, encoding, ascending classes and their priors, of nominal variables.

    The class must have no parents, and must be a parent of every other variable. A variable whose
    last state is ``missing_state`` has a category of missing values.
    """
    names = list(parts.variables)
    others = [i for i in range(len(names)) if i != class_variable]
    if len(parts.parents[class_variable]):
        raise ValueError(f"The class {names[class_variable]!r} must not have parents in network.")
    for i in others:
        if class_variable not in parts.parents[i]:
            raise ValueError(
                f"The class {names[class_variable]!r} must be a parent of every other variable of "
                f"network, got {names[i]!r} without it."
            )
    feature_of = {variable: j for j, variable in enumerate(others)}
    columns = []
    for i in others:
        *first, last = parts.states[i]
        labels = first if first and last == missing_state else [*first, last]
        columns.append(Column(names[i], Kind.NOMINAL, tuple(labels), "codes"))
    encoding = CategoryEncoding.of(Schema(tuple(columns)), {}, range(len(others)))
    arcs = [
        (feature_of[p], feature_of[i]) for i in others for p in parts.parents[i] if p in feature_of
    ]
    structure = Structure.of_arcs(tuple(range(len(others))), arcs)
    families = Families(structure, tuple(len(parts.states[i]) + 1 for i in others))
    n_classes = len(parts.states[class_variable])
    table = np.zeros((families.n_table_rows, n_classes))
    for family, (feature, parents) in enumerate(
        zip(structure.features, structure.parents, strict=True)
    ):
        variable = others[feature]
        axis_of = {parent: axis for axis, parent in enumerate(parts.parents[variable])}
        axes = (*(axis_of[others[p]] for p in parents), len(axis_of), axis_of[class_variable])
        theta = parts.tables[variable].transpose(axes)
        known = tuple(slice(n - 1) for n in families.shapes[family])
        families.view(table, family)[known] = np.log(np.maximum(theta, MIN_PROBABILITY))
    # Classes ascend, as those of a fit.
    classes = parts.states[class_variable]
    try:
        order = sorted(range(n_classes), key=lambda c: classes[c])
    except TypeError as error:
        raise ValueError(
            f"The states of the class {names[class_variable]!r} must be all texts or all numbers, "
            f"got {format_value(list(classes))}."
        ) from error
    prior = parts.tables[class_variable][order]
    bias = np.log(np.maximum(prior, MIN_PROBABILITY))
    network = ClassTable(np.ascontiguousarray(table[:, order]), bias)
    margins = np.zeros(families.n_table_rows)
    if structure.is_decomposable:
        margins = feature_margins(families, network, 1.0)
    model = NetworkModel.of(families, network, margins, is_network=True)
    return model, encoding, [classes[c] for c in order], prior
