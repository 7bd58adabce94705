"""Some columns of a table or frame, in any order; a column drawn twice gets a second name."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from ceiba._typing import Array
from ceiba.base import Estimator
from ceiba.base.estimator import schema_attributes
from ceiba.data.frames import check_size
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target, Task
from ceiba.engine import Engine, LocalEngine
from ceiba.engine.threads import effective_threads
from ceiba.stats.rows import checked_weight


def take_columns(data: Any, columns: Array) -> Any:
    """Columns of an array, a frame or a table, by their numbers."""
    from sklearn.utils import _safe_indexing

    if isinstance(data, Table):
        return table_columns(data, columns)
    if is_frame(data) and len(set(columns.tolist())) < len(columns):
        return _frame_columns(data, columns)
    return _safe_indexing(data, columns, axis=1)


def table_columns(table: Table, columns: Array) -> Table:
    """A table of some columns of another, with the names that they have there.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table.of([{"size": 1.5, "colour": "red"}, {"size": 2.0, "colour": None}])
    >>> table_columns(table, np.array([1, 0, 1])).schema.names
    ['colour', 'size', 'colour (2)']
    """
    chosen = columns.tolist()
    names = told_apart([table.schema[j].name for j in chosen])
    schema = Schema(
        tuple(replace(table.schema[j], name=name) for j, name in zip(chosen, names, strict=True)),
        table.schema.named,
    )
    if table.block is not None:
        return Table(schema, len(table), table.block[:, columns])
    arrays = tuple(table.column(j) for j in chosen)
    gaps = {place: untold_gaps(table, j) for place, j in enumerate(chosen)}
    masks = {place: mask for place, mask in gaps.items() if mask is not None}
    return Table(schema, len(table), None, arrays, masks)


def told_apart(names: list[str]) -> list[str]:
    """The names, with a number behind each that was there before."""
    given, used = set(names), dict[str, None]()
    for name in names:
        number, other = 1, name
        while other in used or (number > 1 and other in given):
            number += 1
            other = f"{name} ({number})"
        used[other] = None
    return list(used)


def is_frame(data: Any) -> bool:
    """Whether it is a pandas, polars or pyarrow frame, or one that narwhals knows beside them."""
    from narwhals.stable.v2.dependencies import is_into_dataframe

    return bool(is_into_dataframe(data))


def untold_gaps(table: Table, j: int) -> Array | None:
    """Gaps that the numbers of a column do not tell themselves."""
    told = table.schema[j].kind is not Kind.NUMERIC or table.column(j).dtype.kind == "f"
    return None if told else table.gaps(j)


def _frame_columns(data: Any, columns: Array) -> Any:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data)
    names = [frame.columns[j] for j in columns.tolist()]
    apart = told_apart([str(name) for name in names])
    series = [frame.get_column(name).alias(other) for name, other in zip(names, apart, strict=True)]
    return frame.select(*series).to_native()


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What a committee learns from.

    Parameters
    ----------
    rows : MemberRows
        The rows as given.
    target : Target
        Of all of them.
    weight : ndarray of float64 or None
        Their weights; None for 1 each.
    kept : ndarray or None
        Numbers of the rows of positive weight; None where all are.
    """

    rows: MemberRows
    target: Target
    weight: Array | None = None
    kept: Array | None = None

    @classmethod
    def of(cls, rows: MemberRows, y: Any, sample_weight: Any, task: Task) -> TrainingRows:
        """Check target and weights."""
        target = Target.of(y, len(rows), task=task)
        if sample_weight is None:
            return cls(rows, target)
        weight = checked_weight(sample_weight, len(rows))
        if not weight.any():
            raise ValueError("every row has weight zero: there is nothing to learn from")
        return cls(rows, target, weight, None if weight.all() else np.flatnonzero(weight))

    @property
    def labels(self) -> Array:
        """The class or number of every row, as members are given it."""
        target = self.target
        labels = target.values if target.classes is None else target.classes[target.values]
        return labels

    @property
    def classes(self) -> Array | None:
        """The classes that rows of positive weight have; None for numbers."""
        return self.target.classes if self.kept is None else self.target.take(self.kept).classes

    def weighing(self) -> TrainingRows:
        """The rows of positive weight alone."""
        if self.kept is None:
            return self
        assert self.weight is not None
        target = self.target.take(self.kept)
        return TrainingRows(self.rows.of_rows(self.kept), target, self.weight[self.kept])

    def weights_of(self, rows: Array) -> Array | None:
        """The weights of some rows; None for 1 each."""
        return None if self.weight is None else self.weight[rows]

    def placed(self, values: Array) -> Array:
        """Values of the rows of positive weight at their places among all; 0 elsewhere."""
        if self.kept is None:
            return values
        every = np.zeros(len(self.rows), values.dtype)
        every[self.kept] = values
        return every


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
    from ceiba.datasets.frame import to_frame

    try:
        return to_frame(table)
    except ImportError as error:
        raise ImportError(
            f"{who} is handed a Table as a pandas frame, which needs pandas: pip install "
            f'"ceiba[files]"; or {way}'
        ) from error
