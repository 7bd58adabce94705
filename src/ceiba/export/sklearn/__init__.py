"""Convert fitted models to fitted estimators of scikit-learn."""

from ceiba.export.sklearn.convert import to_sklearn

__all__ = ["to_sklearn"]
