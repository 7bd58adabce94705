"""Model files: what leaves a model behind for another day, another process, another program."""

from ceiba.export.defect import ModelFileError
from ceiba.export.model_file import load, save

__all__ = ["ModelFileError", "load", "save"]
