"""Errors of model files."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file is not a valid model file, or a model cannot be stored in one."""


class DefectError(Exception):
    """A defect and its location; the caller adds the name of the file or the model."""

    def __init__(self, where: str, reason: str) -> None:
        super().__init__(f"{where}: {reason}")
