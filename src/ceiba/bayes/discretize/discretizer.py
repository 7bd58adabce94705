"""The transformer of numeric columns to categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from ceiba._typing import Array
from ceiba.base import Between, Estimator, fitted, parameter
from ceiba.base.estimator import schema_attributes
from ceiba.base.value_types import format_value
from ceiba.bayes.discretize.config import MAX_BINS, MIN_BINS, DiscretizationConfig
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.given import make_config
from ceiba.bayes.discretize.interval_rows import IntervalRows, summary_text
from ceiba.bayes.discretize.learn import learn_encoding
from ceiba.bayes.discretize.output import (
    codes_of_output,
    indicators,
    label_table,
    ordinal_codes,
    representative_table,
)
from ceiba.bayes.discretize.statistics import BinCounts
from ceiba.data.arrays import is_scan
from ceiba.data.schema import Kind
from ceiba.data.source import Chunk, Source, chunk_table
from ceiba.data.table import Table
from ceiba.engine import Batch, Engine
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows
from ceiba.tree.grow.targets import FixedPointScale


class Discretizer(TransformerMixin, Estimator):
    """Divide numeric columns into intervals.

    A value at or above a threshold lies right of it. Nominal and ordinal columns keep their
    categories. A column that is left with one category is dropped, unless ``constant="keep"``, and
    listed in ``constant_columns_``. Missing values do not affect the thresholds and stay missing.
    Thresholds of integers beyond 2^53, times and float32 are exact.

    {parameters}

    Attributes
    ----------
    thresholds_ : dict from str to ndarray
        Ascending thresholds of each numeric column; none if the column is one interval.
    n_categories_ : ndarray of int64 of shape (n_columns,)
        Number of intervals or categories of each column.
    constant_columns_ : list of str
        Columns with one category or none.
    encoding_ : CategoryEncoding
        The map from tables to category codes.
    classes_ : ndarray
        The classes, with ``method="mdl"``.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Notes
    -----
    ``method="mdl"`` splits an interval where the class entropy is smallest, if the information gain
    exceeds the description length of the split, and both sides in turn (Fayyad and Irani).
    Thresholds lie halfway between two values, or between the centers of k-means. Fewer intervals
    than ``n_bins`` result where a column has few values.

    Files and clusters give the thresholds of rows in memory as long as a column has at most 65,536
    distinct values. More of them are first put into 2,048 bins of equal weight, by a sample of
    131,072 rows.

    References
    ----------
    Fayyad & Irani (1993), "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI.
    Dougherty, Kohavi & Sahami (1995), "Supervised and unsupervised discretization of continuous
    features", ICML.

    Examples
    --------
    >>> from ceiba import Discretizer, datasets
    >>> iris = datasets.load("iris")
    >>> model = Discretizer().fit(iris.table, iris.y)
    >>> model.thresholds_["petal width (cm)"]
    array([0.8 , 1.75])
    >>> model.transform(iris.table.take([0, 50, 100]))
    array([[0., 2., 0., 0.],
           [2., 1., 1., 1.],
           [2., 1., 2., 2.]])
    """

    _state_names: ClassVar[tuple[str, ...]] = ("_rows",)

    encoding_: CategoryEncoding = fitted()
    _rows: IntervalRows = fitted()

    method: Annotated[
        Literal["mdl", "equal_width", "equal_frequency", "kmeans", "given"],
        "How thresholds are chosen: by the classes (Fayyad and Irani's minimum description length, "
        "which requires y), intervals of equal width or of equal weight, one-dimensional k-means, "
        "or all given.",
    ] = parameter("mdl", kw_only=False)
    n_bins: Annotated[
        Annotated[int, Between(MIN_BINS, MAX_BINS)] | np.ndarray[Any, Any],
        "Number of intervals with 'equal_width', 'equal_frequency' and 'kmeans': one for all "
        "columns, or one for each.",
    ] = 5
    thresholds: Annotated[
        dict[Any, Any] | np.ndarray[Any, Any] | None,
        "Given thresholds of some columns, by name or index, or a list with an entry (or None) "
        "for each column. Other columns follow method; with 'given' all numeric ones are required.",
    ] = None
    encode: Annotated[
        Literal["ordinal", "labels", "onehot", "onehot-dense"],
        "Result of transform: an array of codes with NaN for missing values, a table of interval "
        "labels, or an indicator for each category, as a sparse matrix or a dense array.",
    ] = "ordinal"
    constant: Annotated[
        Literal["drop", "keep"],
        "Whether transform drops or keeps columns with one category.",
    ] = "drop"
    n_jobs: Annotated[int | None, "Threads; None or -1 uses every core allowed."] = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self._supervised
        tags.target_tags.one_d_labels = self._supervised
        return tags

    @property
    def _supervised(self) -> bool:
        return bool(self.method == "mdl")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the thresholds of all numeric columns.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files (``ceiba.scan``) or on a cluster.
        y : array of shape (n_rows,)
            Classes, for ``method="mdl"``; None if ``X`` is a scan with a target column. Ignored
            by the other methods.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero are ignored. A weight w counts as w rows, so
            that the number of intervals of 'mdl' depends on the scale of the weights.

        Returns
        -------
        self : Discretizer
        """
        if self._supervised and y is None and not is_scan(X):
            raise ValueError(
                "Discretizer with method='mdl' requires y to be passed, but the target y is None: "
                "pass the classes, or use method='equal_frequency'."
            )
        task: Any = "classification" if self._supervised else None
        engine, source = self._open_source(X, sample_weight, y=y, reset=True, task=task)
        config = make_config(self, source.schema)
        self._set_fitted(self._learn(engine, source, config), without=("classes_",))
        return self

    def _learn(
        self, engine: Engine, source: Source, config: DiscretizationConfig
    ) -> dict[str, Any]:
        """Return the fitted attributes."""
        prepare = ToLabeledRows("classification") if self._supervised else ToUnlabeledRows()
        rows = engine.rows(source.partitions, prepare)
        summary = engine.reduce(rows, TargetSummary.of)
        rows = rows.numbered(summary.rows)
        summary.require_rows()
        encoding = learn_encoding(engine, rows, source.schema, summary, config)
        scale = FixedPointScale.of(summary, None, squares=False)
        counts = engine.reduce(rows, BinCounts.of, encoding, scale)
        attributes = {
            "_rows": IntervalRows.of(encoding, counts, scale.weight_unit),
            "encoding_": encoding if self.constant == "keep" else encoding.without_constant(),
            **schema_attributes(source.schema),
        }
        return attributes | ({"classes_": summary.classes} if self._supervised else {})

    def transform(self, X: Any) -> Any:
        """Encode the columns of ``X`` as categories.

        Categories that were not seen in ``fit`` are missing values.

        Returns
        -------
        ndarray of float64 of shape (n_rows, n_columns), Table or sparse matrix
            As ``encode`` specifies.
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, chunk_table)
        codes = engine.predict(rows, _encode_batch, self.encoding_)
        if self.encode == "ordinal":
            return ordinal_codes(codes, self.encoding_.n_categories)
        if self.encode == "labels":
            return self._in_container(label_table(codes, self.encoding_), X)
        sparse = indicators(codes, self.encoding_.n_categories)
        return sparse if self.encode == "onehot" else sparse.toarray()

    def _in_container(self, table: Table, X: Any) -> Any:
        """Return labels as the frame that ``set_output`` requests, with the index of ``X``."""
        container = _get_output_config("transform", self)["dense"]
        if container == "default":
            return table
        if container == "polars":
            return table.to_polars()
        frame = table.to_pandas()
        return frame.set_axis(X.index) if hasattr(X, "iloc") else frame

    def inverse_transform(self, X: Any) -> Array:
        """Replace intervals by representative values.

        Parameters
        ----------
        X : array, Table, frame or sparse matrix
            What ``transform`` returned.

        Returns
        -------
        ndarray of shape (n_rows, n_features_in_)
            The middle of the training values of each interval, NaN for missing values; an object
            array with labels if some columns are nominal or ordinal. Columns that were dropped
            have their representative value everywhere.
        """
        check_is_fitted(self)
        codes = codes_of_output(X, self.encoding_, self.encode)
        return np.asarray(representative_table(codes, self.encoding_, self._rows))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the columns that ``transform`` returns.

        Parameters
        ----------
        input_features : array of str, optional
            Names of the columns of ``X``; by default those of ``fit``.

        Returns
        -------
        ndarray of str objects
        """
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        names = names[self.encoding_.columns]
        if not self.encode.startswith("onehot"):
            return names
        pairs = [
            f"{name}={label}"
            for j, name in enumerate(names)
            for label in self.encoding_.category_labels(j)
        ]
        return np.array(pairs, dtype=object)

    @property
    def thresholds_(self) -> dict[str, Array]:
        """Ascending thresholds of each numeric column."""
        check_is_fitted(self)
        encoding = self.encoding_
        own = {name: encoding.thresholds(j) for j, name in enumerate(encoding.names)}
        return {
            column.name: own.get(column.name, np.empty(0))
            for column in self.schema_
            if column.kind is Kind.NUMERIC
        }

    @property
    def n_categories_(self) -> Array:
        """Number of intervals or categories of each column."""
        check_is_fitted(self)
        return np.diff(self._rows.offsets)

    @property
    def constant_columns_(self) -> list[str]:
        """Columns with one category or none."""
        check_is_fitted(self)
        pairs = zip(self.schema_.names, self.n_categories_, strict=True)
        return [name for name, n in pairs if n < 2]

    def summary(self) -> str:
        """Return the intervals of all columns as text, with the weight of their training rows.

        With classes, each line also has the share of every class.

        Examples
        --------
        >>> from ceiba import Discretizer, datasets
        >>> iris = datasets.load("iris")
        >>> model = Discretizer().fit(iris.table[["petal width (cm)"]], iris.y)
        >>> print(model.summary())
        petal width (cm)  weight  setosa  versicolor  virginica
          < 0.8               50   1.000       0.000      0.000
          [0.8, 1.75)         54   0.000       0.907      0.093
          >= 1.75             46   0.000       0.022      0.978
        """
        check_is_fitted(self)
        return summary_text(
            self.schema_, self.encoding_, self._rows, getattr(self, "classes_", None)
        )

    def _check_state(self) -> None:
        super()._check_state()
        encoding, rows = getattr(self, "encoding_", None), getattr(self, "_rows", None)
        if not isinstance(encoding, CategoryEncoding) or encoding.schema != self.schema_:
            raise ValueError(
                "encoding_ must be a CategoryEncoding with the columns of schema_, got "
                f"{format_value(encoding)}."
            )
        n_categories = encoding.with_constant().n_categories
        if not isinstance(rows, IntervalRows) or not rows.fits(n_categories):
            raise ValueError("The stored rows of intervals must be those of encoding_.")


@dataclass(frozen=True, slots=True)
class ToUnlabeledRows:
    """Prepare a partition as rows of one class: check the weights, and ignore the target."""

    def __call__(self, chunk: Chunk) -> LabeledRows:
        """Return the rows of one chunk."""
        target = np.zeros(len(chunk.table), np.int8)
        return ToLabeledRows("classification")(replace(chunk, target=target))


def _encode_batch(batch: Batch[Table], encoding: CategoryEncoding) -> Array:
    return encoding.encode(batch.rows, batch.threads)
