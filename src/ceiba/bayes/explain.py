"""Explanations of fitted network classifiers: conditional distributions, and evidence of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.joint import MISSING_STATE
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.scoring import ClassScorer
from ceiba.data.table import Table


@dataclass(frozen=True, eq=False)
class Evidence:
    """Contributions of the columns to the log-odds of a class, for one row.

    A positive contribution is evidence for the class. ``prior`` and all contributions add up to
    ``log_odds``.

    Parameters
    ----------
    label : object
        The class.
    against : object or None
        The class that it is compared with; None for all others together.
    names : tuple of str
        Columns, those of the network in the order of its arcs.
    values : tuple of str
        Value of each column.
    contributions : ndarray of shape (n_columns,)
        log p(value | class) - log p(value | other), given the columns before. Against several
        classes, the mean over them, with their probabilities for this row.
    prior : float
        The same for the probabilities of the classes.
    spread : float
        Against several classes: minus the entropy of their probabilities for this row; 0 otherwise.
    """

    label: Any
    against: Any
    names: tuple[str, ...]
    values: tuple[str, ...]
    contributions: Array
    prior: float
    spread: float

    @property
    def log_odds(self) -> float:
        """Logarithm of p(class | row) / p(other | row)."""
        return float(self.prior + self.contributions.sum() + self.spread)

    def to_pandas(self) -> Any:
        """Return the contributions as a data frame, the largest first; requires pandas."""
        import pandas

        order = np.argsort(-np.abs(self.contributions), kind="stable")
        return pandas.DataFrame(
            {
                "column": [self.names[i] for i in order],
                "value": [self.values[i] for i in order],
                "contribution": self.contributions[order],
            }
        )

    def __repr__(self) -> str:
        other = "the other classes" if self.against is None else repr(self.against)
        order = np.argsort(-np.abs(self.contributions), kind="stable")
        pairs = [
            (f"{self.names[i]} = {self.values[i]}", float(self.contributions[i])) for i in order
        ]
        pairs.append(("prior", self.prior))
        if self.spread:
            pairs.append(("several other classes", self.spread))
        pairs.append(("log-odds", self.log_odds))
        width = max(len(name) for name, _ in pairs)
        lines = [f"{name:<{width}}  {value:+8.3f}" for name, value in pairs]
        return "\n".join([f"Evidence for {self.label!r} against {other}", *lines])


def explain_row(
    scorer: ClassScorer, table: Table, classes: Array, label: Any = None, against: Any = None
) -> Evidence:
    """Return the contributions of the columns for the only row of a table."""
    if len(table) != 1:
        raise ValueError(f"evidence requires one row, got {len(table)}.")
    row = RowTerms.of(scorer, table)
    has_rows, bias, terms = scorer.has_rows, row.bias, row.terms
    scores = bias + terms.sum(axis=0)
    labels = classes.tolist()
    target = int(np.argmax(scores)) if label is None else _index(label, labels, has_rows, "label")
    if against is None:
        others = np.array([c != target for c in range(len(labels))]) & has_rows
    else:
        other = _index(against, labels, has_rows, "against")
        if other == target:
            raise ValueError(
                f"against must be another class than label, got {labels[target]!r} for both: label "
                "is the most probable class by default."
            )
        others = np.arange(len(labels)) == other
    if not others.any():
        raise ValueError("evidence requires another class, got a model of one class.")
    share = np.exp(scores[others] - logsumexp(scores[others]))
    entropy = float(-(share * np.log(np.where(share > 0, share, 1.0))).sum())
    found = terms[:, target] - terms[:, others] @ share
    prior = float(bias[target] - bias[others] @ share)
    if others.sum() == 1 and against is None:
        against = labels[int(np.argmax(others))]
    names, values = tuple(row.names), tuple(row.values)
    return Evidence(labels[target], against, names, values, found, prior, 0.0 - entropy)


@dataclass(frozen=True, eq=False)
class RowTerms:
    """Logarithms of the conditional probabilities whose product is p(class, row).

    Parameters
    ----------
    names, values : list of str
        Column of each term, and its value.
    columns : list of int
        Index of the column in the table.
    bias : ndarray of shape (n_classes,)
        log p(class).
    terms : ndarray of shape (n_terms, n_classes)
        log p(value | class), given the columns before; 0 where the value is missing.
    """

    names: list[str]
    values: list[str]
    columns: list[int]
    bias: Array
    terms: Array

    @classmethod
    def of(cls, scorer: ClassScorer, table: Table) -> RowTerms:
        """Compute the terms of the only row of a table."""
        encoding, model = scorer.encoding, scorer.model
        codes = encoding.encode(table)
        # An average of networks has no order of its own.
        is_network = isinstance(model, NetworkModel)
        order = list(model.structure.features) if is_network else list(range(encoding.n_features))
        # Row i has the first i features observed; the code after the last category is a missing
        # value.
        steps = np.tile((model.sizes - 1).astype(codes.dtype), (len(order) + 1, 1))
        for i, feature in enumerate(order):
            steps[i + 1 :, feature] = codes[0, feature]
        joint = model.log_joint(steps)
        terms = [np.diff(joint, axis=0)]
        names = [encoding.names[j] for j in order]
        columns = encoding.columns[order].tolist()
        values = [category_label(encoding, j, int(codes[0, j])) for j in order]
        for densities in scorer.densities:
            for column, single in densities.split():
                log_densities = np.zeros((1, len(model.bias)))
                single.add_log_densities(table, 1, log_densities)
                terms.append(log_densities)
                names.append(table.schema[column].name)
                columns.append(column)
                missing = table.missing_mask(column)
                is_missing = missing is not None and bool(missing[0])
                values.append(MISSING_STATE if is_missing else f"{table.column(column)[0]:.6g}")
        bias = np.where(scorer.has_rows, joint[0], -np.inf)
        return cls(names, values, columns, bias, np.concatenate(terms))

    def by_column(self, n_columns: int) -> Array:
        """Return the terms of all columns of the table; 0 of those that the model does not use."""
        found = np.zeros((n_columns, self.terms.shape[1]))
        found[self.columns] = self.terms
        return found


def category_label(encoding: CategoryEncoding, feature: int, code: int) -> str:
    """Return the category of a code as text."""
    labels = encoding.category_labels(feature)
    return str(labels[code]) if code < len(labels) else MISSING_STATE


def _index(label: Any, labels: list[Any], has_rows: Array, parameter: str) -> int:
    if label not in labels:
        raise ValueError(f"{parameter} must be one of the classes {labels}, got {label!r}.")
    index = labels.index(label)
    if not has_rows[index]:
        raise ValueError(
            f"{parameter} must be a class of positive probability, got {label!r}, whose "
            "class_count_ is 0: choose a class with training rows."
        )
    return index


def probability_table(scorer: ClassScorer, schema: Any, classes: Array, column: Any) -> Any:
    """Return the conditional distribution of a column as a data frame."""
    import pandas

    names = schema.names
    if column not in names:
        raise ValueError(f"column must be one of {', '.join(names)}, got {column!r}.")
    index = names.index(column)
    labels = classes.tolist()
    for densities in scorer.densities:
        for j, single in densities.split():
            if j != index:
                continue
            rows = pandas.Index(labels, name="class")
            if hasattr(single, "starts"):
                counts = np.diff(single.starts)
                pairs = [(c, i) for c, n in zip(labels, counts, strict=True) for i in range(n)]
                rows = pandas.MultiIndex.from_tuples(pairs, names=["class", "component"])
            return pandas.DataFrame(single.describe(), index=rows)
    encoding, model = scorer.encoding, scorer.model
    if not isinstance(model, NetworkModel):
        raise ValueError(
            "probability_table requires one network, got structure='aode', an average of networks: "
            "use structure='tree'."
        )
    if column not in encoding.names or encoding.names.index(column) not in model.structure.features:
        raise ValueError(f"column {column!r} is not part of the model (dropped_columns_).")
    family = model.structure.features.index(encoding.names.index(column))
    members = model.families.members(family)
    shape = model.families.shapes[family]
    known = tuple(slice(0, size - 1) for size in shape)
    view = np.exp(model.families.view(model.network.table, family)[known])
    axes = [
        [category_label(encoding, j, code) for code in range(size - 1)]
        for j, size in zip(members, shape, strict=True)
    ]
    parents = [encoding.names[j] for j in members[:-1]]
    # From (parents, value, class) to (class, parents) x value.
    table = np.moveaxis(view, -1, 0).reshape(-1, view.shape[-2])
    if parents:
        rows = pandas.MultiIndex.from_product([labels, *axes[:-1]], names=["class", *parents])
    else:
        rows = pandas.Index(labels, name="class")
    return pandas.DataFrame(table, index=rows, columns=pandas.Index(axes[-1], name=column))
