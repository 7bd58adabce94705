"""Gradient boosting, as other libraries and languages need it: trees, first scores and link."""

from __future__ import annotations

from typing import Any

from ceiba.ensemble.gradient_boosting.losses.base import LinkName
from ceiba.export.errors import NotExpressibleError

BOOSTING_LEARNERS = ("GradientBoostingClassifier", "GradientBoostingRegressor")

Link = LinkName


def check_boosting(model: Any, where: str) -> None:
    """Raise if predictions need more than trees: an init predictor, or the user's own link."""
    if getattr(model, "init_", None) is not None:
        raise NotExpressibleError(
            f"{where} has trees and constants alone, and no init predictor, got "
            f"{type(model.init_).__name__}: fit with init=None or init='zero'."
        )
    if boosting_link(model) == "custom":
        raise NotExpressibleError(
            f"{where} has no inverse_link of a custom loss, got {type(model.loss).__name__}: leave "
            "out inverse_link, and apply it to the exported predictions."
        )


def boosting_link(model: Any) -> Link:
    """Return how the raw scores of a model become predictions."""
    name: Link = model._fitted_link().link_name
    return name
