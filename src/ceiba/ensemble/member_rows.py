"""The rows that members are given: a table for Ceiba's own, what came for others."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from ceiba.base import Estimator
from ceiba.base.estimator import schema_attributes
from ceiba.data.container import check_size
from ceiba.data.table import Table
from ceiba.engine import Engine, LocalEngine
from ceiba.engine.threads import effective_threads
from ceiba.ensemble.bagging_columns import is_frame, take_columns, untold_gaps
from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True, eq=False)
class MemberRows:
    """Rows in memory, of which each member is given a part.

    Parameters
    ----------
    data : Table, array or frame
    attributes : dict
        What a fitted bag says of the columns: their number, and their names or schema.

    Examples
    --------
    >>> rows = MemberRows(np.arange(6.0).reshape(3, 2), {"n_features_in_": 2})
    >>> rows.part(np.array([2, 2]), np.array([1]))
    array([[5.],
           [5.]])
    """

    data: Any
    attributes: dict[str, Any]

    def __len__(self) -> int:
        return int(self.data.shape[0])

    @property
    def n_columns(self) -> int:
        """Columns of the data."""
        return int(self.data.shape[1])

    def part(self, rows: Array | None = None, columns: Array | None = None) -> Any:
        """Some rows and columns of the data, by their numbers; None for all."""
        data = self.data
        if rows is not None:
            data = data.take(rows) if isinstance(data, Table) else _safe_indexing(data, rows)
        if columns is None or np.array_equal(columns, np.arange(self.n_columns)):
            return data
        return take_columns(data, columns)

    def of_rows(self, rows: Array | None) -> MemberRows:
        """The same of some rows."""
        return self if rows is None else MemberRows(self.part(rows), self.attributes)


def takes_table(estimator: Any) -> bool:
    """Whether an estimator, and every one inside it, is Ceiba's own.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ceiba.tree import DecisionTreeClassifier
    >>> takes_table(DecisionTreeClassifier()), takes_table(LogisticRegression())
    (True, False)
    """
    if not isinstance(estimator, Estimator):
        return False
    inside = estimator.get_params(deep=False).values()
    return all(takes_table(part) for part in inside if hasattr(part, "fit"))


def check_in_memory(who: str, *given: Any) -> None:
    """Refuse scans and Dask collections, whose rows are not in memory."""
    for thing in given:
        dask = type(thing).__module__.partition(".")[0] == "dask"
        # A frame may have columns called "partitions" and "schema"; it has a shape as well.
        scan = hasattr(thing, "partitions") and hasattr(thing, "schema")
        if dask or (scan and not hasattr(thing, "shape")):
            what = "a Dask collection" if dask else "a scan"
            way = "compute it first, X.compute()" if dask else "read the files with ceiba.read"
            raise ValueError(f"{who} needs its rows in memory and was given {what}: {way}")


def own_rows(model: Any, X: Any, *, y: Any = None, reset: bool) -> tuple[Engine, MemberRows]:
    """The rows as a table: with a schema of their own, or with that of the fit."""
    engine, source = model._open(X, reset=reset, y=y)
    (partition,) = source.partitions
    table = partition.load().table
    schema = source.schema if reset else model.schema_
    return engine, MemberRows(table, schema_attributes(schema))


def given_rows(model: Any, X: Any, *, reset: bool) -> tuple[Engine, MemberRows]:
    """The rows as they came; lists become arrays, and tables what other libraries read."""
    if not reset:
        check_is_fitted(model)
    probe = copy.copy(model)  # a fit that fails must leave the model's own columns as they were
    if reset:
        vars(probe).pop("feature_names_in_", None)
    if isinstance(X, Table):
        X = _handed_over(X, type(model.estimator).__name__)
    if is_frame(X):
        check_size(*X.shape)
        validate_data(probe, X, reset=reset, skip_check_array=True)
    else:
        X = validate_data(probe, X, reset=reset, dtype=None, ensure_all_finite=False)
    names = ("n_features_in_", "feature_names_in_")
    attributes = {name: vars(probe)[name] for name in names if name in vars(probe)}
    return LocalEngine(effective_threads(model.n_jobs)), MemberRows(X, attributes)


def _handed_over(table: Table, who: str) -> Any:
    """A table as learners of other libraries read it: its array, or a pandas frame."""
    if table.block is not None and not table.schema.named:
        return table.block
    way = "give the array or frame that it was made from, or a member of Ceiba's own"
    for place, column in enumerate(table.schema):
        if column.temporal or untold_gaps(table, place) is not None:
            what = "times" if column.temporal else "gaps among whole numbers"
            raise ValueError(
                f"column {column.name!r} of the Table holds {what}, which cannot be handed over "
                f"to {who} as they are: {way}"
            )
    from ceiba.datasets.frame import to_frame  # with all that reads datasets: when it is needed

    try:
        return to_frame(table)
    except ImportError as error:
        raise ImportError(
            f"{who} is handed a Table as a pandas frame, which needs pandas: pip install "
            f'"ceiba[files]"; or {way}'
        ) from error
