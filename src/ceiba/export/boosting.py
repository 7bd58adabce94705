"""Gradient boosting, as other libraries and languages need it: trees, first scores and link."""

from __future__ import annotations

from typing import Any, Literal

from ceiba.ensemble.gradient_boosting.losses.log_link import LOG_LINK_LOSSES
from ceiba.export.errors import NotExpressibleError

BOOSTING_LEARNERS = ("GradientBoostingClassifier", "GradientBoostingRegressor")

# How raw scores become predictions. "half_logit": scores are half the log-odds.
Link = Literal["identity", "log", "logit", "half_logit", "softmax"]


def check_boosting(model: Any, where: str) -> None:
    """Raise if predictions need more than trees: an init predictor, or the user's own link."""
    if getattr(model, "init_", None) is not None:
        raise NotExpressibleError(
            f"{where} has trees and constants alone, and no init predictor, got "
            f"{type(model.init_).__name__}: fit with init=None or init='zero'."
        )
    if getattr(model.loss, "inverse_link", None) is not None:
        raise NotExpressibleError(
            f"{where} has no inverse_link of a custom loss, got {type(model.loss).__name__}: leave "
            "out inverse_link, and apply it to the exported predictions."
        )


def boosting_link(model: Any) -> Link:
    """Return how the raw scores of a model become predictions."""
    if not hasattr(model, "classes_"):
        return (
            "log" if isinstance(model.loss, str) and model.loss in LOG_LINK_LOSSES else "identity"
        )
    if model.boosted_trees_.n_outputs > 1:
        return "softmax"
    return "half_logit" if model.loss == "exponential" else "logit"
