"""Model files, and models for other libraries and languages."""

from ceiba.export.errors import NotExpressibleError
from ceiba.export.model_file import ModelFileError, load, save
from ceiba.export.sklearn import to_sklearn

__all__ = ["ModelFileError", "NotExpressibleError", "load", "save", "to_sklearn"]
