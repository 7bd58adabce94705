"""What is wrong with a model file, or with a model that should become one."""

from __future__ import annotations


class ModelFileError(ValueError):
    """A file is not a sound model file, or a model holds what such a file cannot keep."""


class DefectError(Exception):
    """A place and what is wrong there; the caller adds the file's or the model's name."""

    def __init__(self, place: str, reason: str) -> None:
        super().__init__(f"{place}: {reason}")
