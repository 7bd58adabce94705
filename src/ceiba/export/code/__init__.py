"""Generate code that predicts as a model does: Python, C or SQL."""

from ceiba.export.code.generate import to_code

__all__ = ["to_code"]
