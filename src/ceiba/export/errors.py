"""The error of models that another library or language cannot express."""

from __future__ import annotations


class NotExpressibleError(ValueError):
    """A model has a part that the chosen library, format or language cannot express."""
