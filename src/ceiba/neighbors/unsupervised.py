"""Searches of nearest neighbors without a target."""

from __future__ import annotations

from typing import Annotated, Any, Self

from ceiba.base import AtLeast, parameter
from ceiba.base.errstate import with_default_errstate
from ceiba.neighbors.base import NeighborLearner


class NearestNeighbors(NeighborLearner):
    """Find the nearest training rows of new rows, or of each other.

    The search is exact, and neighbors at the same distance are ordered by their row. Nominal
    columns and missing values enter the distance: different categories are a difference of 1, and
    distances over the known columns are extrapolated to all (``missing``). A category that the
    training rows lack is missing.

    {parameters}

    Attributes
    ----------
    index_report_ : str
        Why the algorithm was chosen.
    rows_ : TrainingRows
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import NearestNeighbors, datasets
    >>> iris = datasets.load("iris")
    >>> model = NearestNeighbors(n_neighbors=2).fit(iris.table)
    >>> distances, rows = model.kneighbors(iris.table[:1])
    >>> rows.tolist()
    [[0, 17]]
    >>> model.radius_neighbors(iris.table[:1], radius=0.15)[1][0].tolist()
    [0, 17, 4, 39, 27, 28]
    """

    n_neighbors: Annotated[int, AtLeast(1), "Number of neighbors."] = parameter(5, kw_only=False)
    radius: Annotated[float, AtLeast(0.0), "Radius of ``radius_neighbors``."] = 1.0

    def fit(self, X: Any, y: Any = None) -> Self:
        """Store the training rows, and prepare them for searches.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory; those of files larger than memory (``ceiba.scan``) or on a cluster stay
            where they are, and every search is a pass over them.
        y : object
            Ignored.

        Returns
        -------
        self : NearestNeighbors
        """
        return self._fit(X)

    @with_default_errstate
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add training rows; the model is then that of a fit on all rows.

        Parameters
        ----------
        X : array, frame, Table or list
            New categories are added.
        y : object
            Ignored.

        Returns
        -------
        self : NearestNeighbors
        """
        return self._partial_fit(X, None, None)

    def _choose(self, attributes: dict[str, Any], threads: int) -> dict[str, Any]:
        return {"n_neighbors_": int(self.n_neighbors)}
