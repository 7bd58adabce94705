"""Model files: save fitted models and load them in another process."""

from ceiba.export.model_file import ModelFileError, load, save

__all__ = ["ModelFileError", "load", "save"]
