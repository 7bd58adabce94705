"""Model files: save fitted models and load them in another process."""

from ceiba.export.defect import ModelFileError
from ceiba.export.model_file import load, save

__all__ = ["ModelFileError", "load", "save"]
